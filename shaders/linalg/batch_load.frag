// Copies systems from the layout of memory, one element per texel, to their rows of texels (batch_texels.glsl). The
// rest of a row after its columns is filled with zeros.
uniform highp sampler2D texture0;
out vec4 value;

float element(int number, int i, int j) {
    return j < N ? texelFetch(texture0, ivec2((number * N + i) * N + j, int(gl_FragCoord.y)), 0).x : 0.0;
}

void main() {
    int at = int(gl_FragCoord.x), row = at / STRIDE, number = row / N, i = row % N, x = at % STRIDE, j = 4 * x;
    value = x == PLACE ? vec4(float(i), 0.0, 0.0, 0.0)
                       : vec4(element(number, i, j), element(number, i, j + 1), element(number, i, j + 2),
                              element(number, i, j + 3));
}
