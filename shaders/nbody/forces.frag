// Accelerations of body x by bodies 64 y .. 64 y + 63: what one row of blocks of the N x N force matrix adds up to.
// 'Query Processing on GPUs', N-body, put right: the force is towards the other body (its place less one's own), bodies
// do not meet at distance 0 (softening), and one's own mass falls out.
uniform highp sampler2D texture0;  // (place, mass) in one row
uniform int count;
uniform float softening;  // squared
out vec4 acceleration;

vec3 by(vec3 place, int j) {
    vec4 other = texelFetch(texture0, ivec2(j, 0), 0);
    vec3 towards = other.xyz - place;
    float inverse = inversesqrt(dot(towards, towards) + softening);
    return towards * (other.w * inverse * inverse * inverse);
}

void main() {
    vec3 place = texelFetch(texture0, ivec2(int(gl_FragCoord.x), 0), 0).xyz;
    int first = 64 * int(gl_FragCoord.y);
    vec3 sum = vec3(0.0);
    for (int j = first; j < min(first + 64, count); ++j) sum += by(place, j);
    acceleration = vec4(sum, 0.0);
}
