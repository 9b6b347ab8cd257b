// Counts the texels of each bin in a tile: 7 words of 32 texels. A fragment counts 16 bins per render target, in bytes,
// which do not overflow with 224 texels. The texels of a bin are the product of the bit planes or their complements.
// Needs weighing.glsl before it.
//     texture0   the bit planes of codes.frag
//     columns    bins 0 .. B - 1 of tiles 0 .. columns - 1 | bins B .. 2 B - 1 of these tiles | ...     (row r: tiles r columns ..)
//     target l   byte b of word w: bin 16 l + 4 w + b of the fragment's B bins
uniform highp usampler2DArray texture0;
layout(location = 0) out uvec4 counts[LAYERS];

uvec4 a, b, c;  // the planes of a word

uint bits(uint word) { return uint(bitCount(word)); }
uint four(uint texels) {
    uint high = texels & a.z, low = texels ^ high, both = high & a.y, one = low & a.y;
    return bits(low ^ one) | bits(one) << 8 | bits(high ^ both) << 16 | bits(both) << 24;
}
// The number of texels in each of bins 16 group .. 16 group + 15.
uvec4 sixteen(uint group) {
    uvec4 flip = ((uvec4(group) >> uvec4(0u, 1u, 2u, 3u)) & 1u) - 1u;
    uvec2 flip_high = ((uvec2(group) >> uvec2(4u, 5u)) & 1u) - 1u;
    uint texels = a.x & (b.y ^ flip.x) & (b.z ^ flip.y) & (b.w ^ flip.z) & (c.x ^ flip.w) & (c.y ^ flip_high.x) &
                  (c.z ^ flip_high.y);
    uint high = texels & b.x, low = texels ^ high, both = high & a.w, one = low & a.w;
    return uvec4(four(low ^ one), four(one), four(high ^ both), four(both));
}

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    uint group = uint(range() * LAYERS);
    int word = 7 * (place.y * columns + place.x % columns), end = min(word + 7, size.x * size.y);
    uvec4 sums[LAYERS];
    for (int l = 0; l < LAYERS; ++l) sums[l] = uvec4(0u);
    b = c = uvec4(0u);
    for (; word < end; ++word) {
        ivec2 at = ivec2(word % size.x, word / size.x);
        a = texelFetch(texture0, ivec3(at, 0), 0);
        a.x &= counted(at);
#if PLANE_LAYERS > 1
        b = texelFetch(texture0, ivec3(at, 1), 0);
#endif
#if PLANE_LAYERS > 2
        c = texelFetch(texture0, ivec3(at, 2), 0);
#endif
        for (int l = 0; l < LAYERS; ++l) sums[l] += sixteen(group + uint(l));
    }
    counts[0] = sums[0];
#if LAYERS > 1
    counts[1] = sums[1];
#endif
#if LAYERS > 2
    counts[2] = sums[2];
#endif
#if LAYERS > 3
    counts[3] = sums[3];
#endif
#if LAYERS > 4
    counts[4] = sums[4];
#endif
#if LAYERS > 5
    counts[5] = sums[5];
#endif
#if LAYERS > 6
    counts[6] = sums[6];
#endif
#if LAYERS > 7
    counts[7] = sums[7];
#endif
}
