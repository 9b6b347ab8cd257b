// Searches the cuts of runs (runs.glsl) for every 2^stride_log2-th pair of blocks.
//     texture1   COARSE: the cuts of every 2^coarse_log2-th pair, which bound the search
uniform int stride_log2;
uniform int coarse_log2;
out uint cut;

void main() {
    int pair = min(pair_of(ivec2(gl_FragCoord.xy)) << stride_log2, level.w - 1);
    Runs runs = runs_of(pair);
    ivec2 ends = ends_of_cut(runs);
    int from = ends.x;
    int to = ends.y;
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
    cut = uint(find_cut(sum_of_cut(runs), from, to));
}
