// The words of a selection, `width` per line. A set bit is a row.
uniform highp usampler2D texture0;
uniform int width;
uint word_at(int w) { return texelFetch(texture0, ivec2(w % width, w / width), 0).x; }
uvec2 found(int word, int bit) { return uvec2(uint(32 * word + bit), 0u); }
