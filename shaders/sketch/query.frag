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

#ifdef LEVELS
uniform highp usampler2D texture4;
uniform int high_log2;

uint counter(uint cell) {
    int bucket = int(cell / 28u);
    int slot = int(cell % 28u);
    uvec4 half_bucket = texelFetch(texture3, place_in(2 * bucket + (slot >> 4), table_log2), 0);
    uint low = half_bucket[slot >> 2 & 3] >> (8 * (slot & 3)) & 0xffu;
    uint index = texelFetch(texture3, place_in(2 * bucket + 1, table_log2), 0).w;
    if (index < 1024u) return low;
    return low + texelFetch(texture4, place_in(int(index - 1024u) * 7 + (slot >> 2), high_log2), 0)[slot & 3];
}
#else
uint counter(uint cell) {
    return texelFetch(texture3, place_in(int(cell >> 2), table_log2), 0)[int(cell & 3u)];
}
#endif

void main() {
    uvec2 key = key_at(int(gl_FragCoord.y) * estimates_width + int(gl_FragCoord.x));
    estimate = 0xffffffffu;
    for (int i = 0; i < DEPTH; ++i) estimate = min(estimate, counter(cell_of(key, i)));
}
