// Draws rows at the positions that the pointers give: quad i covers texels [0, columns) of row i.
//     pointers   3 0 2 1        quad 1 -> row 0 of the target
in vec4 target;
uniform vec2 target_size;
uniform highp usampler2D texture1;
uniform int first_column;

void main() {
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    float row = float(texelFetch(texture1, ivec2(int(target.y), 0), 0).x);
    vec2 at = vec2(mix(float(first_column), target.z, corner.x), row + corner.y);
    gl_Position = vec4(at / target_size * 2.0 - 1.0, 0.0, 1.0);
}
