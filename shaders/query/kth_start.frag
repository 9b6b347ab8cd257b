// The texel that choose_digit.frag begins with if only the GPU knows the rank of the k-th value: the empty prefix, and
// the number of keys before the value. If there are too few values, the result is arbitrary.
//     texture0   the number of values
uniform highp usampler2D texture0;
uniform uvec2 prefix;
#ifdef QUANTILE
uniform uvec2 phi;  // a double
#else
uniform uint k;  // from 1; SMALLEST: the k-th smallest, otherwise the k-th largest
#endif
out uvec4 state;

#ifdef QUANTILE
// As in cpu/rank.hpp: ceil(phi n), but a product that is an integer except for rounding is that integer.
uint before(uint n) {
    precise double rank = packDouble2x32(phi) * double(n);
    double whole = roundEven(rank);
    precise double slack = rank * packDouble2x32(uvec2(0u, 0x3cd00000u));  // 2^-50
    double up = abs(rank - whole) <= slack ? whole : ceil(rank);
    return clamp(uint(up), 1u, max(n, 1u)) - 1u;
}
#elif defined(SMALLEST)
uint before(uint n) { return min(k, max(n, 1u)) - 1u; }
#else
uint before(uint n) { return n - min(k, n); }
#endif

void main() {
    state = uvec4(prefix, before(texelFetch(texture0, ivec2(0), 0).x), 0u);
}
