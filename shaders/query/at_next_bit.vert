// 'Query Processing on GPUs', k-th largest: draws a quad at the depth of the value known so far, with its next bit set.
// The counts of the previous passes tell which bits are set, so the CPU need not wait between passes. Needs
// depth_code.glsl, shifted.glsl and found_bits.glsl before it.
in vec4 target;
uniform vec2 target_size;
uniform int known;  // number of known bits, from the highest
uniform int shift;  // of the plane in the depth buffer
uniform uint mask;

void main() {
    uvec2 value = found_bits(known);
    int next = bits - 1 - known;
    if (next >= 32) value.y |= 1u << (next - 32);
    else value.x |= 1u << next;
    uint code = shifted_low(value, shift) & mask;
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    gl_Position = vec4(mix(target.xy, target.zw, corner) / target_size * 2.0 - 1.0, depth_of(code), 1.0);
}
