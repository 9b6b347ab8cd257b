// Draws quads that are given as instances: corner (0..1, 0..1) of the strip selects from `target` and `source` = (x0,
// y0, x1, y1).
// Texel alignment: a target texel's fragment is at its centre, so `texel` is interpolated to x.5 of the wanted source
// texel, forwards or backwards:
//     target   | 0.5 | 1.5 | 2.5 | 3.5 |        (x0 = 0, x1 = 4)
//     source   | 7.5 | 6.5 | 5.5 | 4.5 |        (x0 = 8, x1 = 4)
in vec4 target;
in vec4 source;
uniform vec2 target_size;
out vec2 texel;

void main() {
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    texel = mix(source.xy, source.zw, corner);
    gl_Position = vec4(mix(target.xy, target.zw, corner) / target_size * 2.0 - 1.0, 0.0, 1.0);
}
