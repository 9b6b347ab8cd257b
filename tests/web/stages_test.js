// The page's stages of a sort, and the page itself, in a browser. browser_test.py serves them, and reports what say() says.
import { compile } from '/page/quadmill/wasm.js';
import { Stages } from '/page/stages.js';
import { check, finish, random, same, say, test } from './harness.js';

const side = 64, n = side * side, log2 = Math.log2(n);
const module = await compile(new URL('/page/stages.wasm', location.href));
const inputs = {
  random: () => (random() + 1) / 2 ** 32,
  'few values': () => (random() % 5) / 4,
  descending: (i) => 1 - i / n,
  'negative ones and infinities': (i) => [Infinity, -Infinity, 1e-37, -1e30, 0][i % 7] ?? (random() - 2 ** 31) / 2 ** 20,
};
const drawn = [];  // draws since the last look
const { drawArraysInstanced, blendEquation } = WebGL2RenderingContext.prototype;
let blending;
WebGL2RenderingContext.prototype.blendEquation = function(equation) { blending = equation; blendEquation.call(this, equation); };
WebGL2RenderingContext.prototype.drawArraysInstanced = function(...all) {
  drawn.push(this.isEnabled(this.BLEND) ? blending : 0);
  drawArraysInstanced.apply(this, all);
};

const arraysOf = ({ keys, arrays }) => Array.from({ length: arrays }, (_, i) => keys.subarray(i * keys.length / arrays, (i + 1) * keys.length / arrays));
const sorted = (keys, from, to) => { for (let i = from + 1; i < to; ++i) if (keys[i - 1] > keys[i]) return false; return true; };
const stages = new Stages(module);

