// For each 32 bins: the sum of their counts, and the first one that is not 0.
//     texture0   the counts
uniform highp usampler2D texture0;
uniform int bins;
out uvec4 block;

void main() {
    int end = min(32 * int(gl_FragCoord.x) + 32, bins);
    uint sum = 0u, first = 0u;
    for (int i = 32 * int(gl_FragCoord.x); i < end; ++i) {
        uint count = texelFetch(texture0, ivec2(i, 0), 0).x;
        sum += count;
        if (first == 0u) first = count;
    }
    block = uvec4(sum, first, 0u, 0u);
}
