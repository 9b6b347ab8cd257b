// The numbers of a block's rows, 1024 per line; 0 after the last one. Needs index_cells.glsl before it.
uniform ivec4 block;
uniform uint count;
out uint row;

void main() {
    uint k = uint(gl_FragCoord.y) * 1024u + uint(gl_FragCoord.x);
    row = k < count ? uint(row_of(block, k)) : 0u;
}
