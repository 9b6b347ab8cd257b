// The estimate of a key, the least of its counters (QSketch, algorithms 1 to 3): fragment i, row after row in rows of
// estimates_width, is that of key i.
//     texture3   the table: four counters a texel, in rows of 2^table_log2; of LEVELS two texels a bucket, 28 counters
//                of 8 bits and the index of its high ones
//     texture4   of LEVELS: high counters, seven texels a bucket, in rows of 2^high_log2
uniform highp usampler2D texture3;
uniform int table_log2;
uniform int estimates_width;
out uint estimate;

ivec2 place_in(int texel, int log2_width) {
    return ivec2(texel & ((1 << log2_width) - 1), texel >> log2_width);
}

// Without an index, which some drivers make memory of.
uint component(uvec4 texel, uint i) {
    uvec2 half_texel = (i & 2u) != 0u ? texel.zw : texel.xy;
    return (i & 1u) != 0u ? half_texel.y : half_texel.x;
}

#ifdef LEVELS
uniform highp usampler2D texture4;
uniform int high_log2;

uint counter(uint cell) {
    int bucket = int(cell / 28u);
    int slot = int(cell % 28u);
    uvec4 half_bucket = texelFetch(texture3, place_in(2 * bucket + (slot >> 4), table_log2), 0);
    uint low = component(half_bucket, uint(slot >> 2)) >> (8 * (slot & 3)) & 0xffu;
    uint index = texelFetch(texture3, place_in(2 * bucket + 1, table_log2), 0).w;
    if (index < 1024u) return low;
    uvec4 high = texelFetch(texture4, place_in(int(index - 1024u) * 7 + (slot >> 2), high_log2), 0);
    return low + component(high, uint(slot));
}
#else
uint counter(uint cell) {
    return component(texelFetch(texture3, place_in(int(cell >> 2), table_log2), 0), cell);
}
#endif

#if BUCKET == 8 && !defined(LEVELS)
// Both texels of the bucket are read at once with the mask, not one after the other when the mask is there.
uint least_of(uvec2 key) {
    uint h = hash(key, 0);
    int texel = 2 * int(h % columns);
    uvec4 first = texelFetch(texture3, place_in(texel, table_log2), 0);
    uvec4 second = texelFetch(texture3, place_in(texel + 1, table_log2), 0);
    uvec4 positions = positions_of(h);
    uint mask = 0u;
    for (int i = 0; i < DEPTH; ++i) mask |= 1u << position(positions, i);
    uvec4 bits = uvec4(mask) >> uvec4(0u, 1u, 2u, 3u);
    uvec4 least = min(first | ((bits & 1u) - 1u), second | ((bits >> 4 & 1u) - 1u));  // all ones where it has no bit
    return min(min(least.x, least.y), min(least.z, least.w));
}
#else
uint least_of(uvec2 key) {
    uint least = 0xffffffffu;
#if BUCKET == 0
    for (int i = 0; i < DEPTH; ++i) least = min(least, counter(cell_of(key, i)));
#else
    uint h = hash(key, 0);
    uint first = h % columns * uint(BUCKET);
    uvec4 positions = positions_of(h);
    for (int i = 0; i < DEPTH; ++i) least = min(least, counter(first + position(positions, i)));
#endif
    return least;
}
#endif

void main() {
    estimate = least_of(key_at(int(gl_FragCoord.y) * estimates_width + int(gl_FragCoord.x)));
}
