// The runs that a merge pass joins. Segments are sorted by themselves: blocks [0, blocks) are one; with SEGMENTS, each
// pair of blocks looks up its own in texture2 (first block, end block). Run r of a segment is its blocks
// [r run, (r + 1) run), cut at the segment's end, and WAYS consecutive runs are merged into one.
uniform int blocks;
uniform int run;
#ifdef SEGMENTS
uniform highp usampler2D texture2;
#endif

// begin[r] is the first block of run r of the group that the pair is in; begin[WAYS] is the end of the last run.
void find_runs(int pair, out int begin[WAYS + 1]) {
    ivec2 segment = ivec2(0, blocks);
#ifdef SEGMENTS
    segment = ivec2(texelFetch(texture2, place_of_pair(pair), 0).xy);
#endif
    int first = segment.x + (2 * pair - segment.x) / (WAYS * run) * (WAYS * run);
    for (int r = 0; r <= WAYS; ++r) begin[r] = min(first + r * run, segment.y);
}
