// The cell of each row: the number of cuts of x that are at most its key and, with TWO, the same for y. Cells are
// numbered line after line. Rows with NULL get the number after the last cell.
// Needs keys.glsl and selection.glsl before it.
uniform highp usampler2D texture0;  // keys of x
uniform highp usampler2D texture1;  // one bit per row: whether it has a value
uniform highp usampler2D texture2;  // cuts of x, (low, high), 1024 per line
uniform highp usampler2D texture3;  // the same for y
uniform highp usampler2D texture4;
uniform highp usampler2D texture5;
uniform int rows;
uniform int target_width;
uniform ivec2 cells;  // across, and lines; one more than cuts
out uint cell;

// The number of cuts that are at most the key.
int place_of(highp usampler2D cuts, int count, uvec2 key) {
    int low = 0;
    int high = count;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (less(key, texelFetch(cuts, ivec2(middle & 1023, middle >> 10), 0).xy)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void main() {
    int row = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    cell = uint(cells.x * cells.y);
    if (row >= rows) return;
    ivec2 pixel = ivec2(row % (32 * WORDS), row / (32 * WORDS));
    if (!is_set(texture1, pixel)) return;
    int x = place_of(texture2, cells.x - 1, key_of_row(texture0, WIDE_X, pixel));
#ifdef TWO
    if (!is_set(texture4, pixel)) return;
    cell = uint(place_of(texture5, cells.y - 1, key_of_row(texture3, WIDE_Y, pixel)) * cells.x + x);
#else
    cell = uint(x);
#endif
}
