// The lanes of a subgroup order the keys of a tile together: lane l holds keys KEYS l ... in v. Fragments lie so that the
// lane's number is (x & 1) | (y & 7) << 1 | (x & 2) << 3.
int lane() {
    return int(gl_SubgroupInvocationID);
}

// Each lane and the one whose number differs in `bit` keep the lesser and the greater of both; the greater goes where the
// bit is set, or with `descending` where it is not.
void exchange_lanes(inout KEY v[KEYS], int bit, bool descending) {
    bool greater = ((lane() >> bit & 1) != 0) != descending;
    for (int k = 0; k < KEYS; ++k) {
        KEY other = subgroupShuffleXor(v[k], 1u << uint(bit));
#if WORDS == 1
        v[k] = greater ? max(v[k], other) : min(v[k], other);
#else
        v[k] = LESS(v[k], other) == greater ? other : v[k];
#endif
    }
}

// Sorts what is a bitonic sequence over the whole tile.
void merge_lanes(inout KEY v[KEYS]) {
    for (int bit = 4; bit >= 0; --bit) exchange_lanes(v, bit, false);
    BITONIC_NETWORK(v)
}

void merge_lanes_descending(inout KEY v[KEYS]) {
    for (int bit = 4; bit >= 0; --bit) exchange_lanes(v, bit, true);
    DESCENDING_NETWORK(v)
}
