// Cache probe: each fragment fetches texels of texture0, a square whose side is a power of two. WINDOW: FETCHES texels
// that a hash selects in a corner of it. Otherwise a single texel, `stride` times as far from the corner as the
// fragment.
uniform highp sampler2D texture0;
uniform int side_mask;  // side - 1, of the square or of the corner
uniform ivec2 stride;
out vec4 value;

uint hash(uint i) {
    i = (i ^ (i >> 16)) * 0x7feb352du;
    i = (i ^ (i >> 15)) * 0x846ca68bu;
    return i ^ (i >> 16);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
#ifdef WINDOW
    uint seed = hash(uint(here.y << 14 | here.x));
    value = vec4(0.0);
    for (int i = 0; i < FETCHES; ++i) {
        seed = seed * 1664525u + 1013904223u;
        value = max(value, texelFetch(texture0, ivec2(int(seed >> 8), int(seed >> 20)) & side_mask, 0));
    }
#else
    value = texelFetch(texture0, (here * stride) & side_mask, 0);
#endif
}
