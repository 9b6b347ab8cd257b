// texture0 + step_size * texture1, in the first three channels: positions and velocities, or velocities and
// accelerations.
uniform highp sampler2D texture0;
uniform highp sampler2D texture1;
uniform float step_size;
out vec4 value;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    value = texelFetch(texture0, at, 0) + vec4(step_size * texelFetch(texture1, at, 0).xyz, 0.0);
}
