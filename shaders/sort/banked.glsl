// Keys in a banked texture: its layers are render targets, and the texels of a fragment are a block (block.glsl).
// Even blocks are in the lower half of the texture, odd ones in the upper half, so that different programs can draw the
// two blocks of a pair. The row above both halves has texels with the smallest key (x = 0) and the largest (x = 1).
uniform int row_log2;     // a row has 2^row_log2 pairs of blocks
uniform int half_height;  // rows of each half

// Position of the even block of a pair. 32 consecutive pairs are a tile of 8 x 4 texels, so that fragments that run
// together read from few cache lines.
ivec2 place_of_pair(int pair) {
    int tile = pair >> 5;
    int tiles_log2 = row_log2 - 3;
    return ivec2((tile & ((1 << tiles_log2) - 1)) << 3 | (pair & 7), tile >> tiles_log2 << 2 | (pair >> 3 & 3));
}

ivec2 place_of(int block) {
    ivec2 place = place_of_pair(block >> 1);
    return ivec2(place.x, place.y + ((block & 1) != 0 ? half_height : 0));
}

int pair_of(ivec2 place) {
    int tile = (place.y >> 2) << (row_log2 - 3) | place.x >> 3;
    return tile << 5 | (place.y & 3) << 3 | (place.x & 7);
}

// Which half a pass draws: with UPPER the upper one; with BOTH, an odd block is in the upper one.
bool is_upper() {
#if defined(BOTH)
    return int(gl_FragCoord.y) >= half_height;
#elif defined(UPPER)
    return true;
#else
    return false;
#endif
}

// The pair of the block that a fragment writes.
int pair_drawn() {
    return pair_of(ivec2(gl_FragCoord.xy) - ivec2(0, is_upper() ? half_height : 0));
}

KEY sorted_key(highp usampler2DArray keys, int i) {
    int within = i & (KEYS - 1);
    return key_in(texelFetch(keys, ivec3(place_of(i >> LOG2_KEYS), within / TEXEL_KEYS), 0), within % TEXEL_KEYS);
}
