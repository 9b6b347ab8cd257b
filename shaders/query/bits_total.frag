// The number of set bits, from the top of a pyramid of counts.
uniform highp usampler2D texture0;
out uint total;

void main() {
    uvec4 counts = texelFetch(texture0, ivec2(0), 0);
    total = counts.x + counts.y + counts.z + counts.w;
}
