// The first pass of a reduction: folds 64 elements into one partial result. ALL: elements of the whole matrix in
// row-major order;
// otherwise of the fragment's row or column. Needs fold.glsl before it.
//     elements   0 .. 63 | 64 .. 127 | ...
//     result     0       | 1         | ...
#ifdef INTEGERS
uniform highp usampler2D texture0;
#else
uniform highp sampler2D texture0;
#endif
#ifdef DOT
uniform highp sampler2D texture1;
#endif
#ifdef SCALED
uniform highp usampler2D texture1;  // largest absolute value of all, or of each row or column
#endif
uniform int count;         // elements in all, per row, or per column
uniform int width;         // of texture0, if there are no lines
uniform int target_width;
out STATE result;

ivec2 place(int e) {
#ifdef ROWS
    return ivec2(e, int(gl_FragCoord.y));
#else
#ifdef COLUMNS
    return ivec2(int(gl_FragCoord.x), e);
#else
    return ivec2(e % width, e / width);
#endif
#endif
}
int first_element() {
#ifdef ROWS
    return 64 * int(gl_FragCoord.x);
#else
#ifdef COLUMNS
    return 64 * int(gl_FragCoord.y);
#else
    return 64 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
#endif
#endif
}

#ifdef SUMS
#ifdef SCALED
// 2^-e for the exponent e of the largest value, so that no square overflows and none that matters underflows.
float scale() {
#ifdef ROWS
    uint key = texelFetch(texture1, ivec2(0, int(gl_FragCoord.y)), 0).x;
#else
#ifdef COLUMNS
    uint key = texelFetch(texture1, ivec2(int(gl_FragCoord.x), 0), 0).x;
#else
    uint key = texelFetch(texture1, ivec2(0), 0).x;
#endif
#endif
    uint exponent = clamp(key >> 23u, 1u, 253u);
    return uintBitsToFloat((254u - exponent) << 23u);
}
#endif
float value(int e) {
    if (e >= count) return 0.0;
    float x = texelFetch(texture0, place(e), 0).x;
#ifdef DOT
    x *= texelFetch(texture1, place(e), 0).x;
#endif
#ifdef SCALED
    x *= scale();
    x *= x;
#endif
    return x;
}
// Each channel sums every fourth element.
vec4 next(int e) { return vec4(value(e), value(e + 1), value(e + 2), value(e + 3)); }
vec4 sixteen(int e) { return four(next(e), next(e + 4), next(e + 8), next(e + 12)); }
void main() {
    int e = first_element();
    result = four(sixteen(e), sixteen(e + 16), sixteen(e + 32), sixteen(e + 48));
}
#else
STATE value(int e) {
#ifdef INTEGERS
    uint word = texelFetch(texture0, place(e), 0).x;
#ifdef SIGNED
    return uvec4(word, (word >> 31u) * 0xffffffffu, 0u, 0u);
#else
    return uvec4(word, 0u, 0u, 0u);
#endif
#else
    uint bits = floatBitsToUint(texelFetch(texture0, place(e), 0).x);
    uint magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return nothing;  // a NaN
#ifdef MAGNITUDES
    return uvec4(magnitude, uint(e), 0u, 0u);
#else
    if (magnitude == 0u) bits = 0u;  // both zeros are the same value
    return uvec4(bits ^ ((bits >> 31u) == 1u ? 0xffffffffu : 0x80000000u), uint(e), 0u, 0u);
#endif
#endif
}
void main() {
    int e = first_element();
    STATE folded = nothing;
    for (int i = e; i < min(e + 64, count); ++i) folded = both(folded, value(i));
    result = folded;
}
#endif
