// Keys of one channel of a texture, one a texel in rows, to the form that block_sort.frag reads: four a texel, one
// after the other; or of CHANNELS of them, a texel's keys one after the other. With BITS the texture holds their bits;
// otherwise what a sampler makes of a texel, a float, is the key.
//     texture0   the texels
#ifdef BITS
uniform highp usampler2D texture0;
#else
uniform highp sampler2D texture0;
#endif
uniform int first_key;
uniform int count;         // of keys, from the first one on
uniform int channel;       // which has the keys, or the first of them
uniform int source_width;  // of texture0
uniform int target_width;
uniform uint padding;  // the bits behind the last key
out uvec4 keys;

uint bits_of(int texel, int c) {
    ivec2 place = ivec2(texel % source_width, texel / source_width);
#ifdef BITS
    return texelFetch(texture0, place, 0)[c];
#else
    return floatBitsToUint(texelFetch(texture0, place, 0)[c]);
#endif
}

void main() {
    int first = 4 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    uvec4 found;  // OpenGL ES indexes an output by constants only
    for (int c = 0; c < 4; ++c) {
        int i = first + c;
        int key = first_key + i;
        found[c] = i < count ? bits_of(key / CHANNELS, channel + key % CHANNELS) : padding;
    }
    keys = found;
}