// Steps of each engine by the formulas of docs/engines.md, without the input.
const expected = {
  merge: log2 - 4,                          // runs of 32 keys first
  bitonic: 1 + (log2 - 2) * (log2 - 1) / 2 + log2 - 2,  // from stage 3 on, s - 1 passes
  pbsn: (log2 - 2) ** 2 + 1,                // and the CPU's merge
};
for (const engine of ['merge', 'bitonic', 'pbsn']) {
  for (const [name, make] of Object.entries(inputs)) {
    await test(`${engine}, ${name}: the last step is the sorted input bit for bit, each step has the same keys, and passes drew it`, async () => {
      const keys = Float32Array.from({ length: n }, (_, i) => make(i)), before = keys.slice(), right = keys.slice().sort();
      drawn.length = 0;
      const steps = stages.of(engine, keys), last = steps.at(-1);
      check(same(keys, before), 'the input was changed');
      check(last.arrays === 1 && same(last.keys, right), 'not sorted');
      check(steps.length === expected[engine] + 1, `${steps.length} steps`);
      steps.forEach(({ keys: now, title, text }, i) => {
        check(same(now.slice().sort(), right), `step ${i} lost keys`);
        check(title && text && !/undefined|NaN/.test(title + text), `no words for step ${i}`);
      });
      check(arraysOf(steps[0]).every((array, a) => array.every((key, i) => Object.is(key, keys[i * steps[0].arrays + a]))), 'not the input');
      check(drawn.length >= last.passes && last.passes >= expected[engine], `${drawn.length} draws, ${last.passes} passes`);
      const blends = (equation) => drawn.filter((one) => one === equation).length;
      const each = engine === 'pbsn' ? (log2 - 2) ** 2 : 0, { MIN, MAX } = WebGL2RenderingContext;
      check(blends(MIN) >= each && blends(MAX) >= each && (each > 0 || blends(MIN) === 0), `${blends(MIN)} and ${blends(MAX)} draws blended`);
    });
  }
}
await test('merge: each step has sorted runs of the length that it says', async () => {
  for (const { keys, run } of stages.of('merge', Float32Array.from({ length: n }, () => random() + 1)))
    for (let i = 0; i < n; i += run) check(sorted(keys, i, i + run), `a run of ${run}`);
});
await test('bitonic: each stage ends with runs that ascend and descend in turn', async () => {
  const keys = Float32Array.from({ length: n }, () => random() + 1);
  for (const { keys: now, run, ends } of stages.of('bitonic', keys)) {
    if (!ends) continue;
    for (let i = 0; i < n; i += run) check(sorted(i / run % 2 ? now.slice(i, i + run).reverse() : now.subarray(i, i + run), 0, run), `run ${i / run} of ${run}`);
  }
});
await test('pbsn: each step is the network\'s, computed on the CPU', async () => {
  const steps = stages.of('pbsn', Float32Array.from({ length: n }, () => random() + 1)), each = n / 4;
  for (let i = 1; i < steps.length - 1; ++i) {
    const block = each >> (i - 1) % (log2 - 2), now = arraysOf(steps[i - 1]).map((array) => array.slice());
    for (const array of now)
      for (let from = 0; from < each; from += block)
        for (let j = 0; j < block / 2; ++j) {
          const [a, b] = [from + j, from + block - 1 - j], [low, high] = [Math.min(array[a], array[b]), Math.max(array[a], array[b])];
          array[a] = low, array[b] = high;
        }
    check(arraysOf(steps[i]).every((array, a) => same(array, now[a])), `step ${i}`);
  }
});
await test('Keys that blending cannot order are refused, and the next sort is right', async () => {
  for (const odd of [NaN, -0, 1e-40]) {
    const keys = new Float32Array(n).fill(1);
    keys[7] = odd;
    try {
      stages.of('pbsn', keys);
      check(false, 'nothing thrown');
    } catch (error) {
      check(/key 7 is NaN, -0 or a denormal number/.test(error.message), error.message);
    }
  }
  check(stages.of('pbsn', new Float32Array(n).fill(1)).at(-1).keys.every((key) => key === 1), 'wrong');
});
await test('Without blending of floats, PBSN says why it cannot run, and the other engines run', async () => {
  const { getExtension } = WebGL2RenderingContext.prototype;
  for (const missing of ['EXT_float_blend', 'EXT_color_buffer_float']) {
    WebGL2RenderingContext.prototype.getExtension = function(name) { return name === missing ? null : getExtension.call(this, name); };
    const without = new Stages(module), keys = Float32Array.from({ length: n }, () => random() + 1);
    WebGL2RenderingContext.prototype.getExtension = getExtension;
    try {
      without.of('pbsn', keys);
      check(false, 'nothing thrown');
    } catch (error) {
      check(/blends floats, which this OpenGL ES driver cannot do/.test(error.message), error.message);
    }
    check(same(without.of('bitonic', keys).at(-1).keys, keys.slice().sort()), 'bitonic');
  }
});
await test('A driver that blends floats wrongly is found out by a test drawing', async () => {
  const wrong = new Stages(module), { blendEquation: now } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.blendEquation = function(equation) { now.call(this, equation === this.MAX ? this.MIN : equation); };
  try {
    wrong.of('pbsn', new Float32Array(n).fill(1));
    check(false, 'nothing thrown');
  } catch (error) {
    check(/does not blend 32-bit floats exactly/.test(error.message), error.message);
  } finally {
    WebGL2RenderingContext.prototype.blendEquation = now;
  }
});
await test('The page shows each engine: pictures, words for each step, and why one cannot run', async () => {
  const frame = document.createElement('iframe');
  frame.src = '/page/index.html?n=4096';
  frame.width = 1000;
  document.body.append(frame);
  const part = (id) => frame.contentDocument?.getElementById(id);
  const until = async (done, what) => {
    for (let i = 0; !done(); ++i) {
      check(i < 600, `${what} did not come`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await until(() => part('stages')?.children.length > 0, 'the stages');
  for (const [engine, pictures, last] of [['merge', 11, 'runs of 16,384'], ['bitonic', 14, 'stage 14 of 14'], ['pbsn', 14, 'merged']]) {
    part('engine').value = engine;
    part('engine').onchange();
    check(part('stages').children.length === pictures, `${engine}: ${part('stages').children.length} pictures`);
    check(part('title').textContent.startsWith(last) && part('text').textContent, part('title').textContent);
    const captions = Array.from(part('stages').querySelectorAll('figcaption'), (one) => one.textContent);
    check(captions.at(-1) === last && new Set(captions).size === pictures, captions.join('; '));
    part('at').value = 1;
    part('at').oninput();
    check(!part('title').textContent.startsWith(last), 'the slider does not go to a step');
  }
  for (const width of [1000, 360]) {  // of a window, and of a telephone
    frame.width = width;
    const root = frame.contentDocument.documentElement;
    check(getComputedStyle(root.querySelector('#stages')).display === 'grid', 'no style sheet');
    check(root.scrollWidth <= root.clientWidth, `${root.scrollWidth} wide in ${root.clientWidth}`);
  }
});

await finish();
