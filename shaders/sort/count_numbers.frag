// How many of `count` sorted keys (banked.glsl or tiles.glsl), floats by their bits, are no NaNs, which come last.
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
