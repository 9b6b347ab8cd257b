// Keys in a banked texture: its 8 layers are 8 render targets, and the 8 texels of a fragment are a block of 32 words,
// which are KEYS consecutive keys of WORDS words each. Even blocks lie in the lower half of the texture, odd ones in
// the upper half, so that the two of a pair are drawn by different programs: UPPER says which. The row above both
// halves has texels of the smallest key (x = 0) and the largest (x = 1). WORDS is 1, 2 (low word first) or 4 (three and
// a zero).
#if WORDS == 1
#define KEY uint
#define KEYS 32
#define LOG2_KEYS 5
#define LESS(a, b) ((a) < (b))
#define LOWER(a, b) min(a, b)
#define HIGHER(a, b) max(a, b)
#define EXCHANGE(a, b) { uint t = min(a, b); b = max(a, b); a = t; }
#elif WORDS == 2
#define KEY uvec2
#define KEYS 16
#define LOG2_KEYS 4
bool LESS(uvec2 a, uvec2 b) {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
#else
#define KEY uvec3
#define KEYS 8
#define LOG2_KEYS 3
bool LESS(uvec3 a, uvec3 b) {
    return a.z < b.z || (a.z == b.z && (a.y < b.y || (a.y == b.y && a.x < b.x)));
}
#endif
#if WORDS != 1
#define LOWER(a, b) (LESS(b, a) ? (b) : (a))
#define HIGHER(a, b) (LESS(b, a) ? (a) : (b))
#define EXCHANGE(a, b) { bool s = LESS(b, a); KEY t = s ? b : a; b = s ? a : b; a = t; }
#endif
#define TEXEL_KEYS (4 / WORDS)

uniform int row_log2;     // a row has 2^row_log2 pairs of blocks
uniform int half_height;  // rows of even blocks

// Where the even block of a pair is. 32 consecutive pairs are a tile of 8 x 4 texels, so that fragments that run
// together read from few lines of the cache.
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

uvec4 texel_of(KEY v[KEYS], int g) {
#if WORDS == 1
    return uvec4(v[4 * g], v[4 * g + 1], v[4 * g + 2], v[4 * g + 3]);
#elif WORDS == 2
    return uvec4(v[2 * g], v[2 * g + 1]);
#else
    return uvec4(v[g], 0u);
#endif
}

// To the 8 render targets; one by one, since OpenGL ES allows no index but a constant.
#define WRITE_BLOCK(block, v)   \
    block[0] = texel_of(v, 0);  \
    block[1] = texel_of(v, 1);  \
    block[2] = texel_of(v, 2);  \
    block[3] = texel_of(v, 3);  \
    block[4] = texel_of(v, 4);  \
    block[5] = texel_of(v, 5);  \
    block[6] = texel_of(v, 6);  \
    block[7] = texel_of(v, 7);

KEY key_in(uvec4 texel, int c) {
#if WORDS == 1
    return texel[c];
#elif WORDS == 2
    return c == 0 ? texel.xy : texel.zw;
#else
    return texel.xyz;
#endif
}
