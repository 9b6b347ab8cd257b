// The estimate of a key, the min of its counters (QSketch, algorithms 1 to 3). Fragment i, row after row in rows of
// estimates_width, is for key i.
//     texture3   the table: four counters per texel, in rows of 2^table_log2. LEVELS: two texels per bucket, 28
//                counters of 8 bits and the index of its high ones. PENDING: packed counters, one bucket per texel of
//                each layer; the table is empty. HALVES: eight counters of 16 bits per texel
//     texture4   LEVELS: high counters, seven texels per bucket, in rows of 2^high_log2
// SAME_PLACES: keys and estimates are in rows of the same width.
#if defined(PENDING)
uniform highp sampler2DArray texture3;
#else
uniform highp usampler2D texture3;
#endif
uniform int table_log2;
#ifndef SAME_PLACES
uniform int estimates_width;
#endif
out uint estimate;

ivec2 place_in(int texel, int log2_width) {
    return ivec2(texel & ((1 << log2_width) - 1), texel >> log2_width);
}

// Without an index, for which some drivers use memory.
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
#elif !defined(PENDING) && !defined(HALVES)
uint counter(uint cell) {
    return component(texelFetch(texture3, place_in(int(cell >> 2), table_log2), 0), cell);
}
#endif

#if defined(HALVES)
uint least_of(uvec2 key) {
    uint h = hash(key, 0);
    uvec4 both = texelFetch(texture3, place_in(int(column_of(h)), table_log2), 0);
    uvec4 bits = (uvec4(mask_of(h)) >> uvec4(0u, 1u, 2u, 3u)) & 0x11u;
    both |= ~((bits * 0x1001u & 0x10001u) * 0xffffu);  // all ones in the halves that the mask lacks
    uvec4 least = min(both & 0xffffu, both >> 16);
    return min(min(least.x, least.y), min(least.z, least.w));
}
#elif (BUCKET == 8 && !defined(LEVELS)) || defined(PENDING)
// All ones for counters first to first + 3 whose bits are not in the mask.
uvec4 absent(uint mask, int first) {
    return ((uvec4(mask) >> uvec4(first, first + 1, first + 2, first + 3)) & 1u) - 1u;
}

// Reads the texels of the bucket together with the mask, without waiting for the mask.
uint least_of(uvec2 key) {
    uint h = hash(key, 0);
    int bucket = int(column_of(h));
#ifdef PENDING
    uint mask = mask_of(h);
    uvec4 least = uvec4(0xffffffffu);
    for (int layer = 0; layer < BUCKET / 8; ++layer) {
        uvec4 both = uvec4(texelFetch(texture3, ivec3(place_in(bucket, table_log2), layer), 0));
        least = min(least, (both & 4095u) | absent(mask, 8 * layer));
        least = min(least, (both >> 12) | absent(mask, 8 * layer + 4));
    }
#else
    uvec4 first = texelFetch(texture3, place_in(2 * bucket, table_log2), 0);
    uvec4 second = texelFetch(texture3, place_in(2 * bucket + 1, table_log2), 0);
    uint mask = mask_of(h);
    uvec4 least = min(first | absent(mask, 0), second | absent(mask, 4));
#endif
    return min(min(least.x, least.y), min(least.z, least.w));
}
#else
uint least_of(uvec2 key) {
    uint least = 0xffffffffu;
#if BUCKET == 0
    for (int i = 0; i < DEPTH; ++i) least = min(least, counter(cell_of(key, i)));
#else
    uint h = hash(key, 0);
    uint first = column_of(h) * uint(BUCKET);
    uvec4 positions = positions_of(h);
    for (int i = 0; i < DEPTH; ++i) least = min(least, counter(first + position(positions, i)));
#endif
    return least;
}
#endif

void main() {
#ifdef SAME_PLACES
    estimate = least_of(key_in(ivec2(gl_FragCoord.xy)));
#else
    estimate = least_of(key_at(int(gl_FragCoord.y) * estimates_width + int(gl_FragCoord.x)));
#endif
}
