// Copies the rows that triangle.frag solved to rows of a matrix.
uniform highp sampler2DArray texture0;
uniform int first;
out float value;
void main() {
    int r = int(gl_FragCoord.y) - first;
    value = texelFetch(texture0, ivec3(int(gl_FragCoord.x), 0, r >> 2), 0)[r & 3];
}
