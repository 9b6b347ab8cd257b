// Which of 32 words of matches are not 0, as bits, for each of four left rows: all that is read back of most words.
uniform highp usampler2D texture0;
out uvec4 bits;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    bits = uvec4(0u);
    for (int i = 0; i < 32; ++i)
        bits |= uvec4(notEqual(texelFetch(texture0, ivec2(32 * at.x + i, at.y), 0), uvec4(0u))) << i;
}
