// The number of rows in the cells of a line that are left of x: texel (x, y + 1) is for line y, and line 0 is 0. Needs
// sorted keys before it (banked.glsl or tiles.glsl), whose high word is the cell.
uniform highp usampler2DArray texture0;
uniform int rows;
uniform int across;  // cells of a line
out uint count;

// The number of rows in cells before this one.
int rows_before(uint cell) {
    int low = 0;
    int high = rows;
    while (low < high) {
        int middle = low + ((high - low) >> 1);
        if (sorted_key(texture0, middle).y < cell) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    count = 0u;
    if (at.x == 0 || at.y == 0) return;
    int first = (at.y - 1) * across;
    count = uint(rows_before(uint(first + at.x)) - rows_before(uint(first)));
}
