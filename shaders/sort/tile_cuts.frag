// Cuts the four runs of a group before every block and after the last one. Layer 0 has the number of keys of each run
// that come before the block. Layer 1 has the smallest key of the granules that it reads, the largest key of those that
// the previous block reads, where the group's first run begins, and the rest of the segment there (the keys if EXACT
// merging uses floats). An interval [low, high] holds each run's cut, and every round looks at the middle of all
// intervals. If the middles add up to too many keys, the run with the largest key there is cut no later than there. If
// they add up to too few, the run with the smallest key is cut after it.
//     texture0   the runs, in tiles
uniform highp usampler2DArray texture0;
layout(location = 0) out uvec4 cuts;
layout(location = 1) out uvec4 ends;

// Key i of the run that begins at granule `base`.
KEY key_at(int base, int i) {
    return sorted_key(texture0, (base << LOG2_GRANULE_KEYS) + i);
}

int pick(ivec4 v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

ivec4 put(ivec4 v, int i, int value) {
    return ivec4(i == 0 ? value : v.x, i == 1 ? value : v.y, i == 2 ? value : v.z, i == 3 ? value : v.w);
}

// Cuts with `before` keys before them in total.
ivec4 find_cuts(int base, ivec4 size, int before) {
    ivec4 low = max(ivec4(0), before - (sum(size) - size));
    ivec4 high = min(size, ivec4(before));
    ivec4 middle = (low + high) >> 1;
    KEY at[4] = KEY[4](KEY(0u), KEY(0u), KEY(0u), KEY(0u));
    for (int r = 0; r < 4; ++r) {
        if (low[r] < high[r]) at[r] = key_at(base + stride * r, middle[r]);
    }
    for (;;) {
        if (sum(low) >= before) return low;
        if (sum(high) <= before) return high;
        bool many = sum(middle) >= before;
        int chosen = -1;
        KEY best = at[0];
        for (int r = 0; r < 4; ++r) {
            bool better = many ? !LESS(at[r], best) : LESS(at[r], best);
            if (low[r] < high[r] && (chosen < 0 || better)) {
                chosen = r;
                best = at[r];
            }
        }
        int l = pick(low, chosen), h = pick(high, chosen), m = (l + h) >> 1;
        if (many) {
            h = m;
        } else {
            l = m + 1;
        }
        m = (l + h) >> 1;
        low = put(low, chosen, l);
        high = put(high, chosen, h);
        middle = put(middle, chosen, m);
        if (l < h) {
            KEY key = key_at(base + stride * chosen, m);
            for (int r = 0; r < 4; ++r) at[r] = r == chosen ? key : at[r];
        }
    }
    return low;
}

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int block = min(place.y << row_log2 | place.x, blocks);
    Group group = group_of(block);
    ivec4 size = sizes(group.left);
    ivec4 cut = ivec4(0);
    if (block < blocks && group.nth > 0) {
        cut = find_cuts(group.base, size << LOG2_GRANULE_KEYS, group.nth * OUTPUT_STEP << LOG2_GRANULE_KEYS);
    }
    cuts = uvec4(cut);
    ends = uvec4(0u, 0u, uint(group.base), uint(group.left));
#if defined(EXACT) && WORDS == 1
    bool first = block == blocks || group.nth == 0;
    Group behind = group_of(max(block - 1, 0));
    ivec4 before = first ? sizes(behind.left) << LOG2_GRANULE_KEYS : cut;
    uint least = 0xffffffffu, greatest = 0u;
    for (int r = 0; r < 4; ++r) {
        if (block < blocks && cut[r] < size[r] << LOG2_GRANULE_KEYS) {
            least = min(least, key_at(group.base + stride * r, cut[r]));
        }
        if (block > 0 && before[r] > 0) {
            greatest = max(greatest, key_at((first ? behind.base : group.base) + stride * r, before[r] - 1));
        }
    }
    ends.xy = uvec2(least, greatest);
#endif
}
