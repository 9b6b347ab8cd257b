// Rows of blocks of cells, in the order of the index: line after line. The rows of a line of a block are consecutive.
//     sums       |  .  .  .  .  |   texel (x, y): rows of all cells left of x in the lines below y
//                |  . a#######b |   block (a.x, a.y, b.x, b.y): the rows of its lines below y are
//     cells      |  .  .  .  .  |   sum(b.x, y) - sum(a.x, y), minus the same at a.y
uniform highp usampler2D texture0;  // row numbers in the order of cells
uniform highp usampler2D texture1;  // sums
uniform int across;                 // cells of a line
uniform int rows_log2;              // log2 of the width of texture0

uint sum_at(int x, int y) { return texelFetch(texture1, ivec2(x, y), 0).x; }
uint below(ivec4 block, int y) { return sum_at(block.z, y) - sum_at(block.x, y); }

// The k-th row of a block.
int row_of(ivec4 block, uint k) {
    k += below(block, block.y);
    int low = block.y;
    int high = block.w;
    while (high - low > 1) {
        int middle = (low + high) >> 1;
        if (below(block, middle) <= k) {
            low = middle;
        } else {
            high = middle;
        }
    }
    uint line = sum_at(across, low);
    uint i = line + sum_at(block.x, low + 1) - sum_at(block.x, low) + (k - below(block, low));
    return int(texelFetch(texture0, ivec2(int(i & ((1u << rows_log2) - 1u)), int(i >> rows_log2)), 0).x);
}
