// Times of the package in this browser, in milliseconds: the best and the median of several runs. measure.sh serves it.
// Queries of the address: max (largest power of two, 22), runs (12), rows (of the table, 10,000,000), only (the parts to
// measure: textures, arrays, rivals, worker, table).
import { Quadmill } from './quadmill/index.js';
import { Table } from './quadmill/table.js';

const query = new URLSearchParams(location.search), asked = (name, usual) => Number(query.get(name) ?? usual);
const most = asked('max', 22), runs = asked('runs', 12), rows = asked('rows', 1e7);
const wanted = (part) => (query.get('only') ?? part).split(',').includes(part);
const say = (line) => {
  document.getElementById('lines').textContent += `${line}\n`;
  return fetch('/say', { method: 'POST', body: line });
};
const nextTask = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); resolve(); };
  port2.postMessage(0);
});
async function done(gl) {
  const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.flush();
  while (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) await nextTask();
  gl.deleteSync(fence);
}
const shown = (times) => {
  const sorted = times.slice().sort((a, b) => a - b);
  return `${sorted[0].toFixed(2)} (${sorted[sorted.length >> 1].toFixed(2)})`;
};
/** Calls run() several times after a first one that compiles; prepare() is not timed. */
async function timed(run, prepare = () => {}, count = runs) {
  const times = [];
  for (let i = -1; i < count; ++i) {
    const given = prepare(), begun = performance.now();
    await run(given);
    if (i >= 0) times.push(performance.now() - begun);
  }
  return shown(times);
}

let state = 1;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
const floats = (n) => Float32Array.from({ length: n }, () => random() * 8 - 4);

function textureOf(gl, internal, format, type, width, height, texels) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, format, type, texels);
  return texture;
}

async function measureTextures(stateOption) {
  const gl = new OffscreenCanvas(8, 8).getContext('webgl2', { antialias: false, depth: false });
  const quadmill = await Quadmill.adopt(gl, { state: stateOption });
  for (let power = 16; power <= most; power += 2) {
    const count = 2 ** power, width = 2 ** Math.min(power, 11), height = count / width, size = { width, height };
    const keys = { texture: textureOf(gl, gl.R32F, gl.RED, gl.FLOAT, width, height, floats(count)), ...size, format: 'r32f' };
    const index = { texture: textureOf(gl, gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, width, height, null), ...size };
    await quadmill.prepare('argsortTexture', 'f32', count);
    const returned = [], timer = gl.getExtension('EXT_disjoint_timer_query_webgl2'), passes = [];
    const until = await timed(async () => {
      const begun = performance.now();
      quadmill.argsortTexture(keys, index);
      returned.push(performance.now() - begun);
      await done(gl);
    });
    for (let i = 0; timer && i < runs; ++i) {
      const query = gl.createQuery();
      gl.beginQuery(timer.TIME_ELAPSED_EXT, query);
      quadmill.argsortTexture(keys, index);
      gl.endQuery(timer.TIME_ELAPSED_EXT);
      await done(gl);
      while (!gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE)) await nextTask();
      passes.push(gl.getQueryParameter(query, gl.QUERY_RESULT) / 1e6);
      gl.deleteQuery(query);
    }
    await say(`argsortTexture, state ${stateOption}, 2^${power}: done ${until}, the call returns ${shown(returned.slice(1))}` +
      (timer ? `, the GPU's time ${shown(passes)}` : ''));
    gl.deleteTexture(keys.texture);
    gl.deleteTexture(index.texture);
  }
  quadmill.free();
}

// When calls of a function begin and end in a run: of all runs but the first, the median of each.
const calls = new Map();
let begunAt = 0;
function watch(name) {
  const prototype = WebGL2RenderingContext.prototype, call = prototype[name];
  prototype[name] = function (...all) {
    const begun = performance.now() - begunAt, result = call.apply(this, all), [first = begun] = calls.get(name)?.at(-1) ?? [];
    calls.get(name)?.splice(-1, 1, [first, performance.now() - begunAt]);
    return result;
  };
}
async function timedParts(run, prepare = () => {}, count = runs) {
  const functions = ['texSubImage2D', 'readPixels'];
  if (calls.size === 0) functions.forEach(watch);
  for (const name of functions) calls.set(name, []);
  const times = await timed(run, () => {
    const given = prepare();
    for (const name of functions) calls.get(name).push([]);
    begunAt = performance.now();
    return given;
  }, count);
  const middle = (values) => values.sort((x, y) => x - y)[values.length >> 1].toFixed(2);
  const part = (name) => [0, 1].map((end) => middle(calls.get(name).slice(1).map((ends) => ends[end]))).join(' to ');
  return `${times}; ${functions.map((name) => `${name} from ${part(name)}`).join(', ')}`;
}

