// A pass of the merge engine: merges two runs into one. The cut of a pair of blocks (runs.glsl) says where, in each
// run, the keys of its even block end and those of its odd block begin. The odd, upper block has the lowest KEYS of
// the keys after the cut, the even one the highest KEYS of those before it. For the odd block:
//     a[k], b[k]   the k-th key of each run after the cut, or the largest key after the run's end
//     min(a[k], b[KEYS - 1 - k])   the lowest KEYS keys of both, a bitonic sequence, which a network then sorts
// Loads stay aligned to texels: register r holds the key whose position is r modulo KEYS, so the keys of a run are
// rotated in its registers. The two parts of a cut add up to a multiple of KEYS, so a, rotated by s, meets the reversed
// b rotated by the same s. The result is a rotated bitonic sequence, which the network sorts as well.
// SEARCH: the pass searches the cut of each block itself.
// The last pass writes keys as bits of their type. The uniforms of the others keep them as numbers.
layout(location = 0) out uvec4 block[LAYERS];

// Loads keys [start, start + KEYS) of the run of blocks [begin, end).
void load(int start, int begin, int end, out KEY v[KEYS]) {
    int q = start >> LOG2_KEYS;
    ivec2 here = place_of(q);
    ivec2 next = place_of(q + 1);
    if (is_upper()) {
        ivec2 beyond = ivec2(1, 2 * half_height);
        if (q >= end) here = beyond;
        if (q + 1 >= end) next = beyond;
    } else if (q < begin) {
        here = ivec2(0, 2 * half_height);
    }
    int turn = start & (KEYS - 1);
    int cut_texel = turn / TEXEL_KEYS;  // its first keys come from the next block
    int cut_key = turn & (TEXEL_KEYS - 1);
    uvec4 other = texelFetch(texture0, ivec3(next, cut_texel), 0);
    for (int g = 0; g < LAYERS; ++g) {
        uvec4 texel = texelFetch(texture0, ivec3(g < cut_texel ? next : here, g), 0);
        for (int c = 0; c < TEXEL_KEYS; ++c) {
            v[g * TEXEL_KEYS + c] = key_in(g == cut_texel && c < cut_key ? other : texel, c);
        }
    }
}

void main() {
    int pair = min(pair_drawn(), level.w - 1);
    bool upper = is_upper();
    Runs runs = runs_of(pair);
    int sum = sum_of_cut(runs);
#ifdef SEARCH
    ivec2 ends = ends_of_cut(runs);
    int cut = find_cut(sum, ends.x, ends.y);
#else
    int cut = cut_of(pair);
#endif
    ivec2 start = ivec2(cut, sum - cut) - (upper ? 0 : KEYS);
    KEY a[KEYS];
    KEY b[KEYS];
    load(start.x, runs.begin, runs.middle, a);
    load(start.y, runs.middle, runs.end, b);
    KEY v[KEYS];
    for (int k = 0; k < KEYS; ++k) v[k] = ONE_OF(!upper, a[k], b[KEYS - 1 - k]);
    BITONIC_NETWORK(v)
    for (int k = 0; k < KEYS; ++k) v[k] = to_bits(v[k]);
    WRITE_BLOCK(block, v)
}
