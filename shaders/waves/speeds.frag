// The fastest wave in each square of 4 x 4 cells, in either direction. pass::Fold continues from there. Needs
// water.glsl before it.
out vec4 fastest;

float fastest_in(ivec2 at) {
    vec4 cell = texelFetch(texture0, min(at, size - 1), 0);
    return max(speed(cell), speed(cell.xzyw));
}

void main() {
    ivec2 corner = 4 * ivec2(gl_FragCoord.xy);
    float most = 0.0;
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) most = max(most, fastest_in(corner + ivec2(x, y)));
    }
    fastest = vec4(most);
}
