// SIGMOD'05, routines 4.1 and 4.2: the fragment's value is the texel at its texture coordinates. Blending does the
// rest.
uniform highp sampler2D texture0;
in vec2 texel;
out vec4 value;

void main() {
    value = texelFetch(texture0, ivec2(texel), 0);
}
