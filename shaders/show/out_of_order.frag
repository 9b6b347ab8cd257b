// Keeps the fragment of each element that is larger than the next one of its array, for an occlusion query to count.
// Elements are stored row after row, one array of `size` elements after the other.
uniform highp sampler2D texture0;
uniform int size;
uniform int count;  // number of all elements
out float value;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int width = textureSize(texture0, 0).x;
    int next = at.y * width + at.x + 1;
    if (next % size == 0 || next >= count) discard;
    value = texelFetch(texture0, at, 0).x;
    if (value <= texelFetch(texture0, ivec2(next % width, next / width), 0).x) discard;
}
