// One step of time: each cell changes by what flows through its four sides; its neighbours gain or lose the same.
// Rusanov's flux: the mean of both sides' flow, minus a term that damps waves which the grid cannot represent. Walls
// mirror the water, so nothing flows through them. Needs water.glsl before it.
//            |  above |
//     left ->|  cell  |-> right        `cell - time * (right - left + up - down)`
//            |  below |
uniform highp sampler2D texture1;  // one texel: speed of the fastest wave
uniform float courant;             // max distance that it may travel in a step, in cells
out vec4 cell_after;

// The flow to the right if the water is like this everywhere.
vec4 flow(vec4 cell) {
    float velocity = cell.y / cell.x;
    return velocity * cell + vec4(0.0, 0.5 * cell.x * cell.x, 0.0, 0.0);
}
vec4 through_side(vec4 left, vec4 right) {
    return 0.5 * (flow(left) + flow(right)) - 0.5 * max(speed(left), speed(right)) * (right - left);
}
// The same upwards: the two momenta are exchanged.
vec4 through_top(vec4 below, vec4 above) { return through_side(below.xzyw, above.xzyw).xzyw; }

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 cell = texelFetch(texture0, at, 0);
    vec4 mirrored_x = cell * vec4(1.0, -1.0, 1.0, 1.0), mirrored_y = cell * vec4(1.0, 1.0, -1.0, 1.0);
    vec4 left = at.x > 0 ? texelFetch(texture0, at - ivec2(1, 0), 0) : mirrored_x;
    vec4 right = at.x + 1 < size.x ? texelFetch(texture0, at + ivec2(1, 0), 0) : mirrored_x;
    vec4 below = at.y > 0 ? texelFetch(texture0, at - ivec2(0, 1), 0) : mirrored_y;
    vec4 above = at.y + 1 < size.y ? texelFetch(texture0, at + ivec2(0, 1), 0) : mirrored_y;
    float time = courant / texelFetch(texture1, ivec2(0), 0).x;
    cell_after = cell - time * (through_side(cell, right) - through_side(left, cell) + through_top(cell, above) -
                                through_top(below, cell));
}
