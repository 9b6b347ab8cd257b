// A column from one of the host's textures, a row a texel in row-major order, to keys in the layout of keys.glsl; 0 beyond
// the last row. Words whose rows are in another texture are left alone. TEXEL, SAMPLER: types of the host's format; TYPE
// as in values.glsl. After keys.glsl.
uniform highp SAMPLER texture0;
uniform int offset;  // of row 0 in the texture; negative where that row is in one before it
uniform int rows;
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

uint row_at(int i, int width) {
    if (i >= rows) return 0u;
    i += offset;
    TEXEL texel = texelFetch(texture0, ivec2(i % width, i / width), 0);
#if TYPE == 0
    return key_of_bits(floatBitsToUint(texel.x));
#else
    return key_of_bits(uint(texel.x));
#endif
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    ivec2 size = textureSize(texture0, 0);
    int word = (at.y * WORDS + at.x % WORDS) * 32;
    if (word + offset < 0 || (word + offset >= size.x * size.y && word < rows)) discard;
    int i = word + 4 * (at.x / WORDS);
    keys = uvec4(row_at(i, size.x), row_at(i + 1, size.x), row_at(i + 2, size.x), row_at(i + 3, size.x));
}
