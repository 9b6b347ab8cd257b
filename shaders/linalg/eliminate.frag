// Eliminates one row: A(i,j) -= A(i,k) / A(k,k) * A(k,j), for all i and j after step k. 'Query Processing on GPUs', LU.
//     input   k . . . .       output  . . . . .
//             . x x x x               . o o o o     POINTERS: row and column k are elsewhere, and only unfinished
//             . x x x x               . o o o o     elements are drawn
uniform highp sampler2D texture0;
uniform int k;
#ifdef POINTERS
uniform highp usampler2D texture1;
#endif
out float value;

float element(int i, int j) { return texelFetch(texture0, ivec2(j, i), 0).x; }

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
#ifdef POINTERS
    int row = int(texelFetch(texture1, ivec2(k, 0), 0).x), column = int(texelFetch(texture1, ivec2(k, 1), 0).x);
#else
    int row = k, column = k;
#endif
#ifdef FULL
    if (texelFetch(texture1, ivec2(at.x, 2), 0).x <= uint(k)) discard;
#endif
    value = element(at.y, at.x) - quotient(element(at.y, column), element(row, column)) * element(row, at.x);
}
