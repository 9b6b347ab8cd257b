// The words of a selection, `width` per line, and a column's keys of the rows whose bits are set. Needs keys.glsl
// before it.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;  // keys
uniform int width;
uint word_at(int w) { return texelFetch(texture0, ivec2(w % width, w / width), 0).x; }
uvec2 found(int word, int bit) {
    ivec2 pixel = ivec2(32 * (word % width) + bit, word / width);
#ifdef WIDE
    return key_of_row(texture1, 1, pixel);
#else
    return key_of_row(texture1, 0, pixel);
#endif
}
