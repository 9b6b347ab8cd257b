// Folds 16 partial results into one. Element i of a fragment with number f is texel 16 f + i of all in row-major order.
// ROWS: texel 16 x + i of its row. COLUMNS: texel 16 y + i of its column. Needs fold.glsl before it.
//
//     texels   0 1 2 ... 15 | 16 17 ... 31 | 32 ...
//     result   0            | 1            | 2
#ifdef FLOATS
uniform highp sampler2D texture0;
#else
uniform highp usampler2D texture0;
#endif
uniform int count;  // elements in all, per row, or per column
uniform int source_width;
uniform int target_width;
out STATE result;

ivec2 place(int i) {
#ifdef ROWS
    return ivec2(i, int(gl_FragCoord.y));
#else
#ifdef COLUMNS
    return ivec2(int(gl_FragCoord.x), i);
#else
    return ivec2(i % source_width, i / source_width);
#endif
#endif
}
STATE element(int i) { return i < count ? texelFetch(texture0, place(i), 0) : nothing; }
STATE next_four(int i) { return four(element(i), element(i + 1), element(i + 2), element(i + 3)); }

void main() {
#ifdef ROWS
    int i = 16 * int(gl_FragCoord.x);
#else
#ifdef COLUMNS
    int i = 16 * int(gl_FragCoord.y);
#else
    int i = 16 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
#endif
#endif
    STATE fours[4];
    for (int j = 0; j < 4; ++j) fours[j] = next_four(i + 4 * j);
    result = four(fours[0], fours[1], fours[2], fours[3]);
}
