// Texel i: the index of set bit first + i, found by going down from the top of a pyramid of counts. SAMPLERS: the
// levels. DESCEND: a call of `down` for each level. TOP: the level with one texel. ON_GPU: the CPU does not know the
// number of set bits. SAMPLE: number of bits to list, one from each of that many equal parts of all `count` bits. Needs
// a source of words before it, which also defines what is written: uvec2 found(int word, int bit).
SAMPLERS
#ifndef SAMPLE
uniform uint first;
#endif
uniform uint count;  // of the list
out uvec2 place;

uvec4 texel_at(highp usampler2D level, int i) { return texelFetch(level, ivec2(i & 1023, i >> 10), 0); }

// Goes from a count of the level above, which is the sum of four texels, to one of this level. `rest` is the number of
// bits before the wanted one.
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
// The beginning of part i. Pre: SAMPLE is at most 2^16.
uint part(uint i) { return i * (count / SAMPLE) + i * (count % SAMPLE) / SAMPLE; }

// A random position in part i, so that the sample does not depend on patterns in the order of rows.
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
