// Keeps the fragments of selected rows, for the stencil. Needs selection.glsl before it.
uniform highp usampler2D texture0;

void main() {
    if (!is_set(texture0, ivec2(gl_FragCoord.xy))) discard;
}
