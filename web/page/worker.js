// What viewers do without a sort on the GPU: splats are sorted on the CPU, in a worker.
import { countingSort, radixSort } from './orders.js';

let positions, count;

onmessage = ({ data }) => {
  if (data.positions) {
    ({ positions, count } = data);
    return;
  }
  const [a, b, c, d] = data.plane, begun = performance.now();
  const depths = new Float32Array(count);
  for (let i = 0; i < count; ++i) depths[i] = a * positions[4 * i] + b * positions[4 * i + 1] + c * positions[4 * i + 2] + d;
  const order = data.bits === 32 ? radixSort(depths) : countingSort(depths);
  postMessage({ order, angle: data.angle, ms: performance.now() - begun }, [order.buffer]);
};
