// Searches the cuts of runs (runs.glsl) for every 2^stride_log2-th pair of blocks.
//     texture1   COARSE: the cuts of every 2^coarse_log2-th pair, which bound the search
uniform int stride_log2;
uniform int coarse_log2;
out uint cut;

KEY key_at(int e) {
    int within = e & (KEYS - 1);
    return key_in(texelFetch(texture0, ivec3(place_of(e >> LOG2_KEYS), within / TEXEL_KEYS), 0), within % TEXEL_KEYS);
}

void main() {
    int pair = min(pair_of(ivec2(gl_FragCoord.xy)) << stride_log2, level.w - 1);
    Runs runs = runs_of(pair);
    int sum = sum_of_cut(runs);
    int from = max(runs.begin * KEYS, sum - runs.end * KEYS);
    int to = min(runs.middle * KEYS, sum - runs.middle * KEYS);
#ifdef COARSE
    int before = pair >> coarse_log2 << coarse_log2;
    int after = before + (1 << coarse_log2);
    if (2 * (pair - before) <= runs.before) {
        int known = cut_of(before >> coarse_log2);
        from = max(from, known);
        to = min(to, known + (pair - before) * 2 * KEYS);
    }
    if (runs.before + 2 * (after - pair) < min(level.z, runs.end - runs.begin)) {
        int known = cut_of(after >> coarse_log2);
        from = max(from, known - (after - pair) * 2 * KEYS);
        to = min(to, known);
    }
#endif
    while (from < to) {  // the cut is in [from, to]
        int middle = (from + to) >> 1;
        bool less = LESS(key_at(sum - 1 - middle), key_at(middle));
        from = less ? from : middle + 1;
        to = less ? middle : to;
    }
    cut = uint(from);
}
