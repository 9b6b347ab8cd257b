// Exchanges `k` and the pivot's place in the pointers: row 0 tells where the rows lie, row 1 where the columns lie,
// row 2 which place each column has.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;  // the pivot: (key, place, row, column)
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
