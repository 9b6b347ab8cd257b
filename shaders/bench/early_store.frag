// Copies the keys of the early sorts back to memory. STORE_INDEX: their indices instead.
//     texture0   elements (early_keys.glsl)       target   memory, in rows of 2^memory_log2
uniform highp usampler2D texture0;
uniform int memory_log2;
out uint word;

void main() {
    int e = int(gl_FragCoord.y) << memory_log2 | int(gl_FragCoord.x);
    int t = e / PER_TEXEL;
    uvec4 texel = texelFetch(texture0, ivec2(t & ((1 << width_log2) - 1), t >> width_log2), 0);
    uvec2 element = element_in(texel, e % PER_TEXEL);
#ifdef STORE_INDEX
    word = element.y;
#else
    word = decode(element.x);
#endif
}
