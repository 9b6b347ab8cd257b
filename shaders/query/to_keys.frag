// Converts a column in an object of the application to keys in the layout of keys.glsl, with 0 after the last row.
// Words with rows of other textures are not changed. TYPE is as in values.glsl. Needs keys.glsl before it.
//     texture0   one row per texel, row after row; SAMPLER and TEXEL are types of the texture's format. LINEAR: words,
//                four per texel, made by keys_of_part.frag, one or two per row; HALVES: these are 16-bit floats
uniform highp SAMPLER texture0;
uniform int offset;  // position of row 0 in the texture; negative if that row is in an earlier texture
uniform int rows;
uniform int source_rows;  // of the texture
out uvec4 keys;

#ifdef WIDE
KEY key_of_bits(uvec2 bits) {
    const uvec2 sign = uvec2(0u, 0x80000000u);
#if TYPE == 1
    if (bits == sign) bits = uvec2(0u);
    return minus(bits ^ ((bits.y & sign.y) != 0u ? uvec2(0xffffffffu) : sign), uvec2(0xffffffffu, 0xfffffu));
#else
    return bits ^ sign;
#endif
}
#else
KEY key_of_bits(uint bits) {
#if TYPE == 0
    if (bits == 0x80000000u) bits = 0u;
    return (bits ^ ((bits & 0x80000000u) != 0u ? 0xffffffffu : 0x80000000u)) - 0x7fffffu;
#elif TYPE == 2
    return bits ^ 0x80000000u;
#else
    return bits;
#endif
}
#endif

#ifdef HALVES
// unpackHalf2x16 came with GLSL 4.20.
uint float_of_half(uint bits) {
    uint size = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
    if (size >= 0x7c00u) return sign | 0x7f800000u | ((size & 0x3ffu) << 13);
    if (size >= 0x400u) return sign | ((size << 13) + 0x38000000u);
    return sign | floatBitsToUint(float(size) / 16777216.0);
}
#endif

TEXEL texel_at(int i) {
    int width = textureSize(texture0, 0).x;
    return texelFetch(texture0, ivec2(i % width, i / width), 0);
}

KEY key_at(int i) {
#ifdef LINEAR
#ifdef WIDE
    uvec4 two = texel_at(i >> 1);
    return key_of_bits((i & 1) == 0 ? two.xy : two.zw);
#else
    uint bits = texel_at(i >> 2)[i & 3];
#ifdef HALVES
    bits = float_of_half(bits & 0xffffu);
#endif
    return key_of_bits(bits);
#endif
#elif defined(WIDE)
    return KEY(0u);  // no texel of the application has that many bits
#elif TYPE == 0
    return key_of_bits(floatBitsToUint(texel_at(i).x));
#else
    return key_of_bits(uint(texel_at(i).x));
#endif
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int word = (at.y * WORDS + at.x % WORDS) * 32;
    if (word + offset < 0 || (word + offset >= source_rows && word < rows)) discard;
    int i = word + ROWS * (at.x / WORDS);
    KEY found[ROWS];
    for (int row = 0; row < ROWS; ++row) found[row] = i + row < rows ? key_at(i + row + offset) : KEY(0u);
#ifdef WIDE
    keys = uvec4(found[0], found[1]);
#else
    keys = uvec4(found[0], found[1], found[2], found[3]);
#endif
}
