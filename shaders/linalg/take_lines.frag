// First half of a swap by copying: line 0 becomes the pivot's row (COLUMNS: column), line 1 that of the step. What step
// s finished is in texture s mod 2.
uniform highp sampler2D texture0;
uniform highp sampler2D texture1;
uniform highp usampler2D texture2;  // the pivot
uniform int k;
out float value;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uvec4 pivot = texelFetch(texture2, ivec2(0), 0);
#ifdef COLUMNS
    ivec2 from = ivec2(at.y == 0 ? int(pivot.w) : k, at.x);
#else
    ivec2 from = ivec2(at.x, at.y == 0 ? int(pivot.z) : k);
#endif
    value = (min(at.x, k) & 1) == 0 ? texelFetch(texture0, from, 0).x : texelFetch(texture1, from, 0).x;
}
