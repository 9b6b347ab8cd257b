// Limits: the unavoidable reads of a query of a sketch. Each fragment reads a key, which is a texel of texture0 (as
// large as the target), and FETCHES texels of texture1 at positions that a hash of the key selects, and writes a word.
//     texture1   `texels` texels in rows of 2^row_log2
uniform highp sampler2D texture0, texture1;
uniform uint texels;
uniform int row_log2;
out float value;

uint scrambled(uint x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    uint hash = scrambled(floatBitsToUint(texelFetch(texture0, here, 0).x) ^ uint(here.y << 14 | here.x));
    value = 2.0;
    for (int i = 0; i < FETCHES; ++i) {
        hash = hash * 1664525u + 1013904223u;
        int place = int(hash % texels);
        vec4 found = texelFetch(texture1, ivec2(place & ((1 << row_log2) - 1), place >> row_log2), 0);
        value = min(value, min(min(found.x, found.y), min(found.z, found.w)));
    }
}
