// Elements in the texels of the early sorts: element e is in texel e / PER_TEXEL, in rows of 2^width_log2. An element
// is a key or, with PAIRS, a key and its index. Both are compared, so that padding, which has the highest index,
// follows all keys.
uniform int width_log2;

#ifdef PAIRS
uvec2 element_in(uvec4 texel, int c) {
    return c == 0 ? texel.xy : texel.zw;
}
uvec4 texel_of(uvec2 a, uvec2 b) {
    return uvec4(a, b);
}
#else
uvec2 element_in(uvec4 texel, int c) {
    return uvec2(c == 0 ? texel.x : texel.y, 0u);
}
uvec4 texel_of(uvec2 a, uvec2 b) {
    return uvec4(a.x, b.x, 0u, 0u);
}
#endif

bool less(uvec2 a, uvec2 b) {
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

uvec2 keep(uvec2 own, uvec2 other, bool larger) {
    return less(own, other) != larger ? own : other;
}
