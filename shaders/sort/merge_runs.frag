// A pass of the merge engine: WAYS runs become one. The cut of a pair of blocks (merge_split.frag) says where the keys
// of its even block end and those of its odd block begin in each run. The odd block (UPPER) is the lowest KEYS of the
// keys from the cut on, the even one the highest KEYS of those before it; here for the odd block and two runs:
//     a[k], b[k]   the k-th key of each run from the cut on, or the largest key behind its end
//     min(a[k], b[KEYS - 1 - k])   the lowest KEYS keys of both, a bitonic sequence, which a network then sorts
// Loads stay aligned to texels: register r holds the key whose position is r modulo KEYS, so a run lies turned round by
// some places in its registers. The cuts of two runs add up to a multiple of KEYS, so a turned round by s meets the
// reversed b turned round by the same s, and the result is a bitonic sequence turned round, which is as good. Of four
// runs the second and the fourth are loaded with a shift that makes it so.
//     texture0   keys in runs, banked       texture1   the cut of each pair
#ifdef UPPER
#define KEPT(a, b) LOWER(a, b)
#define FIRST_ROW half_height
#else
#define KEPT(a, b) HIGHER(a, b)
#define FIRST_ROW 0
#endif
uniform highp usampler2DArray texture0;
uniform highp usampler2D texture1;
uniform int last;  // 1: write the keys as bits of their type
layout(location = 0) out uvec4 block[8];

// A macro, because compilers must see `step` to keep the keys in registers.
#define TURN(v, step, turned)                                                                    \
    {                                                                                            \
        KEY w[KEYS] = v;                                                                         \
        for (int r = 0; r < KEYS; ++r) v[r] = turned ? w[(r + step) & (KEYS - 1)] : w[r];        \
    }

// Keys [start, start + KEYS) of the run of blocks [begin, end); register r gets position r + shift modulo KEYS.
void load(int start, int begin, int end, int shift, out KEY v[KEYS]) {
    int q = start >> LOG2_KEYS;
#ifdef UPPER
    ivec2 beyond = ivec2(1, 2 * half_height);
    ivec2 here = q < end ? place_of(q) : beyond;
    ivec2 next = q + 1 < end ? place_of(q + 1) : beyond;
#else
    ivec2 here = q >= begin ? place_of(q) : ivec2(0, 2 * half_height);
    ivec2 next = place_of(q + 1);
#endif
    int turn = start & (KEYS - 1);
    int cut_texel = turn / TEXEL_KEYS;  // its first keys come from the next block
    int cut_key = turn & (TEXEL_KEYS - 1);
    uvec4 other = texelFetch(texture0, ivec3(next, cut_texel), 0);
    for (int g = 0; g < 8; ++g) {
        int t = (g + shift / TEXEL_KEYS) & 7;
        uvec4 texel = texelFetch(texture0, ivec3(t < cut_texel ? next : here, t), 0);
        for (int c = 0; c < TEXEL_KEYS; ++c) {
            v[g * TEXEL_KEYS + c] = key_in(t == cut_texel && c < cut_key ? other : texel, c);
        }
    }
#if WAYS == 4 && TEXEL_KEYS >= 2
    TURN(v, 1, (shift & 1) != 0)
#endif
#if WAYS == 4 && TEXEL_KEYS == 4
    TURN(v, 2, (shift & 2) != 0)
#endif
}

void join(KEY a[KEYS], KEY b[KEYS], out KEY v[KEYS]) {
    for (int k = 0; k < KEYS; ++k) v[k] = KEPT(a[k], b[KEYS - 1 - k]);
    BITONIC_NETWORK(v)
}

KEY to_bits(KEY key) {
#if WORDS == 1
    return decode(key);
#elif defined(INDEXED) && WORDS == 2
    return uvec2(key.x, decode(key.y));
#elif WORDS == 2
    return decode(key);
#else
    return uvec3(key.x, decode(key.yz));
#endif
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy) - ivec2(0, FIRST_ROW);
    int begin[WAYS + 1];
    find_runs(pair_of(here), begin);
    ivec4 start = ivec4(texelFetch(texture1, here, 0));
#ifndef UPPER
    start -= KEYS;
#endif
    KEY a[KEYS];
    KEY b[KEYS];
    KEY v[KEYS];
    load(start.x, begin[0], begin[1], 0, a);
#if WAYS == 2
    load(start.y, begin[1], begin[2], 0, b);
    join(a, b, v);
#else
    load(start.y, begin[1], begin[2], (start.x + start.y) & (KEYS - 1), b);
    join(a, b, v);
    KEY w[KEYS];
    load(start.z, begin[2], begin[3], 0, a);
    load(start.w, begin[3], begin[4], (start.z + start.w) & (KEYS - 1), b);
    join(a, b, w);
    a = v;
    join(a, w, v);
#endif
    if (last != 0) {
        for (int k = 0; k < KEYS; ++k) v[k] = to_bits(v[k]);
    }
    for (int g = 0; g < 8; ++g) block[g] = texel_of(v, g);
}
