// Adds bits of a column to the words by which listed rows are sorted: bits of key - least from bit `from` on or, with
// VALID, whether there is a value. Needs keys.glsl, shifted.glsl and group_rows.glsl before it.
uniform highp usampler2D texture3;  // words so far, unless `to` is 0
uniform uvec2 least;
uniform int from;
uniform int to;  // index of the first bit in the word
uniform uint mask;
out uint word;

void main() {
    int i = place();
    bool valid;
    uvec2 key = key_of(entry(texture0, i), valid);
#ifdef VALID
    uint bits = valid ? 1u : 0u;
#else
    uint bits = valid ? shifted_low(minus(key, least), from) & mask : 0u;
#endif
    word = bits << to;
    if (to > 0) word |= entry(texture3, i);
}
