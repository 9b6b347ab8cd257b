// Limits: ROUNDS rounds of the odd-even transposition network over 16 values in registers. Two rounds are 15
// comparators, which are 30 min and max. Those of one round are independent.
out uvec4 value;

void order(inout uint a, inout uint b) {
    uint low = min(a, b);
    b = max(a, b);
    a = low;
}

void main() {
    uint v[16];
    uint seed = uint(gl_FragCoord.x) * 0x9e3779b1u + uint(gl_FragCoord.y) * 0x85ebca6bu;
    for (int i = 0; i < 16; ++i) v[i] = seed = seed * 1664525u + 1013904223u;
    for (int round = 0; round < ROUNDS; round += 2) {
        for (int i = 0; i < 8; ++i) order(v[2 * i], v[2 * i + 1]);
        for (int i = 0; i < 7; ++i) order(v[2 * i + 1], v[2 * i + 2]);
    }
    value = uvec4(v[0], v[5], v[10], v[15]);
}
