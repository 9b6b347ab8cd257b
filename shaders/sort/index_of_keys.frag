// Extracts the indices from sorted keys of two words (banked.glsl or tiles.glsl), where they are the low word. Texel i,
// row after row, becomes the index of the i-th key.
//     texture0   the keys
uniform highp usampler2DArray texture0;
uniform int target_width;
out uint place;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    place = sorted_key(texture0, i).x;
}
