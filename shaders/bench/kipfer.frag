// A step of the bitonic sort of Kipfer et al. (2004): two elements per texel, so that the last step of each stage needs
// no other texel (WITHIN). Side and direction come from coordinates that are scaled to the step, so that only a dozen
// instructions are left. Both scales are powers of two, so everything is exact.
//     texture0   elements (early_keys.glsl)
uniform highp usampler2D texture0;
uniform vec2 side;     // dot(side, place) in the second half of a unit: the upper side
uniform vec2 turn;     // likewise for the reverse direction
uniform ivec2 beside;  // offset from the lower side to its partner
out uvec4 elements;

bool second_half(vec2 scale) {
    return fract(dot(gl_FragCoord.xy, scale)) >= 0.5;
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    uvec4 own = texelFetch(texture0, here, 0);
    bool turned = second_half(turn);
#ifdef WITHIN
    uvec2 a = element_in(own, 0), b = element_in(own, 1);
    elements = texel_of(keep(a, b, turned), keep(b, a, !turned));
#else
    bool upper = second_half(side);
    uvec4 other = texelFetch(texture0, upper ? here - beside : here + beside, 0);
    bool larger = upper != turned;
    elements = texel_of(keep(element_in(own, 0), element_in(other, 0), larger),
                        keep(element_in(own, 1), element_in(other, 1), larger));
#endif
}
