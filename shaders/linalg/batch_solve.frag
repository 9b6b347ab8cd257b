// A fragment solves one right-hand side of one system with L and then with U, and writes all N rows, four in the
// channels of each layer. Values that are not solved yet are zero, so the rest of a row, which belongs to the other
// triangle, adds nothing. Needs batch_texels.glsl and numbers.glsl before it.
uniform highp sampler2D texture2;  // right-hand sides in the layout of memory, one element per texel
uniform int sides;                 // per system
layout(location = 0) out vec4 rows[PLACE];

vec4 only(int channel, float value) {
    return vec4(channel == 0 ? value : 0.0, channel == 1 ? value : 0.0, channel == 2 ? value : 0.0,
                channel == 3 ? value : 0.0);
}

void main() {
    int at = int(gl_FragCoord.x), number = at / sides, side = at % sides;
    open_system(number);
    vec4 y[PLACE], x[PLACE];
    for (int q = 0; q < PLACE; ++q) y[q] = x[q] = vec4(0.0);
    for (int i = 0; i < N; ++i) {
        float sum = 0.0;
        for (int q = 0; q < PLACE; ++q) sum += dot(texel(q, i), y[q]);
        int from = int(texel(PLACE, i).x);
        float solved = texelFetch(texture2, ivec2((number * N + from) * sides + side, system_row), 0).x - sum;
        for (int q = 0; q < PLACE; ++q) {
            if (q == i >> 2) y[q] += only(i & 3, solved);
        }
    }
    for (int step = 0; step < N; ++step) {
        int i = N - 1 - step;
        float sum = 0.0, right = 0.0, diagonal = 1.0;
        for (int q = 0; q < PLACE; ++q) {
            vec4 row = texel(q, i);
            sum += dot(row, x[q]);
            if (q == i >> 2) {
                diagonal = row[i & 3];
                right = y[q][i & 3];
            }
        }
        float solved = quotient(right - sum, diagonal);
        for (int q = 0; q < PLACE; ++q) {
            if (q == i >> 2) x[q] += only(i & 3, solved);
        }
    }
    rows = x;  // OpenGL ES indexes outputs by constants only
}
