// The right side of a join in the layout of match.frag: with NARROW, four keys of 32 bits per texel, otherwise two of
// 64 bits. Needs join_key.glsl before it.
uniform int first;  // index of the first key
uniform int count;
uniform int line;   // words of 32 keys per line
out uvec4 texel;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int i = 32 * (at.y * line + at.x % line);
    uvec4 keys = uvec4(0u);  // OpenGL ES indexes an output by constants only
#ifdef NARROW
    i += 4 * (at.x / line);
    for (int j = 0; j < 4; ++j) {
        if (i + j < count) keys[j] = join_key(first + i + j).x;
    }
#else
    i += 2 * (at.x / line);
    if (i < count) keys.xy = join_key(first + i);
    if (i + 1 < count) keys.zw = join_key(first + i + 1);
#endif
    texel = keys;
}
