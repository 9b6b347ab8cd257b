// Puts elements into another order: element i, row after row, becomes element index[i] of the source. An element begins
// every `stride` texels; its first `words` texels move, and those between elements stay.
//     texture0   the source, whose texels are the bits of TEXEL, an unsigned integer or vector
//     texture1   the index
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int stride;
uniform int words;
uniform int target_width;
out TEXEL texel;

uvec4 fetch(highp usampler2D from, int i) {
    int width = textureSize(from, 0).x;
    return texelFetch(from, ivec2(i % width, i / width), 0);
}

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    int element = i / stride, word = i % stride;
    if (word < words) element = int(fetch(texture1, element).x);
    texel = TEXEL(fetch(texture0, element * stride + word));
}
