// Exchanges `k` and the pivot's position in the pointers. Row 0 has the positions of rows, row 1 the positions of
// columns, row 2 the column at each position.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;  // pivot: (key, index, row, column)
uniform int k;
out uint pointer;

int exchanged(int i, int other) { return i == k ? other : i == other ? k : i; }

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uvec4 pivot = texelFetch(texture1, ivec2(0), 0);
    if (at.y == 2) {
        pointer = uint(exchanged(int(texelFetch(texture0, at, 0).x), int(pivot.w)));
    } else {
        pointer = texelFetch(texture0, ivec2(exchanged(at.x, int(at.y == 0 ? pivot.z : pivot.w)), at.y), 0).x;
    }
}
