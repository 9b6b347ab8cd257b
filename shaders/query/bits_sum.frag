// A level of a pyramid of counts: each channel of a texel is the sum of four texels of the level below.
uniform highp usampler2D texture0;
uniform int texels;  // texels of the level below
out uvec4 sums;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int first = 16 * (at.y * 1024 + at.x);
    uvec4 four_sums = uvec4(0u);  // OpenGL ES 3.0 does not index outputs
    for (int i = 0; i < 16; ++i) {
        int texel = first + i;
        if (texel >= texels) break;
        uvec4 four = texelFetch(texture0, ivec2(texel & 1023, texel >> 10), 0);
        four_sums[i >> 2] += four.x + four.y + four.z + four.w;
    }
    sums = four_sums;
}
