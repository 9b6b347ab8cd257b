import { Quadmill } from '/package/index.js';

const quadmill = await Quadmill.create();
const keys = Float32Array.from({ length: 50000 }, (_, i) => Math.sin(i)), sorted = keys.slice().sort();
await quadmill.sort(keys, { engine: 'gpu' });
postMessage(keys.filter((key, i) => key !== sorted[i]).length);
