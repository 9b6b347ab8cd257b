// Counts the bits of 16 of the WORDS words of a line.
uniform highp usampler2D texture0;
out uvec4 counts;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int count = 0;
    for (int i = 0; i < 16; ++i) count += bitCount(texelFetch(texture0, ivec2(at.x + i * (WORDS / 16), at.y), 0).x);
    counts = uvec4(uint(count), 0u, 0u, 0u);
}
