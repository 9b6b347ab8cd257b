// Counts the keys that are not NaNs among `count` sorted keys (banked.glsl or tiles.glsl), which are floats by their
// bits. NaNs come last.
//     texture0   the keys
uniform highp usampler2DArray texture0;
uniform int count;
out uint numbers;

void main() {
    int from = 0, to = count;
    while (from < to) {
        int middle = from + (to - from) / 2;
        if ((sorted_key(texture0, middle) & 0x7fffffffu) > 0x7f800000u) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    numbers = uint(from);
}
