// The memory accesses of a step of a sorting network: each texel meets the one at its texture coordinates.
uniform highp sampler2D texture0;
in vec2 texel;
out vec4 value;

void main() {
    value = min(texelFetch(texture0, ivec2(gl_FragCoord.xy), 0), texelFetch(texture0, ivec2(texel), 0));
}
