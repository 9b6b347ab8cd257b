// Converts keys of one channel of a rectangle of a texture, one per texel in rows, to the layout that block_sort.frag
// reads: four per texel, one after the other. With several CHANNELS a texel's keys follow each other. A key is the bits of
// the number that a sampler of the kind TEXELS reads, which BITS gives. With PLANE, the key is the distance of the texel's
// red, green and blue from a plane; PLANE converts what the sampler reads to floats.
//     texture0   the texels
//     texture1   with COUNTED, the number of keys, at most `count`
#ifdef COUNTED
uniform highp usampler2D texture1;
#endif
uniform highp TEXELS texture0;
uniform ivec2 corner;      // the first texel of the rectangle
uniform int first_key;
uniform int count;         // number of keys, beginning with the first one
#ifdef PLANE
uniform vec4 plane;
#else
uniform int channel;  // channel of the keys, or the first one of several
#endif
uniform int source_width;  // of the rectangle
uniform int target_width;
uniform uint padding;  // the bits after the last key
out uvec4 keys;

uint bits_of(int i) {
    int texel = i / CHANNELS;
    ivec2 place = corner + ivec2(texel % source_width, texel / source_width);
#ifdef PLANE
    vec3 at = PLANE(texelFetch(texture0, place, 0).xyz);
    return floatBitsToUint(plane.x * at.x + plane.y * at.y + plane.z * at.z + plane.w);
#else
    return BITS(texelFetch(texture0, place, 0))[channel + i % CHANNELS];
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
        found[c] = i < number ? bits_of(first_key + i) : padding;
    }
    keys = found;
}
