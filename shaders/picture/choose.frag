// Chooses the next four bits of each percentile's code: those among whose texels its rank is. A fragment per percentile.
//     texture0   the chunks of chunks.frag for digits.frag
//     texture1   the state before: the code's bits so far, and the rank among the texels that share them; not with FIRST
// With LAST it writes the value: a float by its bits.
uniform highp usampler2DArray texture0;
#ifndef FIRST
uniform highp usampler2D texture1;
uniform int turn;
#else
const int turn = 0;
uniform uvec4 low_phi, high_phi;  // the fractions, times 2^32
#endif
uniform int chunks;
uniform int weights;  // number of their bits
uniform int stride;   // columns of the chunks per bit
#ifdef LAST
out uint value;
#else
out uvec2 state;
#endif

// The numbers of texels with the 16 digits: of digit d in channel d >> 2 of vector d & 3.
void add(int column, out uvec4 digits[4]) {
    for (int i = 0; i < 4; ++i) digits[i] = uvec4(0u);
    for (int i = weights * chunks - 1; i >= 0; --i) {
        int bit = i / chunks, x = column + bit * stride;
        uvec4 even = texelFetch(texture0, ivec3(x, i % chunks, 0), 0), odd = texelFetch(texture0, ivec3(x, i % chunks, 1), 0);
        digits[0] += (even & 0xffffu) << bit;
        digits[1] += (odd & 0xffffu) << bit;
        digits[2] += (even >> 16) << bit;
        digits[3] += (odd >> 16) << bit;
    }
}

void main() {
    int mine = int(gl_FragCoord.x), column = 0;
    uvec4 digits[4];
#ifdef FIRST
    add(1, digits);
    uint nans = digits[0].x, code = 0u, rank, rest;
    add(0, digits);
    uvec4 sum = digits[0] + digits[1] + digits[2] + digits[3];
    uint numbers = sum.x + sum.y + sum.z + sum.w - nans;
    umulExtended(max(numbers, 1u) - 1u, mine < 4 ? low_phi[mine] : high_phi[mine - 4], rank, rest);
    rank += rest >> 31;
#else
    uvec2 before = texelFetch(texture1, ivec2(mine, 0), 0).xy;
    uint code = before.x, rank = before.y;
    // The first percentile with these bits has the numbers of all that have them.
    for (int q = mine; q >= 0; --q) {
        if (texelFetch(texture1, ivec2(q, 0), 0).x == code) column = q;
    }
    add(column, digits);
#endif
    uint digit = 15u;
    bool is_found = false;
    for (int d = 0; d < 15; ++d) {
        uint number = digits[d & 3][d >> 2];
        if (!is_found && rank < number) {
            digit = uint(d);
            is_found = true;
        }
        if (!is_found) rank -= number;
    }
    code |= digit << (28 - 4 * turn);
#ifdef LAST
    // Bits below the last digit are zeros in a positive float, and ones in the code of a negative one.
    uint rest_of_code = (1u << (28 - 4 * turn)) - 1u;
    value = (code >> 31) != 0u ? code ^ 0x80000000u : ~(code | rest_of_code);
    if ((value & 0x7fffffffu) > 0x7f800000u) value = 0x7fc00000u;
#else
    state = uvec2(code, rank);
#endif
}
