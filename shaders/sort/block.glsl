// A block of 32 words: KEYS consecutive keys of WORDS words each, in the 8 texels that a fragment writes to 8 render
// targets. With LAYERS 4, a block of 16 words in 4 texels. WORDS is 1, 2 (low word first) or 4 (three and a zero).
#ifndef LAYERS
#define LAYERS 8
#endif
#if WORDS == 1
#define KEY uint
#define KEYS (4 * LAYERS)
#define LOG2_KEYS (LAYERS == 8 ? 5 : 4)
#define LESS(a, b) ((a) < (b))
#define LOWER(a, b) min(a, b)
#define HIGHER(a, b) max(a, b)
#define EXCHANGE(a, b) { uint t = min(a, b); b = max(a, b); a = t; }
#elif WORDS == 2
#define KEY uvec2
#define KEYS (2 * LAYERS)
#define LOG2_KEYS (LAYERS == 8 ? 4 : 3)
bool LESS(uvec2 a, uvec2 b) {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
#else
#define KEY uvec3
#define KEYS LAYERS
#define LOG2_KEYS (LAYERS == 8 ? 3 : 2)
bool LESS(uvec3 a, uvec3 b) {
    return a.z < b.z || (a.z == b.z && (a.y < b.y || (a.y == b.y && a.x < b.x)));
}
#endif
#if WORDS != 1
#define LOWER(a, b) (LESS(b, a) ? (b) : (a))
#define HIGHER(a, b) (LESS(b, a) ? (a) : (b))
#define EXCHANGE(a, b) { bool s = LESS(b, a); KEY t = s ? b : a; b = s ? a : b; a = t; }
#endif
// The higher or the lower one.
#define ONE_OF(higher, a, b) ((higher) ? HIGHER(a, b) : LOWER(a, b))
#define TEXEL_KEYS (4 / WORDS)

uvec4 texel_of(KEY v[KEYS], int g) {
#if WORDS == 1
    return uvec4(v[4 * g], v[4 * g + 1], v[4 * g + 2], v[4 * g + 3]);
#elif WORDS == 2
    return uvec4(v[2 * g], v[2 * g + 1]);
#else
    return uvec4(v[g], 0u);
#endif
}

// To the render targets, one by one, since OpenGL ES indexes outputs by constants only.
#define WRITE_HALF(block, v, g)       \
    block[g] = texel_of(v, g);        \
    block[g + 1] = texel_of(v, g + 1); \
    block[g + 2] = texel_of(v, g + 2); \
    block[g + 3] = texel_of(v, g + 3);
#if LAYERS == 8
#define WRITE_BLOCK(block, v) WRITE_HALF(block, v, 0) WRITE_HALF(block, v, 4)
#else
#define WRITE_BLOCK(block, v) WRITE_HALF(block, v, 0)
#endif

KEY key_in(uvec4 texel, int c) {
#if WORDS == 1
    return texel[c];
#elif WORDS == 2
    return c == 0 ? texel.xy : texel.zw;
#else
    return texel.xyz;
#endif
}
