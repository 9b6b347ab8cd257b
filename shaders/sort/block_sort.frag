// The first pass of the merge engine: sorts every pair of blocks. Each fragment takes the keys of both blocks and sorts
// each block with a network in registers. It keeps the lower half of all keys (for the even block) or the upper half
// (for the odd one), which is min or max of a[k] and b[KEYS - 1 - k], and ends with a bitonic merge.
//     texture0   keys in the layout of memory, texel after texel in rows of 2^source_log2 texels
#define SOURCE_TEXELS (KEYS / SOURCE_KEYS)
uniform highp usampler2D texture0;
uniform int source_log2;
layout(location = 0) out uvec4 block[LAYERS];

void load(int block, out KEY v[KEYS]) {
    for (int g = 0; g < SOURCE_TEXELS; ++g) {
        int t = block * SOURCE_TEXELS + g;
        uvec4 texel = texelFetch(texture0, ivec2(t & ((1 << source_log2) - 1), t >> source_log2), 0);
        for (int c = 0; c < SOURCE_KEYS; ++c) {
            v[g * SOURCE_KEYS + c] = make_key(texel, c, block * KEYS + g * SOURCE_KEYS + c);
        }
    }
}

void main() {
    int pair = pair_drawn();
    bool upper = is_upper();
    KEY a[KEYS];
    KEY b[KEYS];
    load(2 * pair, a);
    SORT_NETWORK(a)
    load(2 * pair + 1, b);
    SORT_NETWORK(b)
    KEY v[KEYS];
    for (int k = 0; k < KEYS; ++k) v[k] = ONE_OF(upper, a[k], b[KEYS - 1 - k]);
    BITONIC_NETWORK(v)
    WRITE_BLOCK(block, v)
}
