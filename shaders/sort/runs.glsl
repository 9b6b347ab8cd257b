// The runs that a merge pass joins. Segments are sorted separately. Blocks [0, blocks) are a single segment; with
// SEGMENTS, each pair of blocks looks up its segment in texture2 (first block, end block). Run r of a segment is its
// blocks [r run, (r + 1) run), cut off at the segment's end. Two consecutive runs are merged into one, of which `kept`
// blocks are written: all, or only the length of one run if the rest cannot be among the first keys that are wanted.
uniform highp usampler2DArray texture0;  // keys in runs, banked
uniform highp usampler2D texture1;       // cuts
uniform ivec4 level;  // blocks, run, kept, and the pairs that are written: later fragments repeat the last one
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
    int run = level.y;
    int kept = level.z;
    ivec2 segment = ivec2(0, level.x);
#ifdef SEGMENTS
    segment = ivec2(texelFetch(texture2, place_of_pair(pair), 0).xy);
#endif
    int block = 2 * pair - segment.x;
    int begin = segment.x + block / kept * (2 * run);
    return Runs(begin, min(begin + run, segment.y), min(begin + 2 * run, segment.y), block % kept);
}

// Merged runs are cut at the end of the even block of every pair: this many keys of both runs come before the cut.
// Positions are counted in keys from the start of the texture. Of equal keys, those of the first run come first, so a
// cut is unique, and later cuts are never before it.
int sum_of_cut(Runs runs) {
    return (runs.begin + runs.middle + runs.before + 1) * KEYS;
}

// The first run's part of a cut is within these.
ivec2 ends_of_cut(Runs runs) {
    int sum = sum_of_cut(runs);
    return ivec2(max(runs.begin * KEYS, sum - runs.end * KEYS), min(runs.middle * KEYS, sum - runs.middle * KEYS));
}

int find_cut(int sum, int from, int to) {
    while (from < to) {  // it is in [from, to]
        int middle = (from + to) >> 1;
        bool less = LESS(sorted_key(texture0, sum - 1 - middle), sorted_key(texture0, middle));
        from = less ? from : middle + 1;
        to = less ? middle : to;
    }
    return from;
}

// The first run's part of the cut of the i-th pair in texture1.
int cut_of(int i) {
    return int(texelFetch(texture1, place_of_pair(i), 0).x);
}
