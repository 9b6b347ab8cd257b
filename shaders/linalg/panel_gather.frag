// Columns of L, and of U's triangle on the diagonal, from a panel that was kept, with rows in their final order.
uniform highp sampler2D texture0;   // panels next to each other
uniform highp usampler2D texture1;  // positions of the final rows when the panel was finished
uniform int first;
uniform int panel;  // first texel of the panel
out float value;

void main() {
    int j = int(gl_FragCoord.x) - first;
    int i = int(texelFetch(texture1, ivec2(0, int(gl_FragCoord.y)), 0).x);
    value = texelFetch(texture0, ivec2(panel + (j >> 2), i), 0)[j & 3];
}
