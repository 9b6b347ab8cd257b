// What viewers do without a sort on the GPU: a counting sort by 16 bits of the depth, from back to front.
let positions, count;

onmessage = ({ data }) => {
  if (data.positions) {
    ({ positions, count } = data);
    return;
  }
  const [a, b, c, d] = data.plane, begun = performance.now();
  const depths = new Float32Array(count);
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < count; ++i) {
    const depth = a * positions[4 * i] + b * positions[4 * i + 1] + c * positions[4 * i + 2] + d;
    depths[i] = depth;
    low = Math.min(low, depth);
    high = Math.max(high, depth);
  }
  const buckets = 65536, scale = (buckets - 1) / Math.max(high - low, 1e-9);
  const starts = new Uint32Array(buckets + 1), order = new Uint32Array(count);
  const bucket = (i) => ((high - depths[i]) * scale) | 0;
  for (let i = 0; i < count; ++i) ++starts[bucket(i) + 1];
  for (let i = 0; i < buckets; ++i) starts[i + 1] += starts[i];
  for (let i = 0; i < count; ++i) order[starts[bucket(i)]++] = i;
  postMessage({ order, angle: data.angle, ms: performance.now() - begun }, [order.buffer]);
};
