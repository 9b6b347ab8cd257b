// Converts keys of one channel of a texture, one per texel in rows, to the layout that block_sort.frag reads: four per
// texel, one after the other. With several CHANNELS a texel's keys follow each other. BITS: the texture holds the bits
// of keys. Otherwise the key is the float that a sampler makes of a texel.
//     texture0   the texels
//     texture1   with COUNTED, the number of keys, at most `count`
#ifdef COUNTED
uniform highp usampler2D texture1;
#endif
#ifdef BITS
uniform highp usampler2D texture0;
#else
uniform highp sampler2D texture0;
#endif
uniform int first_key;
uniform int count;         // number of keys, beginning with the first one
uniform int channel;       // channel of the keys, or the first one of several
uniform int source_width;  // of texture0
uniform int target_width;
uniform uint padding;  // the bits after the last key
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
    int number = count;
#ifdef COUNTED
    number = int(min(uint(count), texelFetch(texture1, ivec2(0), 0).x));
#endif
    uvec4 found;  // OpenGL ES indexes outputs by constants only
    for (int c = 0; c < 4; ++c) {
        int i = first + c;
        int key = first_key + i;
        found[c] = i < number ? bits_of(key / CHANNELS, channel + key % CHANNELS) : padding;
    }
    keys = found;
}
