// Keeps the fragments of selected rows, for the stencil.
uniform highp usampler2D texture0;  // selection
bool is_set(highp usampler2D selection, ivec2 pixel) {
    return (texelFetch(selection, ivec2(pixel.x >> 5, pixel.y), 0).x >> (pixel.x & 31) & 1u) != 0u;
}

void main() {
    if (!is_set(texture0, ivec2(gl_FragCoord.xy))) discard;
}
