// GPUTeraSort, Routine 4.1, line 5: each texel of a quad meets the texel at its texture coordinates, its partner, and
// keeps the smaller or the larger key of each channel. A key is PLANES words in as many layers, the most significant
// one first (the key texture and the pointer texture of section 4.2).
//     texel          the partner; the quad's code times the texture's width is added to its column:
//     code, bit r    1: keep the larger key in step r, counted from the last step between texels
//           bit STEPS   1: the texel belongs to a run with the reverse direction
// If quads would be too narrow for efficient shading, they are as wide as the run and meet themselves, and `columns`
// (all bits 0 .. STEPS - 1) makes the column decide.
// Texel alignment: all coordinates are moved by whole texels, so `texel` is the centre x.5 of the partner:
//     width 4, code 1, distance 1   here | 0.5 | 1.5 |   partner | 1.5 | 0.5 |   texel | 5.5 | 4.5 |
//
// With STEPS > 1 (beyond the paper) the texel makes that many consecutive steps, the last one at distance 2^low_log2
// texels. v[k] is the texel whose number differs from this one's in the bits k << low_log2. So the texel that differs
// from v[k] in the highest bit is next to the partner in the same way. In every step, all v that are still needed keep
// the same side.
struct FourKeys {
    uvec4 plane[PLANES];
};
uniform highp usampler2DArray texture0;
uniform int width_log2;
uniform int low_log2;
uniform int columns;
uniform int turn_row;      // rows with this bit have the reverse direction
uniform int turn_channel;  // channels with this bit have the reverse direction
uniform int pairs;         // 1: also sorts within the texel, x y ascending and z w descending
uniform int fours;         // 1: also sorts x y z w, which are a bitonic sequence
in vec2 texel;
layout(location = 0) out uvec4 plane[PLANES];

FourKeys load(ivec2 place) {
    FourKeys keys;
    for (int p = 0; p < PLANES; ++p) keys.plane[p] = texelFetch(texture0, ivec3(place, p), 0);
    return keys;
}

bvec4 bit(int number) {
    return bvec4((number & 1) != 0);
}

// For each channel, the smaller key of a and b, or the larger one if `larger`. It does not use masks made of bools:
// when NVIDIA's compiler folds them, it sometimes takes `true` for 1 and sometimes for ~0u.
FourKeys keep(FourKeys a, FourKeys b, bvec4 larger) {
    for (int c = 0; c < 4; ++c) {
        bool less = false;
        for (int p = PLANES - 1; p >= 0; --p) {
            less = a.plane[p][c] < b.plane[p][c] || (a.plane[p][c] == b.plane[p][c] && less);
        }
        for (int p = 0; p < PLANES; ++p) a.plane[p][c] = less != larger[c] ? a.plane[p][c] : b.plane[p][c];
    }
    return a;
}

FourKeys neighbours(FourKeys v) {
    for (int p = 0; p < PLANES; ++p) v.plane[p] = v.plane[p].yxwz;
    return v;
}

FourKeys halves(FourKeys v) {
    for (int p = 0; p < PLANES; ++p) v.plane[p] = v.plane[p].zwxy;
    return v;
}

// Bounds are constants: compilers must know the indices to keep the keys in registers.
#define STEP(r) \
    for (int k = 0; k < (1 << r); ++k) v[k] = keep(v[k], v[k + (1 << r)], notEqual(channels, bit(code >> r)));

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    ivec2 there = ivec2(texel);
    int code = there.x >> width_log2;
    there.x &= (1 << width_log2) - 1;
    there.x ^= ((columns + 1) >> 1) << low_log2;
    code ^= (here.x >> low_log2) & columns;
    if ((here.y & turn_row) != 0) code = ~code;
    bvec4 channels = notEqual(ivec4(0, 1, 2, 3) & turn_channel, ivec4(0));
    FourKeys v[1 << STEPS];
#if STEPS == 0
    v[0] = load(here);
#else
    for (int k = 0; k < (1 << (STEPS - 1)); ++k) {
        int bits = k << low_log2;
        ivec2 beside = ivec2(bits & ((1 << width_log2) - 1), bits >> width_log2);
        v[k] = load(here ^ beside);
        v[k + (1 << (STEPS - 1))] = load(there ^ beside);
    }
#endif
#if STEPS >= 3
    STEP(2)
#endif
#if STEPS >= 2
    STEP(1)
#endif
#if STEPS >= 1
    STEP(0)
#endif
    FourKeys own = v[0];
    bvec4 turned = bit(code >> STEPS);
    if (pairs != 0) own = keep(own, neighbours(own), bvec4(false, true, true, false));
    if (fours != 0) {
        own = keep(own, halves(own), notEqual(turned, bvec4(false, false, true, true)));
        own = keep(own, neighbours(own), notEqual(turned, bvec4(false, true, false, true)));
    }
    WRITE_PLANES(plane, own.plane)
}
