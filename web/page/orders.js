// Sorts of depths on the CPU, from the farthest to the nearest, as viewers without a sort on the GPU have them.

/** A counting sort by 16 bits of the depth between the lowest and the highest one. */
export function countingSort(depths) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < depths.length; ++i) {
    if (depths[i] < low) low = depths[i];
    if (depths[i] > high) high = depths[i];
  }
  const buckets = 65536, scale = (buckets - 1) / Math.max(high - low, 1e-9);
  const starts = new Uint32Array(buckets + 1), order = new Uint32Array(depths.length);
  const bucket = (i) => ((high - depths[i]) * scale) | 0;
  for (let i = 0; i < depths.length; ++i) ++starts[bucket(i) + 1];
  for (let i = 0; i < buckets; ++i) starts[i + 1] += starts[i];
  for (let i = 0; i < depths.length; ++i) order[starts[bucket(i)]++] = i;
  return order;
}

/** A radix sort by all 32 bits, in three passes of 11 bits. */
export function radixSort(depths) {
  const n = depths.length, keys = new Uint32Array(depths.buffer.slice(depths.byteOffset, depths.byteOffset + 4 * n));
  const bits = 11, buckets = 1 << bits, counts = new Uint32Array(3 * buckets);
  for (let i = 0; i < n; ++i) {
    const word = keys[i], key = ~(word & 0x80000000 ? ~word : word | 0x80000000);  // descending
    keys[i] = key;
    ++counts[key & (buckets - 1)];
    ++counts[buckets + (key >>> bits & (buckets - 1))];
    ++counts[2 * buckets + (key >>> 2 * bits)];
  }
  let from = [keys, Uint32Array.from({ length: n }, (_, i) => i)], to = [new Uint32Array(n), new Uint32Array(n)];
  for (let pass = 0; pass < 3; ++pass) {
    const starts = counts.subarray(pass * buckets, (pass + 1) * buckets);
    for (let i = 0, sum = 0; i < buckets; ++i) sum += starts[i], starts[i] = sum - starts[i];
    const [keysFrom, orderFrom] = from, [keysTo, orderTo] = to, shift = pass * bits;
    for (let i = 0; i < n; ++i) {
      const key = keysFrom[i], at = starts[key >>> shift & (buckets - 1)]++;
      keysTo[at] = key;
      orderTo[at] = orderFrom[i];
    }
    [from, to] = [to, from];
  }
  return from[1];
}
