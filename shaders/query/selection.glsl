// Whether the row of a pixel is selected. 32 pixels of a line correspond to a word.
bool is_set(highp usampler2D selection, ivec2 pixel) {
    return (texelFetch(selection, ivec2(pixel.x >> 5, pixel.y), 0).x >> (pixel.x & 31) & 1u) != 0u;
}
