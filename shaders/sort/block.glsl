// A block of 32 words: KEYS consecutive keys of WORDS words each, in the 8 texels that a fragment writes to 8 render
// targets. WORDS is 1, 2 (low word first) or 4 (three and a zero).
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

uvec4 texel_of(KEY v[KEYS], int g) {
#if WORDS == 1
    return uvec4(v[4 * g], v[4 * g + 1], v[4 * g + 2], v[4 * g + 3]);
#elif WORDS == 2
    return uvec4(v[2 * g], v[2 * g + 1]);
#else
    return uvec4(v[g], 0u);
#endif
}

// To the 8 render targets, one by one, since OpenGL ES indexes outputs by constants only.
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
