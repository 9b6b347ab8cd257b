// Of n sorted keys (banked.glsl or tiles.glsl), the one whose index is nearest to phi / 2^32 (n - 1).
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
