// Acceleration of body x by bodies 64 y .. 64 y + 63, and its negated potential: a row of blocks of the N x N force
// matrix, summed up.
// 'Query Processing on GPUs', N-body, corrected: the force points towards the other body (its position minus one's
// own), bodies do not meet at distance 0 (softening), and a body's own mass does not count.
uniform highp sampler2D texture0;  // (position, mass) in one row
uniform int count;
uniform float softening;  // squared
out vec4 acceleration;

vec4 by(vec3 place, int j, int own) {
    vec4 other = texelFetch(texture0, ivec2(j, 0), 0);
    vec3 towards = other.xyz - place;
    float inverse = inversesqrt(dot(towards, towards) + softening);
    return vec4(towards * (other.w * inverse * inverse * inverse), j == own ? 0.0 : other.w * inverse);
}

void main() {
    int own = int(gl_FragCoord.x), first = 64 * int(gl_FragCoord.y);
    vec3 place = texelFetch(texture0, ivec2(own, 0), 0).xyz;
    vec4 sum = vec4(0.0);
    for (int j = first; j < min(first + 64, count); ++j) sum += by(place, j, own);
    acceleration = sum;
}
