// A list in another order: entry i is the one whose index is at i in the order.
uniform highp usampler2D texture0;  // the list
uniform highp usampler2D texture1;  // the order; both have 1024 entries per line
uniform int count;
out uint listed;

void main() {
    int i = int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x);
    listed = 0u;
    if (i >= count) return;
    int at = int(texelFetch(texture1, ivec2(gl_FragCoord.xy), 0).x);
    listed = texelFetch(texture0, ivec2(at & 1023, at >> 10), 0).x;
}
