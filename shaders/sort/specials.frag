// Keeps the fragment of each texel with a value that blending cannot order exactly (NaN, denormal, -0), for an
// occlusion query to count. The bits are read as integers, so that no float unit changes them.
uniform highp usampler2D texture0;
in vec2 texel;
out uvec4 value;

void main() {
    uvec4 bits = texelFetch(texture0, ivec2(texel), 0);
    uvec4 magnitude = bits << 1u;
    uvec4 outside = uvec4(greaterThan(magnitude - 0x01000000u, uvec4(0xfe000000u)));
    uvec4 not_zero = uvec4(notEqual(bits, uvec4(0u)));
    value = outside & not_zero;
    if (value == uvec4(0u)) discard;
}
