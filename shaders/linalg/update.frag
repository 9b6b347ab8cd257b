// Subtracts BLOCK products from each element of the trailing matrix: A(i,j) -= sum over q of L(i,q) U(q,j), with rows
// moved as in the panel. Needs layout.glsl and factors.glsl before it.
uniform highp sampler2DArray texture2;  // U's rows, see triangle.frag
#ifdef TILES
layout(location = 0) out vec4 layer[8];

void main() {
    int x = int(gl_FragCoord.x), i = 8 * int(gl_FragCoord.y);
    vec4 sum[8];
    for (int l = 0; l < 8; ++l) sum[l] = four_elements(moved(i + l), x);
    for (int q = 0; q < BLOCK / 4; ++q) {
        mat4 rows = transpose(mat4(texelFetch(texture2, ivec3(4 * x, 0, q), 0),
                                   texelFetch(texture2, ivec3(4 * x + 1, 0, q), 0),
                                   texelFetch(texture2, ivec3(4 * x + 2, 0, q), 0),
                                   texelFetch(texture2, ivec3(4 * x + 3, 0, q), 0)));
        for (int l = 0; l < 8; ++l) {
            vec4 factor = factors(i + l, q);
            sum[l] -= factor.x * rows[0];
            sum[l] -= factor.y * rows[1];
            sum[l] -= factor.z * rows[2];
            sum[l] -= factor.w * rows[3];
        }
    }
    layer = sum;  // OpenGL ES indexes outputs by constants only
}
#else
out float value;

void main() {
    int i = int(gl_FragCoord.y), j = int(gl_FragCoord.x);
    float sum = 0.0;
    for (int q = 0; q < BLOCK / 4; ++q) sum += dot(factors(i, q), texelFetch(texture2, ivec3(j, 0, q), 0));
    value = element(moved(i), j) - sum;
}
#endif
