// What counts as zero, and division. Hardware may flush denormals, and their reciprocals overflow, so here they count
// as zero.
uint size_of(float value) {  // ordered by absolute value; NaNs follow infinity
    uint bits = floatBitsToUint(value) & 0x7fffffffu;
    return bits < 0x00800000u ? 0u : bits;
}
// 0 if the pivot is zero: then everything below it is zero, too, or the factors are reported as invalid. The reciprocal
// of a large pivot would be denormal, hence the scale.
float quotient(float a, float pivot) {
    if (size_of(pivot) == 0u) return 0.0;
    float scale = abs(pivot) > 18446744073709551616.0 ? 5.421010862427522e-20 : 1.0;
    return (a * scale) / (pivot * scale);
}
