// After the last elimination: L and U in one array, rows and columns in their final order. The row and column that step
// s finished are in texture s mod 2.
uniform highp sampler2D texture0;
uniform highp sampler2D texture1;
#ifdef POINTERS
uniform highp usampler2D texture2;
#endif
out float value;

float element(int i, int j) {
    bool odd = (min(i, j) & 1) == 1;
#ifdef POINTERS
    ivec2 at = ivec2(texelFetch(texture2, ivec2(j, 1), 0).x, texelFetch(texture2, ivec2(i, 0), 0).x);
#else
    ivec2 at = ivec2(j, i);
#endif
    return odd ? texelFetch(texture1, at, 0).x : texelFetch(texture0, at, 0).x;
}

void main() {
    int i = int(gl_FragCoord.y), j = int(gl_FragCoord.x);
    value = i <= j ? element(i, j) : quotient(element(i, j), element(j, j));
}
