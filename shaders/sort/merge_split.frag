// Where the merge of a group of runs is cut in the middle of a pair of blocks: for the pair with index i * stride, how
// many keys of each run are among the first d of the group, d reaching to the end of the pair's even block. Equal keys
// are taken from earlier runs first, so the cut is unique and later cuts are nowhere before it.
//     texture0   keys in runs, banked
//     texture1   with COARSE, the cuts of every `coarse`-th pair: they bound the search
// Written are positions counted in keys from the start of the texture.
//
// Each run has a range [low, high) that its cut lies in, and a key x at the range's middle m. If the middles add up to
// less than d, the smallest x is among the first d, so its range becomes [m + 1, high); else the largest x is not, and its
// range becomes [low, m). Each round costs one fetch.
uniform highp usampler2DArray texture0;
uniform highp usampler2D texture1;
uniform int stride_log2;
uniform int coarse_log2;
uniform int split_row_log2;   // of this target
uniform int coarse_row_log2;  // of texture1
out uvec4 cut;

KEY key_at(int e) {
    int within = e & (KEYS - 1);
    return key_in(texelFetch(texture0, ivec3(place_of(e >> LOG2_KEYS), within / TEXEL_KEYS), 0), within % TEXEL_KEYS);
}

// Near the middle of [from, to), at the first key of a block or texel while the range is wide: neighbouring searches
// then read the same few layers and lines of the texture.
int middle_of(int from, int to) {
    int middle = (from + to) >> 1;
    int coarser = middle & (to - from > 2 * KEYS ? -KEYS : to - from > 2 * TEXEL_KEYS ? -TEXEL_KEYS : -1);
    return coarser >= from ? coarser : middle;
}

uvec4 coarse_cut(int i) {
    return texelFetch(texture1, ivec2(i & ((1 << coarse_row_log2) - 1), i >> coarse_row_log2), 0);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    int pair = stride_log2 == 0 ? pair_of(here) : ((here.y << split_row_log2) | here.x) << stride_log2;
    int begin[WAYS + 1];
    find_runs(pair, begin);
    int low[WAYS];
    int high[WAYS];
    int d = (2 * pair + 1) * KEYS;
    for (int r = 0; r < WAYS; ++r) {
        low[r] = begin[r] * KEYS;
        high[r] = begin[r + 1] * KEYS;
        if (r > 0) d += low[r];
    }
#ifdef COARSE
    int before = pair >> coarse_log2;
    if ((before << coarse_log2) * 2 >= begin[0]) {
        uvec4 bound = coarse_cut(before);
        for (int r = 0; r < WAYS; ++r) low[r] = int(bound[r]);
    }
    if (((before + 1) << coarse_log2) * 2 < begin[WAYS]) {
        uvec4 bound = coarse_cut(before + 1);
        for (int r = 0; r < WAYS; ++r) high[r] = int(bound[r]);
    }
#endif
#if WAYS == 2
    // low[0] + low[1] == d in the end, so one range says all.
    int from = max(low[0], d - high[1]);
    int to = min(high[0], d - low[1]);
    while (from < to) {
        int middle = middle_of(from, to);
        if (LESS(key_at(d - 1 - middle), key_at(middle))) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    cut = uvec4(from, d - from, 0u, 0u);
#else
    int middle[WAYS];
    KEY x[WAYS];
    for (int r = 0; r < WAYS; ++r) {
        middle[r] = middle_of(low[r], high[r]);
        x[r] = key_at(min(middle[r], begin[WAYS] * KEYS - 1));
    }
    while (true) {
        bool up = middle[0] + middle[1] + middle[2] + middle[3] < d;
        int best = -1;
        KEY best_x = KEY(0u);
        for (int r = 0; r < WAYS; ++r) {
            bool open = low[r] < high[r];
            bool better = up ? LESS(x[r], best_x) : !LESS(x[r], best_x);
            if (open && (best < 0 || better)) {
                best = r;
                best_x = x[r];
            }
        }
        if (best < 0) break;
        int from = 0;
        int to = 0;
        for (int r = 0; r < WAYS; ++r) {
            if (best != r) continue;
            if (up) low[r] = middle[r] + 1;
            if (!up) high[r] = middle[r];
            from = low[r];
            to = high[r];
        }
        int m = middle_of(from, to);
        KEY fresh = key_at(min(m, begin[WAYS] * KEYS - 1));
        for (int r = 0; r < WAYS; ++r) {
            if (best != r) continue;
            middle[r] = m;
            x[r] = fresh;
        }
    }
    cut = uvec4(low[0], low[1], low[2], low[3]);
#endif
}
