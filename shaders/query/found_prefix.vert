// Draws a quad for found_plane.frag, and passes the bits found so far to it. Needs shifted.glsl and found_bits.glsl
// before it.
in vec4 target;
uniform vec2 target_size;
uniform int known;  // number of known bits, from the highest
uniform int above;  // shift of the last of them
flat out uvec2 prefix;

void main() {
    prefix = shifted(found_bits(known), above);
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    gl_Position = vec4(mix(target.xy, target.zw, corner) / target_size * 2.0 - 1.0, 0.0, 1.0);
}
