// Copies the words of a selection to lines of another width: texel i of the target, row after row, is word i.
//     texture0   the selection's words
uniform highp usampler2D texture0;
uniform int width;         // of texture0
uniform int target_width;
out uint word;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    word = texelFetch(texture0, ivec2(i % width, i / width), 0).x;
}
