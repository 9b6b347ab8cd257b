// Makes keys of two words, the number of a key's segment above the key as an unsigned number in the library's order
// (key_order.glsl), in the layout that block_sort.frag reads: two per texel, one after the other.
//     texture0   the bits of the keys, four per texel, one after the other
//     texture1   the ends of the segments, row after row; they ascend to the number of keys
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int count;
uniform int segments;
uniform int target_width;
out uvec4 keys;

uint key_at(int i) {
    int width = textureSize(texture0, 0).x, texel = i / 4;
    return texelFetch(texture0, ivec2(texel % width, texel / width), 0)[i % 4];
}

// The first segment that ends after key i.
uint segment_of(int i) {
    int width = textureSize(texture1, 0).x;
    int low = 0, high = segments - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        bool is_after = int(texelFetch(texture1, ivec2(middle % width, middle / width), 0).x) > i;
        low = is_after ? low : middle + 1;
        high = is_after ? middle : high;
    }
    return uint(low);
}

uvec2 both(int i) { return i < count ? uvec2(encode(key_at(i)), segment_of(i)) : uvec2(0xffffffffu); }

void main() {
    int first = 2 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    keys = uvec4(both(first), both(first + 1));
}
