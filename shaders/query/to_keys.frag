// A column from the host's texture, a row a texel in row-major order, to keys in the layout of keys.glsl; 0 beyond the
// last row. TEXEL, SAMPLER: types of the host's format; TYPE as in values.glsl. After keys.glsl.
uniform highp SAMPLER texture0;
uniform int rows;
uniform int source_width;
out uvec4 keys;

uint key_of_bits(uint bits) {
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
    return key_of_bits(floatBitsToUint(texel.x));
#else
    return key_of_bits(uint(texel.x));
#endif
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int i = (at.y * WORDS + at.x % WORDS) * 32 + 4 * (at.x / WORDS);
    keys = uvec4(row_at(i), row_at(i + 1), row_at(i + 2), row_at(i + 3));
}
