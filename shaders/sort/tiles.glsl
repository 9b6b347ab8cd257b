// Keys in tiles. A subgroup of 32 fragments writes a tile: a box of 4 x 8 texels in 8 layers, which are 8 render
// targets. A fragment's block (block.glsl) is a lane of the tile, and lane after lane has KEYS consecutive keys.
// Merging moves granules of two texels each: a lane has 4, a tile 128. Of the tiles that a pass reads, only INPUT_STEP
// granules from INPUT_HEAD on count; the others have keys that are not used. The row above the tiles has texels with
// the smallest key (x = 0) and the largest (x = 1).
#define GRANULE_KEYS (8 / WORDS)
#define LOG2_GRANULE_KEYS (LOG2_KEYS - 2)
const int granules = 128;

uniform int row_log2;  // a row has 2^row_log2 tiles

ivec2 in_row(int tile) {
    return ivec2(tile & ((1 << row_log2) - 1), tile >> row_log2);
}

int tile_at(ivec2 texel) {
    return texel.y >> 3 << row_log2 | texel.x >> 2;
}

// The first of the granule's two texels.
ivec3 place_of_granule(int granule) {
    int tile = int(uint(granule) / uint(INPUT_STEP));
    int slot = granule - tile * INPUT_STEP + INPUT_HEAD;
    int lane = slot >> 2;
    return ivec3(in_row(tile) * ivec2(4, 8) + ivec2((lane & 1) | lane >> 4 << 1, lane >> 1 & 7), (slot & 3) << 1);
}

KEY sorted_key(highp usampler2DArray keys, int i) {
    int within = i & (GRANULE_KEYS - 1);
    ivec3 place = place_of_granule(i >> LOG2_GRANULE_KEYS) + ivec3(0, 0, within / TEXEL_KEYS);
    return key_in(texelFetch(keys, place, 0), within % TEXEL_KEYS);
}
