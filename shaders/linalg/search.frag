// The first pass of the pivot search: each fragment finds the largest absolute value in its share, which is every
// height-th row and every width-th column of the trailing matrix from (first, first) on. Result: (key, index, row,
// column), for the rule FIRST_MOST. Needs numbers.glsl and fold.glsl before it.
uniform highp sampler2D texture0;
#ifdef POINTERS
uniform highp usampler2D texture1;  // row 0: positions of rows; row 1: of columns
#endif
uniform int first;
uniform ivec2 ends;   // end of columns, and of rows
uniform ivec2 share;  // the target's size
out uvec4 result;

float element(int i, int j) {
#ifdef POINTERS
    return texelFetch(texture0, ivec2(texelFetch(texture1, ivec2(j, 1), 0).x, texelFetch(texture1, ivec2(i, 0), 0).x),
                      0).x;
#else
    return texelFetch(texture0, ivec2(j, i), 0).x;
#endif
}

void main() {
    uvec4 found = nothing;
    for (int i = first + int(gl_FragCoord.y); i < ends.y; i += share.y) {
        for (int j = first + int(gl_FragCoord.x); j < ends.x; j += share.x)
            found = both(found, uvec4(size_of(element(i, j)), uint(i) * uint(ends.x) + uint(j), uint(i), uint(j)));
    }
    result = found;
}
