// Chooses the next two bits of the k-th smallest key. texture0 has the numbers of keys whose next bits are 0, 1, 2, 3.
// texture1 has the prefix so far (low, high) and k, counted from 0 among the keys with this prefix. Writes the new
// prefix and k.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int shift;
out uvec4 result;

void main() {
    uvec4 counts = texelFetch(texture0, ivec2(0), 0);
    uvec4 state = texelFetch(texture1, ivec2(0), 0);
    uint digit = 0u;
    if (state.z >= counts.x) {
        state.z -= counts.x;
        digit = 1u;
        if (state.z >= counts.y) {
            state.z -= counts.y;
            digit = 2u;
            if (state.z >= counts.z) {
                state.z -= counts.z;
                digit = 3u;
            }
        }
    }
    if (shift >= 32) {
        state.y |= digit << (shift - 32);
    } else {
        state.x |= digit << shift;
    }
    result = state;
}
