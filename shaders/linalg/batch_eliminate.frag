// Up to four eliminations in all systems; see panel_eliminate.frag. After batch_texels.glsl and pivoting.glsl.
uniform highp usampler2D texture1;  // the pivots of each system
out vec4 value;

void main() {
    int at = int(gl_FragCoord.x), number = at / system_texels, within = at % system_texels;
    open_system(number);
    swaps = ivec4(texelFetch(texture1, ivec2(number, system_row), 0));
    take_pivot_rows();
    value = after_pivots(within % STRIDE, within / STRIDE);
}
