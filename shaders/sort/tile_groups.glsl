// A level of the merge engine with subgroups: every four runs of a segment, called a group, become one. A subgroup
// makes a block of OUTPUT_STEP granules. Blocks are numbered group after group, segment after segment. All lengths are
// in granules.
uniform int run;             // length of each of the four; the last ones of a segment may be shorter
uniform int blocks;          // number of blocks
uniform int segments;
uniform int segment_size;
uniform int last_size;       // size of the last segment
uniform int segment_blocks;  // blocks per segment
uniform int group_blocks;    // blocks per group; the last group of a segment may have fewer
uniform int stride;          // distance between runs
uniform int segment_stride;  // distance between segments

struct Group {
    int base;    // start of its first run
    int left;    // granules of the segment from there on
    int nth;     // index of the block in its group
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
