// One elimination within a panel: swaps rows `k` and the pivot's, of L too, divides the column by the pivot, and
// eliminates the columns after it.
uniform highp sampler2D texture0;
#ifdef SEARCHED
uniform highp usampler2D texture1;  // the pivot
#endif
uniform int k;
uniform int column;  // of the panel
out vec4 value;

float in_column(int i) { return texelFetch(texture0, ivec2(column >> 2, i), 0)[column & 3]; }
float chosen(int j, float before, float multiplier, float after) {
    return j < column ? before : j == column ? multiplier : after;
}

void main() {
    int i = int(gl_FragCoord.y), x = int(gl_FragCoord.x);
#ifdef SEARCHED
    int pivot = int(texelFetch(texture1, ivec2(0), 0).z);
#else
    int pivot = k;
#endif
    int from = i == k ? pivot : i == pivot ? k : i;
    vec4 own = texelFetch(texture0, ivec2(x, from), 0);
    value = own;
    if (i > k && x < BLOCK / 4) {
        float multiplier = quotient(in_column(from), in_column(pivot));
        vec4 after = own - multiplier * texelFetch(texture0, ivec2(x, pivot), 0);
        int j = 4 * x;
        value = vec4(chosen(j, own.x, multiplier, after.x), chosen(j + 1, own.y, multiplier, after.y),
                     chosen(j + 2, own.z, multiplier, after.z), chosen(j + 3, own.w, multiplier, after.w));
    }
}
