// The comparison for keys that blending cannot order: each texel is compared with the partner at its texture
// coordinates. `take_max` 0 keeps the smaller, 1 the larger key of each channel.
uniform highp usampler2D texture0;
uniform int take_max;
in vec2 texel;
out uvec4 value;

void main() {
    uvec4 own = texelFetch(texture0, ivec2(gl_FragCoord.xy), 0);
    uvec4 partner = texelFetch(texture0, ivec2(texel), 0);
    value = take_max == 0 ? min(own, partner) : max(own, partner);
}
