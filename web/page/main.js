import { Quadmill } from './quadmill/index.js';
import { Quantiles, load } from './quadmill/streams.js';
import { Splats, makePositions, mistakes, planeOf } from './splats.js';
import { compile } from './quadmill/wasm.js';
import { Stages, aboutOf } from './stages.js';
import { StageView } from './stage_view.js';

const element = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString('en');

const canvas = element('splats');
const gl = canvas.getContext('webgl2', { antialias: false, depth: false });
if (!gl) {
  element('renderer').textContent = 'none: this browser gives no WebGL2 context';
  throw new Error('no WebGL2');
}
const quadmill = await Quadmill.adopt(gl);
await load();
element('renderer').textContent = quadmill.info.renderer;
if (quadmill.info.software) {
  element('renderer').className = 'software';
  element('renderer').textContent += ' (software: no GPU draws here, and the CPU sorts faster)';
}

// Splats --------------------------------------------------------------------------------------------------------------
const worker = new Worker('./worker.js', { type: 'module' });
let splats, positions, asked = false, shown = { angle: 0, ms: 0, order: new Uint32Array() };
worker.onmessage = ({ data }) => {
  asked = false;
  if (data.order.length !== splats.count) return;
  shown = data;
  splats.take(data.order);
};
async function choose(count) {
  splats?.free();
  positions = makePositions(count);
  await quadmill.prepare('argsortTexture', 'u32', count);
  splats = new Splats(gl, count, positions);
  shown = { angle: 0, ms: 0, order: Uint32Array.from({ length: count }, (_, i) => i) };
  worker.postMessage({ positions, count });
}
const usual = Number(new URLSearchParams(location.search).get('n')) || (quadmill.info.software ? 4096 : 262144);
element('number').value = String(usual);
element('number').onchange = () => choose(Number(element('number').value));
await choose(usual);

// Frames --------------------------------------------------------------------------------------------------------------
let times = new Quantiles({ eps: 0.001 }), last, angle = 0, counted = 0, calls = [];
function frame(now) {
  if (last !== undefined) times.add(now - last);
  if (element('turning').checked) angle += Math.min(now - (last ?? now), 100) * 0.0006;
  last = now;
  if (!asked) {
    asked = true;
    worker.postMessage({ plane: planeOf(angle), angle, bits: Number(element('bits').value) });
  }
  gl.clearColor(0, 0, 0, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
  const begun = performance.now();
  splats.sort(quadmill, angle);
  calls.push(performance.now() - begun);
  for (const half of [0, 1]) splats.draw(half, angle);
  if (now - counted > 1000) {
    counted = now;
    report();
  }
  requestAnimationFrame(frame);
}
function report() {
  const pairs = number(splats.count - 1), wrong = [splats.readOrder(), shown.order].map((order) => number(mistakes(order, positions, angle)));
  element('gpu').textContent = `${wrong[0]} of ${pairs} pairs out of order; the call takes ${(calls.reduce((a, b) => a + b) / calls.length).toFixed(2)} ms of CPU time`;
  element('cpu').textContent = `${wrong[1]} of ${pairs} pairs out of order; the sort takes ${shown.ms.toFixed(1)} ms`;
  calls = [];
  if (times.count === 0) return;
  element('percentiles').replaceChildren(...[0.5, 0.9, 0.99, 0.999].map((phi) => {
    const { value, rankLower, rankUpper } = times.quantile(phi), row = document.createElement('tr');
    for (const text of [`${phi * 100} %`, value.toFixed(2), `${number(rankLower)} and ${number(rankUpper)} of ${number(times.count)}`])
      row.appendChild(document.createElement('td')).textContent = text;
    return row;
  }));
}
requestAnimationFrame(frame);

// Stages --------------------------------------------------------------------------------------------------------------
const view = new StageView(new Stages(await compile(new URL('./stages.wasm', import.meta.url))), {
  list: element('stages'), large: element('step'), title: element('title'), text: element('text'), at: element('at'), play: element('play'),
}, 128);
function showStages() {
  const engine = element('engine').value, about = element('about');
  about.className = '';
  about.textContent = aboutOf(engine);
  element('player').hidden = false;
  try {
    view.show(engine, element('shape').value);
  } catch (error) {
    element('player').hidden = true;
    about.className = 'software';
    about.textContent = `This browser cannot run this engine: ${error.message}`;
  }
}
element('engine').onchange = element('shape').onchange = element('again').onclick = showStages;
showStages();

// Files ---------------------------------------------------------------------------------------------------------------
element('file').onchange = async ({ target }) => {
  try {
    const other = Quantiles.load(new Uint8Array(await target.files[0].arrayBuffer()));
    times.merge(other);
    element('merged').textContent = `merged ${number(other.count)} values`;
  } catch (error) {
    element('merged').textContent = error.message;
  }
};
element('save').onclick = () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([times.save()]));
  link.download = 'frames.qm';
  link.click();
};
