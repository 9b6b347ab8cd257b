// The sum of two tables, counter by counter.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
out uvec4 counters;

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    counters = texelFetch(texture0, place, 0) + texelFetch(texture1, place, 0);
}
