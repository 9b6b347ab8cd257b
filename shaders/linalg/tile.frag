// Copies a matrix to tiles (layout.glsl). Beyond its edges there are zeros.
uniform highp sampler2D texture0;
uniform ivec2 size;  // columns, rows
layout(location = 0) out vec4 layer[8];

float element(int i, int j) { return i < size.y && j < size.x ? texelFetch(texture0, ivec2(j, i), 0).x : 0.0; }

void main() {
    int i = 8 * int(gl_FragCoord.y), j = 4 * int(gl_FragCoord.x);
    vec4 rows[8];  // OpenGL ES indexes outputs by constants only
    for (int l = 0; l < 8; ++l)
        rows[l] = vec4(element(i + l, j), element(i + l, j + 1), element(i + l, j + 2), element(i + l, j + 3));
    layer = rows;
}
