// The left side of a join in the layout of match.frag: row r is at (r mod 4, r div 4), with its key and a span of 0.
// Needs join_key.glsl before it.
uniform int first;  // index of the first left row
uniform int count;
out uvec4 range;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int row = 4 * at.y + at.x;
    range = row < count ? uvec4(join_key(first + row), 0u, 0u) : uvec4(0u);
}
