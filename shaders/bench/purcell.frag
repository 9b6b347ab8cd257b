// A step of the bitonic sort of Purcell et al. (2003) over the whole screen, with one element per texel. The fragment
// program itself computes the partner, its side, and the direction of its run.
//     texture0   elements (early_keys.glsl)
uniform highp usampler2D texture0;
uniform int distance_between;  // between an element and its partner
uniform int run;               // elements per run; every other run has the reverse direction
out uvec4 elements;

void main() {
    int width = 1 << width_log2;
    int own_place = int(gl_FragCoord.y) * width + int(gl_FragCoord.x);
    bool upper = own_place / distance_between % 2 != 0;
    bool turned = own_place / run % 2 != 0;
    int place = upper ? own_place - distance_between : own_place + distance_between;
    uvec2 own = texelFetch(texture0, ivec2(gl_FragCoord.xy), 0).xy;
    uvec2 other = texelFetch(texture0, ivec2(place % width, place / width), 0).xy;
    elements = uvec4(keep(own, other, upper != turned), 0u, 0u);
}
