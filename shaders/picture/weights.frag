// Writes how often the texels of a picture count, as bit planes in the order of keys.frag. Each fragment reads 32 texels of
// a row. Needs value.glsl before it.
//     target l   bits 4 l to 4 l + 3 of the weights
layout(location = 0) out uvec4 planes[LAYERS];

void main() {
    uvec4 low = uvec4(0u), high = uvec4(0u);
    int first = 32 * int(gl_FragCoord.x), end = row_width();
    for (int x = first; x < first + 32; ++x) {
        uint weight = x < end ? weight_at(x) : 0u;
        low = low << 1 | (uvec4(weight) >> uvec4(0u, 1u, 2u, 3u) & 1u);
        high = high << 1 | (uvec4(weight) >> uvec4(4u, 5u, 6u, 7u) & 1u);
    }
    planes[0] = low;
#if LAYERS > 1
    planes[1] = high;
#endif
}
