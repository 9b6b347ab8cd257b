// Many N x N systems in one texture. A system is N rows of STRIDE texels, one after the other in a row of texels. A row
// has its columns, four per texel, and in texel PLACE its original row number.
//     row of texels   | row 0: c c c p | row 1: c c c p | ...   system 0 |   system 1 | ...
uniform highp sampler2D texture0;
const int system_texels = N * STRIDE;
int system_start;  // its first texel
int system_row;    // its row of texels
ivec4 swaps;
vec4 pivot_rows[4];
#ifdef FINISHED
// Two textures alternated, and rows stay in the texture in which they were finished: four in each of PLACE passes, the
// last one into texture0.
uniform highp sampler2D texture1;
vec4 texel(int x, int i) {
    ivec2 at = ivec2(system_start + i * STRIDE + x, system_row);
    return ((PLACE - 1 - (i >> 2)) & 1) == 0 ? texelFetch(texture0, at, 0) : texelFetch(texture1, at, 0);
}
#else
vec4 texel(int x, int i) { return texelFetch(texture0, ivec2(system_start + i * STRIDE + x, system_row), 0); }
#endif
void open_system(int number) {
    system_start = number * system_texels;
    system_row = int(gl_FragCoord.y);
}
