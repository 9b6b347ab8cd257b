// Finds a percentile of n sorted keys (banked.glsl or tiles.glsl). It writes the key with the index phi / 2^32 * (n - 1),
// rounded to the nearest integer.
//     texture0   the keys
//     texture1   with HAS_NANS, n: the number of keys that are not NaNs
uniform highp usampler2DArray texture0;
#ifdef HAS_NANS
uniform highp usampler2D texture1;
#else
uniform uint count;
#endif
uniform uint phi;
out uint key;

void main() {
#ifdef HAS_NANS
    uint count = texelFetch(texture1, ivec2(0), 0).x;
#endif
    uint index, rest;
    umulExtended(max(count, 1u) - 1u, phi, index, rest);
    key = sorted_key(texture0, int(index + (rest >> 31)));
}
