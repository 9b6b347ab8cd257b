// Keeps the fragment of each texel with a channel that is out of order compared with the next element of its window,
// for an occlusion query to count. `texel` is the position of the next element. `direction` is 1 for ascending, -1 for
// descending.
uniform highp sampler2D texture0;
uniform float direction;
in vec2 texel;
out vec4 value;

void main() {
    vec4 own = texelFetch(texture0, ivec2(gl_FragCoord.xy), 0) * direction;
    vec4 next = texelFetch(texture0, ivec2(texel), 0) * direction;
    if (all(lessThanEqual(own, next))) discard;
    value = own;
}
