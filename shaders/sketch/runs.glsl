// The sorted codes (codes.glsl) of a batch, four per texel in rows of 2^codes_log2 texels. After the last one all bits
// are 1.
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

// The first index in [low, high] with a code above `code`, or high.
int after(uint code, int low, int high) {
    while (low < high) {
        int middle = (low + high) >> 1;
        if (code_at(middle) <= code) low = middle + 1;
        else high = middle;
    }
    return low;
}
