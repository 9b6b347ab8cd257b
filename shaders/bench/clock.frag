// Limits: waits until the clock of the multiprocessor has advanced by that many cycles. The time that this takes gives
// the clock's rate.
uniform uint cycles;
out uvec4 value;

void main() {
    const uint most = 1u << 26;  // readings, so that it always ends
    uint begin = clock2x32ARB().x, passed = 0u, readings = 0u;
    while (passed < cycles && readings < most) {
        passed = clock2x32ARB().x - begin;
        ++readings;
    }
    value = uvec4(passed, readings, 0u, 0u);
}
