// A row a pixel: 32 pixels of a line meet a word. Code c is the depth whose bits are c + 0x00800000: so the order of codes
// is that of depths, which are normal floats up to 1, and nothing rounds them. After keys.glsl, shifted.glsl.
float depth_of(uint code) { return uintBitsToFloat(code + 0x00800000u); }

KEY key_at(highp usampler2D keys, ivec2 pixel) {
    return key_of(texel_of(keys, ivec2(pixel.x >> 5, pixel.y), pixel.x % 32 / ROWS), pixel.x % ROWS);
}

bool is_set(highp usampler2D selection, ivec2 pixel) {
    return (texelFetch(selection, ivec2(pixel.x >> 5, pixel.y), 0).x >> (pixel.x & 31) & 1u) != 0u;
}

uvec2 wide(uint key) { return uvec2(key, 0u); }
uvec2 wide(uvec2 key) { return key; }

// Bits [shift, shift + 32) of key - base, those of `mask`.
uint digit_of(KEY key, KEY base, int shift, uint mask) { return shifted_low(wide(minus(key, base)), shift) & mask; }
