// The keys of x and, with TWO, of y for each row of a list. Both textures of rows have the same width. Needs keys.glsl
// before it.
uniform highp usampler2D texture0;  // rows in the order of cells
uniform highp usampler2D texture1;  // keys of x
uniform highp usampler2D texture2;  // keys of y
uniform int rows;
uniform int target_width;
out uvec2 keys;

void main() {
    keys = uvec2(0u);
    if (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x) >= rows) return;
    int row = int(texelFetch(texture0, ivec2(gl_FragCoord.xy), 0).x);
    ivec2 pixel = ivec2(row % (32 * WORDS), row / (32 * WORDS));
    keys.x = key_of_row(texture1, 0, pixel).x;
#ifdef TWO
    keys.y = key_of_row(texture2, 0, pixel).x;
#endif
}
