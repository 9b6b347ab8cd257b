// Texel i: the place of set bit first + i, found from the top of a pyramid of counts down. SAMPLERS: the levels;
// DESCEND: a call of `down` for each; TOP: the level of one texel. ON_GPU: the CPU does not know how many bits are set.
// SAMPLE: how many of `count` bits to list, one in each of as many equal parts. After a source of words, which also
// says what is written: uvec2 found(int word, int bit).
SAMPLERS
#ifndef SAMPLE
uniform uint first;
#endif
uniform uint count;  // of the list
out uvec2 place;

uvec4 texel_at(highp usampler2D level, int i) { return texelFetch(level, ivec2(i & 1023, i >> 10), 0); }

// From a count of the level above, which is the sum of four texels, to one of this level. `rest`: the bits before.
int down(highp usampler2D level, int above, inout uint rest) {
    int texel = 4 * above;
    uvec4 counts = texel_at(level, texel);
    for (int i = 0; i < 3; ++i) {
        uint sum = counts.x + counts.y + counts.z + counts.w;
        if (rest < sum) break;
        rest -= sum;
        ++texel;
        counts = texel_at(level, texel);
    }
    int channel = 0;
    for (; channel < 3; ++channel) {
        if (rest < counts[channel]) break;
        rest -= counts[channel];
    }
    return 4 * texel + channel;
}

#ifdef SAMPLE
// Where part i begins. Pre: SAMPLE is at most 2^16.
uint part(uint i) { return i * (count / SAMPLE) + i * (count % SAMPLE) / SAMPLE; }

// Somewhere within its part, so that no order of the rows agrees with the sample's by chance.
uint sampled(uint i) {
    uint mixed = (i ^ i >> 7) * 0x9e3779b1u;
    mixed = (mixed ^ mixed >> 15) * 0x85ebca77u;
    return part(i) + (mixed ^ mixed >> 13) % (part(i + 1u) - part(i));
}
#endif

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint i = uint(at.y * 1024 + at.x);
    place = uvec2(0u);
#ifdef SAMPLE
    uint rest = sampled(i);
#else
    if (i >= count) return;
#ifdef ON_GPU
    uvec4 counts = texel_at(TOP, 0);
    if (first + i >= counts.x + counts.y + counts.z + counts.w) return;
#endif
    uint rest = first + i;
#endif
    int node = 0;
    DESCEND
    int word = 8 * node;
    uint bits = word_at(word);
    for (int w = 0; w < 7; ++w) {
        uint set = uint(bitCount(bits));
        if (rest < set) break;
        rest -= set;
        ++word;
        bits = word_at(word);
    }
    for (; rest > 0u; --rest) bits &= bits - 1u;
    place = found(word, findLSB(bits));
}
