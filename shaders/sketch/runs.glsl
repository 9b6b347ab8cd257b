// The codes (codes.glsl) of a batch's places in order, four a texel in rows of 2^codes_log2 texels; beyond the last one
// they are all ones.
uniform highp usampler2D texture0;
uniform int codes_log2;

uvec4 four_codes(int four) {
    return texelFetch(texture0, ivec2(four & ((1 << codes_log2) - 1), four >> codes_log2), 0);
}

uint code_at(int i) {
    uvec4 four = four_codes(i >> 2);
    uvec2 two = (i & 2) != 0 ? four.zw : four.xy;
    return (i & 1) != 0 ? two.y : two.x;
}

// The first place in [low, high] whose code is more than that, or high.
int after(uint code, int low, int high) {
    while (low < high) {
        int middle = (low + high) >> 1;
        if (code_at(middle) <= code) low = middle + 1;
        else high = middle;
    }
    return low;
}
