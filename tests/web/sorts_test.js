// The package's sorts in a browser. browser_test.py serves it, and reports what say() says.
import { Quadmill } from '/package/index.js';
import { check, context, finish, formats, random, read, same, say, test, textureOf, throws, words } from './harness.js';
import { differences, poison, snapshot } from './webgl_state.js';

// Every bit pattern: NaNs, -0, denormals and infinities among floats; many equal keys for the index.
const bits = (Keys, n, few) => {
  const all = words(n * Keys.BYTES_PER_ELEMENT / 4);
  const keys = new Keys(all.buffer);
  if (few) for (let i = 0; i < n; ++i) keys[i] = typeof keys[i] === 'bigint' ? BigInt(random() % 5) : random() % 5 - 2;
  for (let i = 0; i < n && Keys.name.startsWith('Float'); i += 7) keys[i] = [NaN, -0, 0, Infinity, -Infinity, 1e-40, -1e-310][i / 7 % 7];
  return keys;
};

const arrays = [Float32Array, Float64Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
const large = new URLSearchParams(location.search).has('large');  // 2^20 keys of each type, and nothing else
const sizes = large ? [1 << 20] : [0, 1, 2, 31, 32, 33, 64, 1000, 4096, 4097, 100000];

const own = await Quadmill.create();
await say(`renderer: ${own.info.renderer}${own.info.software ? ', software' : ''}`);

for (const [i, Keys] of arrays.entries()) {
  for (const order of large ? [['asc', 'desc'][i % 2]] : ['asc', 'desc']) {
    await test(`${Keys.name} ${order}: every size as on the CPU, bit for bit`, async () => {
      for (const n of sizes) {
        for (const few of large ? [order === 'desc'] : [false, true]) {
          const keys = bits(Keys, n, few), gpu = keys.slice(), cpu = keys.slice();
          check(await own.sort(gpu, { order, engine: 'gpu' }) === gpu, 'another array');
          await own.sort(cpu, { order, engine: 'cpu' });
          check(same(gpu, cpu), `sort of ${n}`);
          const index = await own.argsort(keys, { order, engine: 'gpu' }), expected = await own.argsort(keys, { order, engine: 'cpu' });
          check(same(index, expected), `argsort of ${n}`);
          if (n === 1000 && !Keys.name.startsWith('Float')) {
            const sorted = keys.slice().sort();
            check(same(gpu, order === 'asc' ? sorted : sorted.reverse()), 'not the order of Array.sort');
          }
        }
      }
    });
  }
}
if (large) await finish().then(() => new Promise(() => {}));  // the browser is closed

await test('More keys than levels of one pass take', async () => {
  const keys = bits(Uint32Array, (1 << 19) + 1);
  check(same(await own.argsort(keys, { engine: 'gpu' }), await own.argsort(keys, { engine: 'cpu' })), 'argsort');
});
await test('Four render targets, where a browser has no more bits for a texel', async () => {
  const gl = context(), status = gl.checkFramebufferStatus.bind(gl), drawn = gl.drawBuffers.bind(gl);
  let most = 0, asked = 0;
  gl.checkFramebufferStatus = (target) => (++asked === 1 ? gl.FRAMEBUFFER_UNSUPPORTED : status(target));
  const page = await Quadmill.adopt(gl), keys = bits(Float32Array, 70000);
  gl.drawBuffers = (all) => { most = Math.max(most, all.length); drawn(all); };
  const sorted = await page.sort(keys.slice(), { engine: 'gpu' }), index = await page.argsort(keys, { engine: 'gpu' });
  check(asked === 1 && most === 4, `asked ${asked} times, ${most} targets`);
  check(same(sorted, await own.sort(keys.slice(), { engine: 'cpu' })) && same(index, await own.argsort(keys, { engine: 'cpu' })), 'wrong');
});
await test('top gives the first keys with their numbers', async () => {
  const keys = bits(Int32Array, 5000), sorted = keys.slice().sort();
  sorted.reverse();
  for (const engine of ['gpu', 'cpu']) {
    for (const k of [0, 1, 10, 4999, 5000, 6000]) {
      const { keys: best, index } = await own.top(keys, k, { order: 'desc', engine });
      check(same(best, sorted.slice(0, k)), `${k} keys`);
      check(index.length === best.length && best.every((key, i) => keys[index[i]] === key), `${k} numbers`);
    }
  }
});
await test('A view of a part of a buffer', async () => {
  for (const engine of ['gpu', 'cpu']) {
    const all = bits(Uint32Array, 7000), before = all.slice();
    await own.sort(all.subarray(1001, 6004), { engine });
    check(same(all.slice(1001, 6004), before.slice(1001, 6004).sort()), 'part');
    check(same(all.slice(0, 1001), before.slice(0, 1001)) && same(all.slice(6004), before.slice(6004)), 'the rest');
  }
});
await test('Calls at the same time do not mix', async () => {
  const all = Array.from({ length: 5 }, () => bits(Uint32Array, 3000));
  const sorted = await Promise.all(all.map((keys) => own.sort(keys.slice(), { engine: 'gpu' })));
  check(all.every((keys, i) => same(keys.slice().sort(), sorted[i])), 'mixed');
});
await test('prepare() during a sort leaves its keys alone', async () => {
  const keys = bits(Uint32Array, 5000), sorted = own.sort(keys.slice(), { engine: 'gpu' }), index = own.argsort(keys, { engine: 'gpu' });
  await own.prepare('sort', 'u32', 300);
  await own.prepare('argsort', 'f64', 4000);
  check(same(keys.slice().sort(), await sorted), 'sort');
  check(same(await own.argsort(keys, { engine: 'cpu' }), await index), 'argsort');
});

// Textures ------------------------------------------------------------------------------------------------------------
await test('argsortTexture: formats, orders, counts; texels after the last key stay', async () => {
  const gl = context(), page = await Quadmill.adopt(gl);
  for (const format of Object.keys(formats)) {
    for (const [width, height, count] of [[1, 1, 1], [37, 11, 400], [256, 256, 65536], [300, 10, 3000]]) {
      for (const order of ['asc', 'desc']) {
        const keys = bits(formats[format].Keys, width * height, width === 300);
        const from = textureOf(gl, format, width, height, keys);
        const to = textureOf(gl, 'r32ui', width, height, new Uint32Array(width * height).fill(0xabcdef));
        page.argsortTexture({ texture: from, width, height, format }, { texture: to, width, height }, { count, order });
        const found = read(gl, to, width, height), expected = await own.argsort(keys.slice(0, count), { order, engine: 'cpu' });
        check(same(found.slice(0, count), expected), `${format} ${width} x ${height} ${order}`);
        const error = gl.getError();
        check(error === 0, `${format} ${width} x ${height}: error ${error}`);
        check(found.slice(count).every((texel) => texel === 0xabcdef), 'a texel after the last key changed');
        gl.deleteTexture(from);
        gl.deleteTexture(to);
      }
    }
  }
  check(gl.getError() === 0, 'an error of OpenGL');
});
await test('A call restores all state, also when it throws', async () => {
  const gl = context(), page = await Quadmill.adopt(gl);
  const width = 64, height = 64, keys = textureOf(gl, 'r32f', width, height, bits(Float32Array, 4096)), index = textureOf(gl, 'r32ui', width, height);
  for (let seed = 1; seed <= 5; ++seed) {
    poison(gl, seed, keys);
    const before = snapshot(gl);
    page.argsortTexture({ texture: keys, width, height, format: 'r32f' }, { texture: index, width, height });
    check(differences(before, snapshot(gl)).length === 0, `argsortTexture, ${seed}: ${differences(before, snapshot(gl)).join('; ')}`);
    await throws('argument', /count/, () => page.argsortTexture({ texture: keys, width, height, format: 'r32f' }, { texture: index, width, height }, { count: 5000 }));
    await page.sort(bits(Float32Array, 5000), { engine: 'gpu' });
    await page.prepare('argsort', 'f64', 3000);
    check(differences(before, snapshot(gl)).length === 0, `sort, ${seed}: ${differences(before, snapshot(gl)).join('; ')}`);
    check(gl.getError() === 0, 'an error of OpenGL');
  }
  page.free();
  const expected = textureOf(gl, 'r32ui', 1, 1);
  check(gl.isTexture(index) && expected, 'free() deleted a texture of the page');
});
await test('The page may use its context between two parts of a sort', async () => {
  const gl = context(), page = await Quadmill.adopt(gl), keys = bits(Uint32Array, 70000);
  let frames = 0, over = false;
  const sorted = page.sort(keys.slice(), { engine: 'gpu' }).finally(() => { over = true; });
  while (!over) {
    gl.clearColor(1, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    ++frames;
    await new Promise((resolve) => setTimeout(resolve));
  }
  check(same(await sorted, keys.slice().sort()), 'wrong');
  check(frames > 0, 'no frame was drawn');
});
await test('Many calls leave no object behind', async () => {
  const gl = context(), page = await Quadmill.adopt(gl);
  const counts = { made: 0, deleted: 0 };
  for (const name of ['Buffer', 'Framebuffer', 'Texture', 'VertexArray']) {
    for (const [verb, count] of [['create', 'made'], ['delete', 'deleted']]) {
      const call = gl[verb + name].bind(gl);
      gl[verb + name] = (...all) => { ++counts[count]; return call(...all); };
    }
  }
  const keys = textureOf(gl, 'r32f', 32, 32, bits(Float32Array, 1024)), index = textureOf(gl, 'r32ui', 32, 32);
  const call = () => page.argsortTexture({ texture: keys, width: 32, height: 32, format: 'r32f' }, { texture: index, width: 32, height: 32 });
  call();
  const alive = counts.made - counts.deleted;
  for (let i = 0; i < 50; ++i) call();
  check(counts.made - counts.deleted === alive, `${counts.made - counts.deleted - alive} objects more`);
});
await test('Wrong calls are refused with a reason', async () => {
  const gl = context(), page = await Quadmill.adopt(gl), other = context();
  const size = { width: 4, height: 4 }, keys = { texture: textureOf(gl, 'r32f', 4, 4, new Float32Array(16)), ...size, format: 'r32f' };
  const index = { texture: textureOf(gl, 'r32ui', 4, 4), ...size };
  const refused = (message, ...all) => throws('argument', message, () => page.argsortTexture(...all));
  for (const nothing of [[], [null, null], [{}, {}]]) await refused(/WebGLTexture/, ...nothing);
  await refused(/index.texture must be a WebGLTexture/, keys);
  await refused(/WebGLTexture/, { ...keys, texture: null }, index);
  await throws('unsupported', /put the keys into an R32F texture/, () => page.argsortTexture({ ...keys, texture: gl.createBuffer() }, index));
  const height = Math.ceil((page.info.maxKeys + 1) / 4);
  await throws('unsupported', /more than info.maxKeys, \d+; use argsort\(\) with engine 'cpu'/, () => page.argsortTexture({ ...keys, height }, index));
  await refused(/width and height/, { ...keys, width: 0 }, index);
  await refused(/format must be/, { ...keys, format: 'rgba8' }, index);
  await refused(/different textures/, { ...keys, format: 'r32ui', texture: index.texture }, index);
  await refused(/order must be/, keys, index, { order: 'down' });
  await refused(/do not fit/, keys, { ...index, height: 2 });
  await refused(/not one of this context/, { ...keys, texture: textureOf(other, 'r32f', 4, 4) }, index);
  const query = gl.createQuery();
  gl.beginQuery(gl.ANY_SAMPLES_PASSED, query);
  await refused(/query/, keys, index);
  gl.endQuery(gl.ANY_SAMPLES_PASSED);
  for (const wrong of [[3, 1, 2], undefined, null]) await throws('argument', /Float32Array/, () => page.sort(wrong));
  await throws('argument', /engine must be/, () => page.sort(new Float32Array(2), { engine: 'npu' }));
  await throws('argument', /call must be one of/, () => page.prepare('top', 'f32', 4));
  await throws('unsupported', /from canvas.getContext\('webgl2'\), not WebGLRenderingContext/, () => Quadmill.adopt(new OffscreenCanvas(1, 1).getContext('webgl')));
  await throws('unsupported', /WebGL2RenderingContext/, () => Quadmill.adopt({}));
  check(gl.getError() === 0, 'an error of OpenGL');
  page.free();
  await throws('argument', /freed/, () => page.sort(new Float32Array(2)));
});
await test('One argsortTexture call asks for at most 40 pieces of state', async () => {
  const gl = context(), page = await Quadmill.adopt(gl), width = 256, height = 256;
  const keys = textureOf(gl, 'r32f', width, height, bits(Float32Array, width * height)), index = textureOf(gl, 'r32ui', width, height);
  const call = () => page.argsortTexture({ texture: keys, width, height, format: 'r32f' }, { texture: index, width, height });
  call();  // compiles programs
  poison(gl, 2, keys);
  const asked = {}, questions = /^(get(?!Extension)|is[A-Z]|checkFramebufferStatus)/;
  for (const name in gl) {
    if (!questions.test(name) || typeof gl[name] !== 'function') continue;
    const ask = gl[name].bind(gl);
    gl[name] = (...all) => { asked[name] = (asked[name] ?? 0) + 1; return ask(...all); };
  }
  call();
  const all = Object.values(asked).reduce((a, b) => a + b, 0), words = Object.entries(asked).map(([name, times]) => `${name} ${times}`).join(', ');
  await say(`one call asks: ${words}`);
  check(asked.getParameter > 0 && asked.getError === undefined, words);
  check(all <= 40, `${all}: ${words}`);
});
await test('With debug, an error of OpenGL is thrown, and one of the page is not taken for ours', async () => {
  const gl = context(), page = await Quadmill.adopt(gl, { debug: true }), size = { width: 8, height: 8 }, all = bits(Float32Array, 64);
  const keys = { texture: textureOf(gl, 'r32f', 8, 8, all), ...size, format: 'r32f' }, index = { texture: textureOf(gl, 'r32ui', 8, 8), ...size };
  page.argsortTexture(keys, index);
  check(same(read(gl, index.texture, 8, 8), await own.argsort(all, { engine: 'cpu' })), 'wrong');
  const drawn = gl.drawArraysInstanced;
  gl.drawArraysInstanced = () => gl.enable(1);
  await throws('gl', /argsortTexture: the driver reported .*ENUM/i, () => page.argsortTexture(keys, index));
  gl.drawArraysInstanced = drawn;
  page.argsortTexture(keys, index);
  gl.enable(1);
  await throws('gl', /before this call, OpenGL had error 1280/, () => page.argsortTexture(keys, index));
  page.argsortTexture(keys, index);
});
await test('A lost context is named, and a new one works', async () => {
  const gl = context(), page = await Quadmill.adopt(gl), extension = gl.getExtension('WEBGL_lose_context');
  const sorted = page.sort(bits(Uint32Array, 70000), { engine: 'gpu' });
  const lost = throws('lost', /make a new Quadmill/, () => sorted);
  await new Promise((resolve) => setTimeout(resolve));
  extension.loseContext();
  await lost;
  await throws('lost', /make a new Quadmill/, () => page.sort(bits(Uint32Array, 70000), { engine: 'gpu' }));
  page.free();
  const again = await Quadmill.create(), keys = bits(Uint32Array, 1000);
  check(same(await again.sort(keys.slice(), { engine: 'gpu' }), keys.slice().sort()), 'wrong');
});
await test('In a worker, with an OffscreenCanvas', async () => {
  const worker = new Worker('/tests/worker.js', { type: 'module' });
  const wrong = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
  });
  check(wrong === 0, `${wrong} keys are wrong`);
  worker.terminate();
});
await test('prepare() compiles all that a call needs', async () => {
  const gl = context(), page = await Quadmill.adopt(gl);
  let compiled = 0;
  const compile = gl.compileShader.bind(gl);
  gl.compileShader = (shader) => { ++compiled; return compile(shader); };
  await page.prepare('argsortTexture', 'f32', 4096);
  await page.prepare('sort', 'f64', 4096);
  check(compiled > 4, 'nothing was compiled');
  compiled = 0;
  const keys = textureOf(gl, 'r32f', 64, 64, bits(Float32Array, 4096)), index = textureOf(gl, 'r32ui', 64, 64);
  page.argsortTexture({ texture: keys, width: 64, height: 64, format: 'r32f' }, { texture: index, width: 64, height: 64 });
  await page.sort(bits(Float64Array, 4096), { engine: 'gpu' });
  check(compiled === 0, `${compiled} shaders were compiled later`);
});

await finish();
