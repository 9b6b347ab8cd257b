// Joins four textures of one channel to one texture of four.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform highp usampler2D texture2;
uniform highp usampler2D texture3;
out uvec4 texel;

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    texel = uvec4(texelFetch(texture0, place, 0).x, texelFetch(texture1, place, 0).x, texelFetch(texture2, place, 0).x,
                  texelFetch(texture3, place, 0).x);
}
