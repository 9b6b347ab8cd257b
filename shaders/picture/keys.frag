// Writes the codes of a picture's values, integers in the same order, as bit planes: a word has one bit of 32 texels of a
// row. Each fragment reads these texels and transposes a matrix of 32 x 32 bits (Hacker's Delight, 7-3). NaNs, and the
// texels beyond the end of a row, have the highest code. Needs value.glsl before it.
//     texture0   the picture
//     columns    groups 0 .. LAYERS - 1 of the words 0 .. width - 1 | with LAYERS 4, groups 4 .. 7 of these words
//     target l   a group: 4 planes, from the higher bit to the lower. Group 0 has the highest bits.
uniform int width;
layout(location = 0) out uvec4 planes[LAYERS];

uint code_of(float v) {
    uint bits = floatBitsToUint(v);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0xffffffffu;
    return bits ^ ((bits >> 31) != 0u ? 0xffffffffu : 0x80000000u);
}

void swap_bits(inout uint a, inout uint b, int shift, uint mask) {
    uint differ = (a ^ (b >> shift)) & mask;
    a ^= differ;
    b ^= differ << shift;
}
#define SWAP_ALL(shift, mask) \
    for (int i = 0; i < 16; ++i) { \
        const int size = shift; \
        int k = i / size * 2 * size + i % size; \
        swap_bits(word[k], word[k + size], shift, mask); \
    }

void main() {
    uint word[32];
    int first = 32 * (int(gl_FragCoord.x) % width), group = int(gl_FragCoord.x) / width * LAYERS, end = row_width();
    for (int i = 0; i < 32; ++i) word[i] = first + i < end ? code_of(value_at(first + i)) : 0xffffffffu;
    SWAP_ALL(16, 0x0000ffffu)
    SWAP_ALL(8, 0x00ff00ffu)
    SWAP_ALL(4, 0x0f0f0f0fu)
    SWAP_ALL(2, 0x33333333u)
    SWAP_ALL(1, 0x55555555u)
#if LAYERS < 5
    for (int i = 0; i < 16; ++i) {
        if (group > 0) word[i] = word[i + 16];
    }
#endif
#define GROUP(l) uvec4(word[4 * l], word[4 * l + 1], word[4 * l + 2], word[4 * l + 3])
    planes[0] = GROUP(0);
    planes[1] = GROUP(1);
    planes[2] = GROUP(2);
    planes[3] = GROUP(3);
#if LAYERS > 4
    planes[4] = GROUP(4);
#endif
#if LAYERS > 5
    planes[5] = GROUP(5);
    planes[6] = GROUP(6);
    planes[7] = GROUP(7);
#endif
}
