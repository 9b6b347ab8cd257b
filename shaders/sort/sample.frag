// Every `step`-th of the sorted keys (banked.glsl or tiles.glsl) 0 .. last, and the last one, row after row.
//     texture0   the keys
uniform highp usampler2DArray texture0;
uniform int step;
uniform int last;
uniform int target_width;
out uint key;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    key = sorted_key(texture0, i <= last / step ? i * step : last);
}
