// Row i of a panel is row i of texels. The pivots are found once, at the corners of a quad (IN_VERTEX), and are the
// same for all its fragments.
uniform highp sampler2D texture0;
#ifdef IN_VERTEX
#define PIVOTS flat out
#else
#define PIVOTS flat in
#define PIVOTS_GIVEN
#endif
PIVOTS ivec4 swaps;
PIVOTS vec4 pivot_rows[4];
vec4 texel(int x, int i) { return texelFetch(texture0, ivec2(x, i), 0); }
