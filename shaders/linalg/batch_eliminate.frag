// Up to four eliminations in all systems, as in panel_eliminate.frag. Needs batch_texels.glsl and pivoting.glsl before
// it.
uniform highp sampler2DArray texture1;  // pivots of each system, see batch_pivots.frag
out vec4 value;

void main() {
    int at = int(gl_FragCoord.x), number = at / system_texels, within = at % system_texels;
    open_system(number);
    swaps = ivec4(texelFetch(texture1, ivec3(number, system_row, 0), 0));
    for (int q = 0; q < 4; ++q) pivot_rows[q] = texelFetch(texture1, ivec3(number, system_row, q + 1), 0);
    value = after_pivots(within % STRIDE, within / STRIDE);
}
