// The lanes of a subgroup order the keys of a tile together: lane l has keys KEYS l ... in v. Fragment (x, y) is lane
// (x & 1) | (y & 7) << 1 | (x & 2) << 3. Steps are written out, since a compiler may not unroll loops of this length.
int lane() {
    return int(gl_SubgroupInvocationID);
}

// The larger or the smaller of both.
KEY kept(KEY mine, KEY other, bool greater) {
#if WORDS == 1
    return greater ? max(mine, other) : min(mine, other);
#else
    return LESS(mine, other) == greater ? other : mine;
#endif
}

// Each lane and the one whose number differs in `bit` keep the smaller and the larger of their keys. The larger goes to
// the lane with the bit set or, with `descending`, to the other one.
void exchange_lanes(inout KEY v[KEYS], int bit, bool descending) {
    bool greater = ((lane() >> bit & 1) != 0) != descending;
    for (int k = 0; k < KEYS; ++k) v[k] = kept(v[k], subgroupShuffleXor(v[k], 1u << uint(bit)), greater);
}

// Sorts a bitonic sequence over 2^lanes_log2 lanes.
void merge_lanes(inout KEY v[KEYS], int lanes_log2) {
    if (lanes_log2 > 4) exchange_lanes(v, 4, false);
    if (lanes_log2 > 3) exchange_lanes(v, 3, false);
    if (lanes_log2 > 2) exchange_lanes(v, 2, false);
    if (lanes_log2 > 1) exchange_lanes(v, 1, false);
    if (lanes_log2 > 0) exchange_lanes(v, 0, false);
    BITONIC_NETWORK(v)
}

void merge_lanes_descending(inout KEY v[KEYS]) {
    exchange_lanes(v, 4, true);
    exchange_lanes(v, 3, true);
    exchange_lanes(v, 2, true);
    exchange_lanes(v, 1, true);
    exchange_lanes(v, 0, true);
    DESCENDING_NETWORK(v)
}
