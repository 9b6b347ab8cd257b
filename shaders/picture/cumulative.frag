// For each bin: the number of texels in it and in those before it. With TABLE, this as a fraction of all texels, without
// those of the first bin that has any: a float by its bits.
//     texture0   the counts
//     texture1   the blocks of blocks.frag
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int blocks;
out uint result;

void main() {
    int bin = int(gl_FragCoord.x), mine = bin / 32;
    uint before = 0u, all = 0u, first = 0u;
    for (int b = 0; b < blocks; ++b) {
        uvec4 block = texelFetch(texture1, ivec2(b, 0), 0);
        all += block.x;
        if (b < mine) before += block.x;
        if (first == 0u) first = block.y;
    }
    for (int i = 32 * mine; i <= bin; ++i) before += texelFetch(texture0, ivec2(i, 0), 0).x;
#ifdef TABLE
    float share = before > first ? float(before - first) / float(all - first) : 0.0;
    result = floatBitsToUint(share);
#else
    result = before;
#endif
}
