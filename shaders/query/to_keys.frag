// A column from the host's texture, a row a texel in row-major order, to keys in the layout of keys.glsl; 0 beyond the
// last row. TEXEL, SAMPLER: types of the host's format; TYPE as in values.glsl.
uniform highp SAMPLER texture0;
uniform int rows;
uniform int source_width;
uniform int target_width;
out uvec4 keys;

uint key_of(uint bits) {
#if TYPE == 0
    if (bits == 0x80000000u) bits = 0u;
    return (bits ^ ((bits & 0x80000000u) != 0u ? 0xffffffffu : 0x80000000u)) - 0x7fffffu;
#elif TYPE == 2
    return bits ^ 0x80000000u;
#else
    return bits;
#endif
}

uint row_at(int i) {
    if (i >= rows) return 0u;
    TEXEL texel = texelFetch(texture0, ivec2(i % source_width, i / source_width), 0);
#if TYPE == 0
    return key_of(floatBitsToUint(texel.x));
#else
    return key_of(uint(texel.x));
#endif
}

void main() {
    int i = 4 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    keys = uvec4(row_at(i), row_at(i + 1), row_at(i + 2), row_at(i + 3));
}
