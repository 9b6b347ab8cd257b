// The words of matches in the layout of match.frag, left row after left row. A set bit is a pair.
uniform highp usampler2D texture0;
uniform int width;       // of a line
uniform int lines;       // lines per four left rows
uniform int first_left;  // index of the first left row
uniform int first_right;

uint word_at(int w) {
    int row = w / (width * lines);
    int in_row = w - row * (width * lines);
    return texelFetch(texture0, ivec2(in_row % width, (row >> 2) * lines + in_row / width), 0)[row & 3];
}
uvec2 found(int word, int bit) {
    int row = word / (width * lines);
    return uvec2(uint(first_left + row), uint(first_right + 32 * (word - row * (width * lines)) + bit));
}
