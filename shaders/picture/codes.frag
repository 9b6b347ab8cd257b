// The first pass over a picture. Each fragment reads 32 texels of a row. It writes the bins of their values as bit planes
// (a word has one bit of all 32), and what the minimum, maximum and mean are made of. Needs value.glsl before it, and
// bins.glsl with CODES.
//     texture0   the picture
//     texels     0 .. 31 | 32 .. 63 | ...
//     words      0, in layer 0: which texels have a number; k: bit k - 1 of their bins, in layer k / 4; with CODES. The
//                first texel has the highest bit.
//     layer      the last one, with MOMENTS: minimum, maximum, sum (floats by their bits), count
uniform float share;  // a power of two, so that sums do not overflow
layout(location = 0) out uvec4 results[LAYERS];

void main() {
    float lowest = uintBitsToFloat(0x7f800000u), highest = uintBitsToFloat(0xff800000u), sum = 0.0;
    uint numbers = 0u;
    uvec4 a = uvec4(0u), b = uvec4(0u), c = uvec4(0u);
    int first = 32 * int(gl_FragCoord.x), end = row_width();
    for (int x = first; x < first + 32; ++x) {
        float v = value_at(x);
        bool is_number = x < end && (floatBitsToUint(v) & 0x7fffffffu) <= 0x7f800000u;
#ifdef MOMENTS
        uint times = is_number ? 1u : 0u;
#ifdef WEIGHTED
        times *= weight_at(x);
        is_number = times != 0u;
#endif
        lowest = is_number ? min(lowest, v) : lowest;
        highest = is_number ? max(highest, v) : highest;
        sum += is_number ? v * (share * float(times)) : 0.0;
        numbers += times;
#endif
#ifdef CODES
        uint code = is_number ? code_of(v) * 2u + 1u : 0u;
        const uvec4 four = uvec4(0u, 1u, 2u, 3u);
        a = (a << 1u) | ((uvec4(code) >> four) & 1u);
#if PLANE_LAYERS > 1
        b = (b << 1u) | ((uvec4(code) >> (four + 4u)) & 1u);
#endif
#if PLANE_LAYERS > 2
        c = (c << 1u) | ((uvec4(code) >> (four + 8u)) & 1u);
#endif
#endif
    }
#ifdef CODES
    results[0] = a;
#if PLANE_LAYERS > 1
    results[1] = b;
#endif
#if PLANE_LAYERS > 2
    results[2] = c;
#endif
#endif
#ifdef MOMENTS
    results[LAYERS - 1] = uvec4(floatBitsToUint(lowest), floatBitsToUint(highest), floatBitsToUint(sum), numbers);
#endif
}
