// Shallow water, a cell a texel: (height, momentum to the right, momentum up, dye), the unit of length being a cell's
// side, and gravity 1.
uniform highp sampler2D texture0;
uniform ivec2 size;

// The fastest wave in a cell to the right or left.
float speed(vec4 cell) { return abs(cell.y / cell.x) + sqrt(cell.x); }
