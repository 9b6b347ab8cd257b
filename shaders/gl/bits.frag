// The bits of a texel with channels of 32 bits. TEXELS is the sampler, and BITS turns a texel into bits.
uniform TEXELS texture0;
uniform ivec2 corner;  // of the part that is copied

out uvec4 bits;

void main() {
    bits = BITS(texelFetch(texture0, ivec2(gl_FragCoord.xy) + corner, 0));
}
