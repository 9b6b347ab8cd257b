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
    uvec2 rank = multiply_doubles(phi, double_of(n));
    uvec2 slack = multiply_doubles(rank, uvec2(0u, 0x3cd00000u));  // 2^-50
    int exponent = int(rank.y >> 20) - 1023;
    uint below = exponent < 0 ? 0u : (0x80000000u | rank.y << 11 | rank.x >> 21) >> (31 - exponent);  // rounded down
    uvec2 above = add_doubles(rank, negative_double(double_of(below)));
    bool is_whole = above.y != slack.y ? above.y < slack.y : above.x <= slack.x;
    return clamp(is_whole ? below : below + 1u, 1u, max(n, 1u)) - 1u;
}
#elif defined(SMALLEST)
uint before(uint n) { return min(k, max(n, 1u)) - 1u; }
#else
uint before(uint n) { return n - min(k, n); }
#endif

void main() {
    state = uvec4(prefix, before(texelFetch(texture0, ivec2(0), 0).x), 0u);
}
