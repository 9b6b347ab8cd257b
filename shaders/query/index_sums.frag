// A step of the sums over lines: adds the sum that ends `stride` lines before.
uniform highp usampler2D texture0;
uniform int stride;
out uint sum;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    sum = texelFetch(texture0, at, 0).x;
    if (at.y >= stride) sum += texelFetch(texture0, at - ivec2(0, stride), 0).x;
}
