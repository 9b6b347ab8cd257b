// Copies listed rows of a column to the texture of a smaller table, in the layout of keys.glsl: texel (i words + x, y)
// has the keys of four or two rows. With VALID, texel (x, y) has a bit for each of 32 rows: whether it is in the list
// and, with NULLS, has a value. Needs keys.glsl, for the large table, and selection.glsl before it.
uniform highp usampler2D texture0;  // row numbers, 1024 per line
uniform highp usampler2D texture1;  // keys, or with VALID one bit per row
uniform int words;                  // of a line of the small table
uniform int count;                  // of listed rows
#ifdef VALID
out uint bits;
#else
out uvec4 keys;
#endif

ivec2 pixel_of(int i) {
    int row = int(texelFetch(texture0, ivec2(i & 1023, i >> 10), 0).x);
    return ivec2(row % (32 * WORDS), row / (32 * WORDS));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int first = (at.y * words + at.x % words) * 32;
#ifdef VALID
    bits = 0u;
    for (int i = 0; i < 32 && first + i < count; ++i) {
#ifdef NULLS
        if (!is_set(texture1, pixel_of(first + i))) continue;
#endif
        bits |= 1u << i;
    }
#else
#if WIDE_X
    keys = uvec4(0u);
    first += at.x / words * 2;
    if (first < count) keys.xy = key_of_row(texture1, 1, pixel_of(first));
    if (first + 1 < count) keys.zw = key_of_row(texture1, 1, pixel_of(first + 1));
#else
    first += at.x / words * 4;
    uint four[4];
    for (int i = 0; i < 4; ++i) four[i] = first + i < count ? key_of_row(texture1, 0, pixel_of(first + i)).x : 0u;
    keys = uvec4(four[0], four[1], four[2], four[3]);
#endif
#endif
}
