// Takes `each` keys from each of `segments` segments: keys 0, stride, 2 stride, ... and key `last`. The segments are
// sorted (banked.glsl or tiles.glsl) and begin `places` positions apart. Keys are written segment after segment, row
// after row.
//     texture0   the keys
uniform highp usampler2DArray texture0;
uniform int segments;
uniform int places;
uniform int each;
uniform int stride;
uniform int last;
uniform int target_width;
out KEY key;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    int segment = min(i / each, segments - 1);
    int number = i - segment * each;
    key = sorted_key(texture0, segment * places + (number <= last / stride ? number * stride : last));
}
