// Copies solutions of batch_solve.frag to the layout of memory, one element per texel.
uniform highp sampler2DArray texture0;
uniform int sides;
out float value;

void main() {
    int at = int(gl_FragCoord.x), side = at % sides, row = at / sides, number = row / N, i = row % N;
    value = texelFetch(texture0, ivec3(number * sides + side, int(gl_FragCoord.y), i >> 2), 0)[i & 3];
}
