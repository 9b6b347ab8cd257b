// The left side of a join as match.frag reads it: row r at (r mod 4, r div 4), its key and a span of 0. After
// join_key.glsl.
uniform int first;  // of the left rows in order
uniform int count;
out uvec4 range;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int row = 4 * at.y + at.x;
    range = row < count ? uvec4(join_key(first + row), 0u, 0u) : uvec4(0u);
}
