// The sorts of the page's worker, timed by measure.js with the way to the worker and back.
import { countingSort, radixSort } from './orders.js';

onmessage = ({ data }) => {
  const order = data.bits === 32 ? radixSort(data.depths) : countingSort(data.depths);
  postMessage({ order, depths: data.depths }, [order.buffer, data.depths.buffer]);
};
