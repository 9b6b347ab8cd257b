// The counters of a key, as in src/sketch/shape.hpp. Needs these constants before it: WORDS (per key), DEPTH, BUCKET
// (counters per bucket; 0: rows), COLUMNS (counters per row, or buckets), with COLUMNS_RECIPROCAL and COLUMNS_SHIFT or,
// if it is a power of two, COLUMNS_ARE_POWER, and the hash functions' constants FACTORS[] and OFFSETS[], which are 64
// bits as low and high word.
//     texture2   for a hash's mask, the positions in the bucket, one byte each; or for mask_of() its bits, with several
//                masks per word, since fragments that run together are faster if they read fewer texels
uniform highp usampler2D texture2;

uint scrambled(uint x) {
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

uvec2 mixed(uvec2 key) {
#if WORDS == 1
    return uvec2(scrambled(key.x), 0u);
#else
    key.x ^= scrambled(key.y + 0x9e3779b9u);
    key.y ^= scrambled(key.x + 0x7f4a7c15u);
    return key;
#endif
}

uint high_product(uint a, uint b) {
    uint high, low;
    umulExtended(a, b, high, low);
    return high;
}

// factor * x modulo 2^64, low word first.
uvec2 product(uvec2 factor, uint x) {
    return uvec2(factor.x * x, high_product(factor.x, x) + factor.y * x);
}

uvec2 sum(uvec2 a, uvec2 b) {
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}

uint hash(uvec2 key, int function) {
    uvec2 all = sum(product(FACTORS[function].xy, key.x), OFFSETS[function]);
#if WORDS == 2
    all = sum(all, product(FACTORS[function].zw, key.y));
#endif
    return all.y;
}

#ifndef COLUMNS_ARE_POWER
// hash / COLUMNS, as explained in src/sketch/reciprocal.hpp.
uint quotient_of(uint hash) {
    uint t = high_product(hash, COLUMNS_RECIPROCAL);
    return (t + ((hash - t) >> 1)) >> COLUMNS_SHIFT;
}
#endif

// hash mod COLUMNS.
uint column_of(uint hash) {
#ifdef COLUMNS_ARE_POWER
    return hash & (COLUMNS - 1u);
#else
    return hash - quotient_of(hash) * COLUMNS;
#endif
}

#if BUCKET > 0
const uint masks_a_word = 32u / uint(BUCKET);
uint mask_of(uint hash) {
    uint i = hash & 1023u;
    uint masks = texelFetch(texture2, ivec2(int(i / masks_a_word), 0), 0).x;
#if BUCKET > 16
    return masks;
#else
    return masks >> (i % masks_a_word * uint(BUCKET)) & ((1u << BUCKET) - 1u);
#endif
}
#endif

uvec4 positions_of(uint hash) {
    return texelFetch(texture2, ivec2(int(hash & 1023u), 0), 0);
}

uint position(uvec4 positions, int i) {
    return positions[i >> 2] >> (8 * (i & 3)) & 0xffu;
}

// The i-th counter of a mixed key.
uint cell_of(uvec2 key, int i) {
#if BUCKET == 0
    return uint(i) * COLUMNS + column_of(hash(key, i));
#else
    uint h = hash(key, 0);
    return column_of(h) * uint(BUCKET) + position(positions_of(h), i);
#endif
}
