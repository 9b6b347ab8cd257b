// Converts the keys of a buffer, which are `stride` texels apart, to the layout that block_sort.frag reads: one after
// the other. KEY_WORDS texels are a key. With PLANE, the key is the distance of a position, three floats, from a plane.
//     texture0   the buffer's texels from key `first_key` on, row after row
//     texture1   with COUNTED, the number of keys, at most `count`
uniform highp usampler2D texture0;
#ifdef COUNTED
uniform highp usampler2D texture1;
#endif
#ifdef PLANE
uniform vec4 plane;
#endif
uniform int first_key;
uniform int stride;
uniform int count;  // of all keys
uniform int target_width;
uniform uvec2 padding;  // the words after the last key
out uvec4 keys;

uint texel(int i) {
    int width = textureSize(texture0, 0).x;
    return texelFetch(texture0, ivec2(i % width, i / width), 0).x;
}

#ifdef PLANE
uint key_at(int i, int word) {
    vec3 at = uintBitsToFloat(uvec3(texel(i), texel(i + 1), texel(i + 2)));
    return floatBitsToUint(plane.x * at.x + plane.y * at.y + plane.z * at.z + plane.w);
}
#else
uint key_at(int i, int word) { return texel(i + word); }
#endif

void main() {
    int first = (4 / KEY_WORDS) * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    int number = count;
#ifdef COUNTED
    number = int(min(uint(count), texelFetch(texture1, ivec2(0), 0).x));
#endif
    uvec4 found;  // OpenGL ES indexes outputs by constants only
    for (int c = 0; c < 4; ++c) {
        int i = first + c / KEY_WORDS;
        int word = c % KEY_WORDS;
        found[c] = i < number ? key_at((i - first_key) * stride, word) : padding[word];
    }
    keys = found;
}
