// Rows in a list, and the value of a column for each. Lists have 1024 entries per line. WIDE: keys of 64 bits. Needs
// keys.glsl and selection.glsl before it.
uniform highp usampler2D texture0;  // a list of rows
uniform highp usampler2D texture1;  // keys
uniform highp usampler2D texture2;  // one bit per row: whether it has a value
uniform uvec2 nan;                  // all keys from this one on count as one value

uint entry(highp usampler2D list, int i) { return texelFetch(list, ivec2(i & 1023, i >> 10), 0).x; }
int place() { return int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x); }

// The key of a row; 0 without a value.
uvec2 key_of(uint row, out bool valid) {
    ivec2 pixel = ivec2(int(row) % (32 * WORDS), int(row) / (32 * WORDS));
    valid = is_set(texture2, pixel);
#ifdef WIDE
    uvec2 key = key_of_row(texture1, 1, pixel);
#else
    uvec2 key = key_of_row(texture1, 0, pixel);
#endif
    return valid ? (less(nan, key) ? nan : key) : uvec2(0u);
}
