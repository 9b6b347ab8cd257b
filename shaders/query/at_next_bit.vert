// 'Query Processing on GPUs', k-th largest: a quad at the depth of the largest value known so far with its next bit
// set. The counts of the passes before say which bits are set, so the CPU need not wait between passes: bit i of `bits`,
// from the top, is set when at least k values have it, and k loses what is greater in the planes before.
in vec4 target;
uniform vec2 target_size;
uniform highp usamplerBuffer texture7;  // counts
uniform int first;                      // the count of this plane's first bit
uniform int bits;                       // of the plane
uniform int known;                      // bits, from the top
uniform int planes;                     // before; the last count of each, in turn, is that of greater values
uniform int plane_counts;               // counts of a plane before
uniform uint k;                         // from 1

void main() {
    uint rank = k;
    for (int p = 1; p <= planes; ++p) rank -= texelFetch(texture7, p * plane_counts - 1).x;
    uint value = 0u;
    for (int i = 0; i < known; ++i)
        if (texelFetch(texture7, first + i).x >= rank) value |= 1u << (bits - 1 - i);
    if (known < bits) value |= 1u << (bits - 1 - known);
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    gl_Position = vec4(mix(target.xy, target.zw, corner) / target_size * 2.0 - 1.0, uintBitsToFloat(value + 0x00800000u), 1.0);
}
