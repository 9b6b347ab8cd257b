// Converts keys in the layout of memory to elements of the early sorts (early_keys.glsl), as unsigned numbers in order.
//     texture0   keys, in rows of 2^memory_log2
uniform highp usampler2D texture0;
uniform int memory_log2;
uniform int count;
out uvec4 elements;

uvec2 element_at(int e) {
    if (e >= count) return uvec2(0xffffffffu);
    return uvec2(encode(texelFetch(texture0, ivec2(e & ((1 << memory_log2) - 1), e >> memory_log2), 0).x), uint(e));
}

void main() {
    int first = PER_TEXEL * (int(gl_FragCoord.y) << width_log2 | int(gl_FragCoord.x));
    elements = texel_of(element_at(first), element_at(first + 1));
}
