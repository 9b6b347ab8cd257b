// Places of rows, in a column of texels, as pointers: row 0 of the target has them, row 1 every column at its own
// place.
uniform highp usampler2D texture0;
uniform int rows;
out uint pointer;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    pointer = at.y == 0 && at.x < rows ? texelFetch(texture0, ivec2(0, at.x), 0).x : uint(at.x);
}
