// Converts float bits to unsigned keys in the library's total order and back (the rule is in src/cpu/keys.hpp).
// `decode` 0: bits to keys; 1: keys to bits. `flip` is the sign bit for descending order, otherwise 0.
uniform highp usampler2D texture0;
uniform uint decode;
uniform uint flip;
in vec2 texel;
out uvec4 value;

void main() {
    uvec4 v = texelFetch(texture0, ivec2(texel), 0);
    if (decode == 0u) {
        v ^= flip;
        value = (v ^ (0u - (v >> 31u) | 0x80000000u)) - 0x007fffffu;
    } else {
        v += 0x007fffffu;
        value = v ^ ((v >> 31u) - 1u | 0x80000000u);
        value ^= flip;
    }
}
