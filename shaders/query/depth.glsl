// A row a pixel: 32 pixels of a line meet a word. Code c is the depth whose bits are c + 0x00800000: so the order of codes is that of depths, which are
// normal floats up to 1, and nothing rounds them. After keys.glsl.
float depth_of(uint code) { return uintBitsToFloat(code + 0x00800000u); }

KEY key_at(highp usampler2D keys, ivec2 pixel) {
    return key_of(texel_of(keys, ivec2(pixel.x >> 5, pixel.y), pixel.x % 32 / ROWS), pixel.x % ROWS);
}

bool is_set(highp usampler2D selection, ivec2 pixel) {
    return (texelFetch(selection, ivec2(pixel.x >> 5, pixel.y), 0).x >> (pixel.x & 31) & 1u) != 0u;
}

// Bits [shift, shift + 32) of key - base, those of `mask`.
uint digit_of(uint key, uint base, int shift, uint mask) { return (minus(key, base) >> shift) & mask; }
uint digit_of(uvec2 key, uvec2 base, int shift, uint mask) {
    uvec2 d = minus(key, base);
    return (shift >= 32 ? d.y >> (shift - 32) : shift == 0 ? d.x : d.x >> shift | d.y << (32 - shift)) & mask;
}
