// Words of matches from the places listed, 4 texel + left row, to be read back.
uniform highp usampler2D texture0;  // words, `width` texels a line
uniform highp usampler2D texture1;  // places
uniform int width;
out uint bits;

void main() {
    uint place = texelFetch(texture1, ivec2(gl_FragCoord.xy), 0).x;
    int texel = int(place >> 2);
    bits = texelFetch(texture0, ivec2(texel % width, texel / width), 0)[place & 3u];
}
