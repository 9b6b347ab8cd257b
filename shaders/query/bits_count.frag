// The lowest level of a pyramid of counts (Ziegler, Tevs, Theobalt, Seidel, 2006): each channel of a texel has the
// number of set bits in 8 words. Needs a source of words before it: uint word_at(int w).
uniform int words;
out uvec4 counts;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int first = 32 * (at.y * 1024 + at.x);
    uvec4 four = uvec4(0u);  // OpenGL ES 3.0 does not index outputs
    for (int i = 0; i < 32; ++i) {
        if (first + i < words) four[i >> 3] += uint(bitCount(word_at(first + i)));
    }
    counts = four;
}