async function measureArrays() {
  const quadmill = await Quadmill.create();
  for (let power = 16; power <= most; power += 2) {
    const keys = floats(2 ** power), few = Math.min(runs, 7);
    await say(`sort on the GPU, 2^${power}: ${await timedParts((copy) => quadmill.sort(copy, { engine: 'gpu' }), () => keys.slice(), few)}`);
    await say(`argsort on the GPU, 2^${power}: ${await timedParts(() => quadmill.argsort(keys, { engine: 'gpu' }), undefined, few)}`);
    await say(`top 100 on the GPU, 2^${power}: ${await timedParts(() => quadmill.top(keys, 100, { engine: 'gpu' }), undefined, few)}`);
    if (!wanted('rivals')) continue;
    await say(`sort on the CPU, 2^${power}: ${await timed((copy) => quadmill.sort(copy, { engine: 'cpu' }), () => keys.slice(), 3)}`);
    await say(`Float32Array.sort, 2^${power}: ${await timed((copy) => copy.sort(), () => keys.slice(), 3)}`);
  }
  quadmill.free();
}

async function measureWorker() {
  const worker = new Worker('./measure_worker.js', { type: 'module' });
  for (const bits of [32, 16]) {
    for (let power = 16; power <= most; power += 2) {
      let depths = floats(2 ** power);
      const there = () => new Promise((resolve) => {
        worker.onmessage = ({ data }) => { depths = data.depths; resolve(); };
        worker.postMessage({ depths, bits }, [depths.buffer]);
      });
      await say(`JavaScript ${bits === 32 ? 'radix' : 'counting'} sort of ${bits} bits in a worker and back, 2^${power}: ${await timed(there)}`);
    }
  }
  worker.terminate();
}

async function measureTable() {
  const x = floats(rows), y = floats(rows), n = Int32Array.from({ length: rows }, () => random() * 1000);
  const begun = performance.now(), table = await Table.create({ x, y, n });
  await say(`table of ${rows} rows, 3 columns: made in ${(performance.now() - begun).toFixed(0)}`);
  const where = { x: { gte: -1, lt: 2 }, n: { lt: 500 } }, few = Math.min(runs, 7), bins = { min: -4, max: 4, bins: 64 };
  await say(`count of two ranges: ${await timed(() => table.count(where), undefined, few)}`);
  await say(`the same in a loop of JavaScript: ${await timed(() => {
    let count = 0;
    for (let i = 0; i < rows; ++i) if (x[i] >= -1 && x[i] < 2 && n[i] < 500) ++count;
    return count;
  }, undefined, 3)}`);
  await say(`median where two ranges hold: ${await timed(() => table.median('y', where), undefined, few)}`);
  await say(`sum where two ranges hold: ${await timed(() => table.sum('n', where), undefined, few)}`);
  await say(`histogram of 64 bins where two ranges hold: ${await timed(() => table.histogram('y', bins, where), undefined, few)}`);
  await say(`the same in a loop of JavaScript: ${await timed(() => {
    const counts = new Uint32Array(64);
    for (let i = 0; i < rows; ++i) if (x[i] >= -1 && x[i] < 2 && n[i] < 500) ++counts[Math.min((y[i] + 4) * 8, 63) | 0];
    return counts;
  }, undefined, 3)}`);
  await say(`a step of a crossfilter, count and 3 histograms: ${await timed(() => Promise.all([table.count(where),
    table.histogram('x', bins, { n: where.n }), table.histogram('y', bins, where),
    table.histogram('n', { min: 0, max: 1000, bins: 50 }, { x: where.x })]), undefined, few)}`);
  await say(`select: ${await timed(() => table.select(where), undefined, few)}`);
  table.free();
}

try {
  const quadmill = await Quadmill.create();
  await say(`renderer: ${quadmill.info.renderer}; ${navigator.userAgent}`);
  quadmill.free();
  if (wanted('textures')) for (const state of ['kept', 'mine']) await measureTextures(state);
  if (wanted('arrays')) await measureArrays();
  if (wanted('worker')) await measureWorker();
  if (wanted('table')) await measureTable();
} catch (error) {
  await say(`FAILED: ${error.stack ?? error}`);
}
await say('DONE');
