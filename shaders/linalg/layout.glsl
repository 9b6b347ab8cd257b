// Positions of the elements of the trailing matrix. TILES: texel (x, y) of layer l has columns 4 x .. 4 x + 3 of row 8
// y + l, so that a fragment that writes all layers computes 32 elements.
#ifdef TILES
uniform highp sampler2DArray texture0;
vec4 four_elements(int i, int x) { return texelFetch(texture0, ivec3(x, i >> 3, i & 7), 0); }
float element(int i, int j) { return four_elements(i, j >> 2)[j & 3]; }
#else
uniform highp sampler2D texture0;
float element(int i, int j) { return texelFetch(texture0, ivec2(j, i), 0).x; }
#endif
