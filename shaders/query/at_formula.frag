// SIGMOD'04, semi-linear queries: keeps the fragments of rows whose sums satisfy the comparison, for the stencil and an
// occlusion query. Needs keys.glsl, values.glsl, selection.glsl and formula.glsl before it.
uniform highp usampler2D texture0;  // rows that have all values

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    FETCH
    if (!is_set(texture0, at) || (compared(ARGUMENTS) & wanted) == 0u) discard;
}
