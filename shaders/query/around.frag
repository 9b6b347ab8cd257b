// Counts the selected keys among 128 rows that are below a range, and those within it: (below, within). Needs keys.glsl
// before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // selection
uniform KEY low;
uniform KEY span;  // low <= key <= low + span
out uvec4 counts;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    counts = uvec4(0u);
    for (int w = 0; w < 4; ++w) {
        ivec2 from = ivec2(at.x + w * (WORDS / 4), at.y);
        uint word = texelFetch(texture1, from, 0).x;
        if (word == 0u) continue;
        for (int i = 0; i < TEXELS; ++i) {
            uvec4 texel = texel_of(texture0, from, i);
            for (int row = 0; row < ROWS; ++row) {
                KEY key = key_of(texel, row);
                uint selected = word >> (ROWS * i + row) & 1u;
                counts.x += less(key, low) ? selected : 0u;
                counts.y += less(span, minus(key, low)) ? 0u : selected;
            }
        }
    }
}
