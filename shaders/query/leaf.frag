// A leaf of a condition over 32 rows. RANGE: low <= key <= low + span. Otherwise the key is in a list: one of FEW
// constants; or its bit is set in TABLE, texture2, which begins with the bit of `low` and has 1024 words per line; or
// it is one of `count` ascending keys in texture2, 1024 per line. Needs keys.glsl before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // one bit per row: whether it has a value
uniform uint negate;                // all bits set: the rows for which it does not hold
#if defined(RANGE)
uniform KEY low;
uniform KEY span;
bool holds(KEY key) { return !less(span, minus(key, low)); }
#elif defined(FEW)
uniform KEY list[FEW];
bool holds(KEY key) {
    bool any = false;
    for (int i = 0; i < FEW; ++i) any = any || key == list[i];
    return any;
}
#elif defined(TABLE)
uniform highp usampler2D texture2;
uniform KEY low;
uniform KEY span;
uint low_word(uint key) { return key; }
uint low_word(uvec2 key) { return key.x; }
bool holds(KEY key) {
    KEY offset = minus(key, low);
    if (less(span, offset)) return false;
    int i = int(low_word(offset));
    return (texelFetch(texture2, ivec2((i >> 5) & 1023, i >> 15), 0).x >> (i & 31) & 1u) != 0u;
}
#else
uniform highp usampler2D texture2;
uniform int count;
KEY listed(int i) {
    uvec4 texel = texelFetch(texture2, ivec2(i & 1023, i >> 10), 0);
#ifdef WIDE
    return texel.xy;
#else
    return texel.x;
#endif
}
bool holds(KEY key) {
    int first = 0;
    int size = count;
    while (size > 1) {
        int half_size = size >> 1;
        if (!less(key, listed(first + half_size))) first += half_size;
        size -= half_size;
    }
    return listed(first) == key;
}
#endif
out uint bits;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint word = 0u;
    for (int i = 0; i < TEXELS; ++i) {
        uvec4 texel = texel_of(texture0, at, i);
        for (int row = 0; row < ROWS; ++row) word |= holds(key_of(texel, row)) ? 1u << (ROWS * i + row) : 0u;
    }
    bits = (word ^ negate) & texelFetch(texture1, at, 0).x;
}
