// The number of texels in each bin: the sum of all chunks, for each bit of the weights.
//     texture0   the chunks of chunks.frag
uniform highp usampler2DArray texture0;
uniform int chunks;
uniform int weights;  // number of their bits
uniform int stride;   // columns of the chunks per bit
out uint number;

void main() {
    int bin = int(gl_FragCoord.x);
    int q = bin >> 4, word = (bin >> 2) & 3, byte = bin & 3;
    uint sum = 0u;
    for (int w = weights - 1; w >= 0; --w) {
        sum *= 2u;
        for (int c = 0; c < chunks; ++c) {
            uint both = texelFetch(texture0, ivec3(q + w * stride, c, byte & 1), 0)[word];
            sum += byte < 2 ? both & 0xffffu : both >> 16;
        }
    }
    number = sum;
}
