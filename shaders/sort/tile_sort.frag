// The first pass of the merge engine with subgroups: sorts the keys of each tile, or of each part of 2^RUN_LANES lanes
// separately. Every lane sorts its own keys with a network in registers. Then runs of lanes are merged, two at a time.
// The second run is reversed, so that both are a bitonic sequence.
// LAST: there is no merge afterwards, so it writes keys as bits of their type.
//     texture0   keys in the layout of memory, texel after texel in rows of 2^source_log2 texels
#define SOURCE_TEXELS (KEYS / SOURCE_KEYS)
uniform highp usampler2D texture0;
uniform int source_log2;
layout(location = 0) out uvec4 block[8];

// Merges every two runs of 2^run lanes into one, with the second one reversed.
void merge_runs(inout KEY v[KEYS], int run) {
    bool greater = (lane() >> run & 1) != 0;
    uint opposite = (2u << uint(run)) - 1u;
    for (int k = 0; k < KEYS / 2; ++k) {
        KEY low = subgroupShuffleXor(v[KEYS - 1 - k], opposite);
        KEY high = subgroupShuffleXor(v[k], opposite);
        v[k] = kept(v[k], low, greater);
        v[KEYS - 1 - k] = kept(v[KEYS - 1 - k], high, greater);
    }
    merge_lanes(v, run);
}

void main() {
    int tile = tile_at(ivec2(gl_FragCoord.xy));
    KEY v[KEYS];
    for (int g = 0; g < SOURCE_TEXELS; ++g) {
        // It does not matter with which keys of its run a lane begins, so neighbours read neighbouring texels.
        int texel = RUN_LANES < 5 ? (tile << 5 | lane()) * SOURCE_TEXELS + g : (tile * SOURCE_TEXELS + g) << 5 | lane();
        uvec4 keys = texelFetch(texture0, ivec2(texel & ((1 << source_log2) - 1), texel >> source_log2), 0);
        for (int c = 0; c < SOURCE_KEYS; ++c) v[g * SOURCE_KEYS + c] = make_key(keys, c, texel * SOURCE_KEYS + c);
    }
    SORT_NETWORK(v)
    if (RUN_LANES > 0) merge_runs(v, 0);
    if (RUN_LANES > 1) merge_runs(v, 1);
    if (RUN_LANES > 2) merge_runs(v, 2);
    if (RUN_LANES > 3) merge_runs(v, 3);
    if (RUN_LANES > 4) merge_runs(v, 4);
#ifdef LAST
    for (int k = 0; k < KEYS; ++k) v[k] = to_bits(v[k]);
#endif
    WRITE_BLOCK(block, v)
}
