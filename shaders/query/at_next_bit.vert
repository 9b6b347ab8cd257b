// 'Query Processing on GPUs', k-th largest: a quad at the depth of the value known so far with its next bit set. The
// counts of the passes before say which bits are set, so the CPU need not wait between passes. After depth_code.glsl,
// shifted.glsl, found_bits.glsl.
in vec4 target;
uniform vec2 target_size;
uniform int known;  // bits, from the top
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
