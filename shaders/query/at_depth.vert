// Draws a quad at the depth of `code`. Needs depth_code.glsl before it. `target` is as in quad.vert.
in vec4 target;
uniform vec2 target_size;
uniform uint code;

void main() {
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    gl_Position = vec4(mix(target.xy, target.zw, corner) / target_size * 2.0 - 1.0, depth_of(code), 1.0);
}
