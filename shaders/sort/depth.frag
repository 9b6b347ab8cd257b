// Depths of positions: x, y and z times the plane's, plus its w. Fragment i, row after row, computes that of position i.
//     texture0   the positions, one per texel; or with STRIDED a buffer's words: floats by their bits, of which a
//                position's x, y and z begin every `stride` words
#ifdef STRIDED
uniform highp usampler2D texture0;
uniform int stride;
#else
uniform highp sampler2D texture0;
uniform ivec4 part;  // its first texel, width and number of rows
#endif
uniform vec4 plane;
uniform int target_width;
out float depth;

vec3 position(int i) {
#ifdef STRIDED
    vec3 at;
    int width = textureSize(texture0, 0).x;
    for (int c = 0; c < 3; ++c) {
        int word = i * stride + c;
        at[c] = uintBitsToFloat(texelFetch(texture0, ivec2(word % width, word / width), 0).x);
    }
    return at;
#else
    return texelFetch(texture0, part.xy + ivec2(i % part.z, i / part.z), 0).xyz;
#endif
}

void main() {
    vec3 at = position(int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    depth = at.x * plane.x + at.y * plane.y + at.z * plane.z + plane.w;
}
