// Adds up to 128 tiles of tiles.frag. Bytes become 16 bits, which do not overflow: 128 tiles have at most 28672 texels.
//     texture0   the tiles
//     column q   bins 16 q .. 16 q + 15
//     row c      tiles 128 c .. 128 c + 127
//     layer 0    the even bytes, two per word
//     layer 1    the odd ones
uniform highp usampler2DArray texture0;
uniform int columns;  // as in tiles.frag
uniform int tiles;
layout(location = 0) out uvec4 sums[2];

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int range = place.x / LAYERS, layer = place.x % LAYERS;
    uvec4 even = uvec4(0u), odd = uvec4(0u);
    int end = min(128 * place.y + 128, tiles);
    for (int t = 128 * place.y; t < end; ++t) {
        uvec4 bytes = texelFetch(texture0, ivec3(range * columns + t % columns, t / columns, layer), 0);
        even += bytes & 0x00ff00ffu;
        odd += (bytes >> 8) & 0x00ff00ffu;
    }
    sums[0] = even;
    sums[1] = odd;
}
