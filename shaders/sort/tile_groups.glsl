// A level of the merge engine by subgroups: every four runs of a segment, a group, become one. What a subgroup adds to
// it is a block, OUTPUT_STEP granules; blocks are numbered group after group, segment after segment. All is counted in
// granules.
uniform int run;             // in each of the four, but maybe the last ones of a segment
uniform int blocks;          // there are
uniform int segments;
uniform int segment_size;
uniform int last_size;       // of the last segment
uniform int segment_blocks;  // of a segment
uniform int group_blocks;    // of a group, but maybe the last one of a segment
uniform int stride;          // from one run to the next where keys lie
uniform int segment_stride;  // from one segment to the next where keys lie

struct Group {
    int base;    // where its first run begins
    int left;    // granules of the segment from there on
    int nth;     // which of its blocks it is
};

Group group_of(int block) {
    int segment = min(block / segment_blocks, segments - 1);
    int within = block - segment * segment_blocks;
    int group = within / group_blocks;
    return Group(segment * segment_stride + group * 4 * stride,
                 (segment == segments - 1 ? last_size : segment_size) - group * 4 * run, within - group * group_blocks);
}

// Granules of each run.
ivec4 sizes(int left) {
    return clamp(ivec4(left) - ivec4(0, 1, 2, 3) * run, 0, run);
}

int sum(ivec4 v) {
    return v.x + v.y + v.z + v.w;
}
