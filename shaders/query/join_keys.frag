// The right side of a join as match.frag reads it: NARROW, four keys of 32 bits a texel, or two of 64. After
// join_key.glsl.
uniform int first;  // of the keys in order
uniform int count;
uniform int line;   // words of 32 keys
out uvec4 texel;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int i = 32 * (at.y * line + at.x % line);
    texel = uvec4(0u);
#ifdef NARROW
    i += 4 * (at.x / line);
    for (int j = 0; j < 4; ++j) {
        if (i + j < count) texel[j] = join_key(first + i + j).x;
    }
#else
    i += 2 * (at.x / line);
    if (i < count) texel.xy = join_key(first + i);
    if (i + 1 < count) texel.zw = join_key(first + i + 1);
#endif
}
