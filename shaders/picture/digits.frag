// Counts, in a tile of 7 words of 32 texels, the next four bits of codes: for each percentile among the texels whose
// higher bits are those found so far. A fragment counts for one percentile per render target, in bytes, which do not
// overflow with 224 texels. Percentiles with the same higher bits as an earlier one are left to that one (choose.frag).
// Needs weighing.glsl before it.
//     texture0   the bit planes of keys.frag
//     texture1   the state of choose.frag: a texel per percentile; not with FIRST
//     columns    percentiles 0 .. LAYERS - 1 of tiles 0 .. columns - 1 | the next percentiles of these tiles | ...
//     target l   byte b of word w: digit 4 w + b. With FIRST, target 0 counts for all percentiles, target 1 the NaNs.
uniform highp usampler2DArray texture0;
#ifndef FIRST
uniform highp usampler2D texture1;
uniform int turn;  // the group of bits
#endif
layout(location = 0) out uvec4 counts[LAYERS];

uvec4 planes(int group, ivec2 at) {
    return texelFetch(texture0, ivec3(at.x + group / PLANE_LAYERS * size.x, at.y, group % PLANE_LAYERS), 0);
}

uint bits(uint word) { return uint(bitCount(word)); }
// The numbers of texels whose lower two bits are 0, 1, 2 and 3, as bytes.
uint four(uint texels, uvec4 digit) {
    uint high = texels & digit.z, low = texels ^ high, both = high & digit.w, one = low & digit.w;
    return bits(low ^ one) | bits(one) << 8 | bits(high ^ both) << 16 | bits(both) << 24;
}
uvec4 sixteen(uint texels, uvec4 digit) {
    uint high = texels & digit.x, low = texels ^ high, both = high & digit.y, one = low & digit.y;
    return uvec4(four(low ^ one, digit), four(one, digit), four(high ^ both, digit), four(both, digit));
}

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int word = 7 * (place.y * columns + place.x % columns), end = min(word + 7, size.x * size.y);
    uvec4 sums[LAYERS];
    for (int l = 0; l < LAYERS; ++l) sums[l] = uvec4(0u);
#ifdef FIRST
    for (; word < end; ++word) {
        ivec2 at = ivec2(word % size.x, word / size.x);
        uint texels = counted(at);
        uvec4 digit = planes(0, at), second = planes(1, at), third = planes(2, at);
        sums[0] += sixteen(texels, digit);
        // The upper nine bits of the infinite value are ones, too.
        uvec4 all = digit & second;
        sums[1].x += bits(texels & all.x & all.y & all.z & all.w & third.x & third.y);
    }
#else
    int first = range() * LAYERS;
    uint codes[LAYERS], mine[LAYERS];
    for (int l = 0; l < LAYERS; ++l) {
        int p = first + l;
        codes[l] = texelFetch(texture1, ivec2(min(p, NUMBER - 1), 0), 0).x;
        mine[l] = p < NUMBER ? 0xffffffffu : 0u;
        for (int q = 0; q < p; ++q) {
            if (texelFetch(texture1, ivec2(min(q, NUMBER - 1), 0), 0).x == codes[l]) mine[l] = 0u;
        }
    }
    for (; word < end; ++word) {
        ivec2 at = ivec2(word % size.x, word / size.x);
        uint texels[LAYERS], any = counted(at);
        for (int l = 0; l < LAYERS; ++l) texels[l] = mine[l] & any;
        for (int group = 0; group < turn && any != 0u; ++group) {
            uvec4 digit = planes(group, at);
            any = 0u;
            for (int l = 0; l < LAYERS; ++l) {
                uvec4 same = digit ^ (((uvec4(codes[l] >> (28 - 4 * group)) >> uvec4(3u, 2u, 1u, 0u)) & 1u) - 1u);
                texels[l] &= same.x & same.y & same.z & same.w;
                any |= texels[l];
            }
        }
        if (any == 0u) continue;
        uvec4 digit = planes(turn, at);
        for (int l = 0; l < LAYERS; ++l) {
            if (texels[l] != 0u) sums[l] += sixteen(texels[l], digit);
        }
    }
#endif
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
