// Limits: writes the largest of FETCHES neighbouring texels of texture0, which is larger than the target by a margin.
// SAMPLER and TEXEL are the types for its format.
uniform highp SAMPLER texture0;
in vec2 texel;
out TEXEL value;

void main() {
    ivec2 at = ivec2(texel);
    value = texelFetch(texture0, at, 0);
    for (int i = 1; i < FETCHES; ++i) value = max(value, texelFetch(texture0, at + ivec2(i & 3, i >> 2), 0));
}
