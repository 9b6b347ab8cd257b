// Shallow water, one cell per texel: (height, momentum to the right, momentum up, dye). The unit of length is a cell's
// side, and gravity is 1.
uniform highp sampler2D texture0;
uniform ivec2 size;

// The speed of the fastest wave in a cell, to the right or left.
float speed(vec4 cell) { return abs(cell.y / cell.x) + sqrt(cell.x); }
