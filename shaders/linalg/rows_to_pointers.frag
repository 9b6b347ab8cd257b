// Converts positions of rows, in a column of texels, to pointers: row 0 of the target has them, row 1 has every column
// at its own position.
uniform highp usampler2D texture0;
uniform int rows;
out uint pointer;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    pointer = at.y == 0 && at.x < rows ? texelFetch(texture0, ivec2(0, at.x), 0).x : uint(at.x);
}
