// Puts some bits of a column into the words that listed rows are sorted by: those of key - least from bit `from` on, or
// with VALID whether there is a value. After keys.glsl, shifted.glsl, group_rows.glsl.
uniform highp usampler2D texture3;  // the words so far, where `to` is not 0
uniform uvec2 least;
uniform int from;
uniform int to;  // the bit of the word that they begin at
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
