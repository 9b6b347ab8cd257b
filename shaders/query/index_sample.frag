// A sample of a column: the key of a random row of each `stride` consecutive rows, and whether it has a value. Lists
// have 1024 entries per line. Needs keys.glsl and selection.glsl before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // one bit per row: whether it has a value
uniform int rows;
uniform int stride;
out uvec4 key_and_valid;

uint mixed(uint i) {
    i = (i ^ (i >> 16)) * 0x7feb352du;
    i = (i ^ (i >> 15)) * 0x846ca68bu;
    return i ^ (i >> 16);
}

void main() {
    int i = int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x);
    key_and_valid = uvec4(0u);
    if (i * stride >= rows) return;
    int row = min(i * stride + int(mixed(uint(i)) % uint(stride)), rows - 1);
    ivec2 pixel = ivec2(row % (32 * WORDS), row / (32 * WORDS));
    key_and_valid = uvec4(key_of_row(texture0, WIDE_X, pixel), is_set(texture1, pixel) ? 1u : 0u, 0u);
}
