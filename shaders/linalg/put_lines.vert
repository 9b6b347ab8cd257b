// Second half of a swap by copying: quad 0 goes to the row (or column) of the step, quad 1 to that of the pivot.
in vec4 target;
uniform vec2 target_size;
uniform highp usampler2D texture1;  // the pivot
uniform int k;
uniform int columns;  // 1: lines are columns
out vec2 texel;

void main() {
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    if (columns == 1) corner = corner.yx;  // drawn like upright rectangles
    texel = mix(target.xy, target.zw, corner);
    uvec4 pivot = texelFetch(texture1, ivec2(0), 0);
    vec2 at = vec2(texel.x, float(target.y == 0.0 ? k : int(columns == 1 ? pivot.w : pivot.z)) + corner.y);
    gl_Position = vec4((columns == 1 ? at.yx : at) / target_size * 2.0 - 1.0, 0.0, 1.0);
}
