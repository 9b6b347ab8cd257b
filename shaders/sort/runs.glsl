// The runs that a merge pass joins. Segments are sorted by themselves: blocks [0, blocks) are one; with SEGMENTS, each
// pair of blocks looks up its own in texture2 (first block, end block). Run r of a segment is its blocks
// [r run, (r + 1) run), cut at the segment's end, and two consecutive runs are merged into one, of which `kept` blocks
// are written: all, or half of them, one run's worth, where the rest cannot be among the first keys that are wanted.
uniform highp usampler2DArray texture0;  // keys in runs, banked
uniform highp usampler2D texture1;       // cuts
uniform int blocks;
uniform int run;
uniform int kept;
uniform int pairs;  // that are written; fragments behind them repeat the last
#ifdef SEGMENTS
uniform highp usampler2D texture2;
#endif

struct Runs {
    int begin;   // the first run is blocks [begin, middle), the second [middle, end)
    int middle;
    int end;
    int before;  // blocks of the merged run before the pair
};

Runs runs_of(int pair) {
    ivec2 segment = ivec2(0, blocks);
#ifdef SEGMENTS
    segment = ivec2(texelFetch(texture2, place_of_pair(pair), 0).xy);
#endif
    int block = 2 * pair - segment.x;
    int begin = segment.x + block / kept * (2 * run);
    return Runs(begin, min(begin + run, segment.y), min(begin + 2 * run, segment.y), block % kept);
}

// Merged runs are cut at the end of the even block of every pair: that many keys of both come before it. Positions are
// counted in keys from the start of the texture. Equal keys are taken from the first run first, so a cut is unique, and
// later cuts are nowhere before it.
int sum_of_cut(Runs runs) {
    return (runs.begin + runs.middle + runs.before + 1) * KEYS;
}

// The part of the first run, of the i-th pair that texture1 knows.
int cut_of(int i) {
    return int(texelFetch(texture1, place_of_pair(i), 0).x);
}
