// A leaf of a condition over 32 rows: RANGE, low <= key <= low + span, or MEMBER, the key is one of the `count` that
// ascend in texture2. After keys.glsl.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // a word: the rows that have a value
uniform uint negate;                // all bits: the rows for which it does not hold
#ifdef RANGE
uniform KEY low;
uniform KEY span;
bool holds(KEY key) { return !less(span, minus(key, low)); }
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
