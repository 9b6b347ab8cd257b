// Copies a row-major array to a target of another size, bit for bit: element i of the target is element i of texture0,
// and `padding` after the last of the `count` elements.
uniform highp usampler2D texture0;
uniform int count;
uniform int target_width;
uniform int source_width;
uniform uint padding;
out uvec4 value;

void main() {
    int i = int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x);
    value = i < count ? texelFetch(texture0, ivec2(i % source_width, i / source_width), 0) : uvec4(padding);
}
