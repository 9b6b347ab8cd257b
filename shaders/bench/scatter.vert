// Limits: point i goes to a texel that a hash of i selects, like the updates of a sketch. `target_size` is in texels.
uniform vec2 target_size;

uint hash(uint i) {
    i = (i ^ (i >> 16)) * 0x7feb352du;
    i = (i ^ (i >> 15)) * 0x846ca68bu;
    return i ^ (i >> 16);
}

void main() {
    uint place = hash(uint(gl_VertexID));
    uint width = uint(target_size.x);
    uint texel = place % (width * uint(target_size.y));
    vec2 centre = vec2(float(texel % width), float(texel / width)) + 0.5;
    gl_PointSize = 1.0;
    gl_Position = vec4(centre / target_size * 2.0 - 1.0, 0.0, 1.0);
}
