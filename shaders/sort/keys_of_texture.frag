// The keys of a texture, one a texel in rows, to the form that block_sort.frag reads: four a texel, one after the
// other.
//     texture0   bits of the keys
uniform highp usampler2D texture0;
uniform int count;         // of keys
uniform int source_width;  // of texture0
uniform int target_width;
uniform uint padding;  // the bits behind the last key
out uvec4 keys;

void main() {
    int first = 4 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    for (int c = 0; c < 4; ++c) {
        int i = first + c;
        keys[c] = i < count ? texelFetch(texture0, ivec2(i % source_width, i / source_width), 0).x : padding;
    }
}
