// For each final row, its position before a panel, from its position after the panel.
uniform highp sampler2D texture0;   // panels next to each other
uniform highp usampler2D texture1;  // positions after it
uniform int first;
uniform int panel;  // texel of the panel with the row numbers
out uint place;

void main() {
    uint after = texelFetch(texture1, ivec2(gl_FragCoord.xy), 0).x;
    place = int(after) < first ? after : uint(texelFetch(texture0, ivec2(panel, int(after)), 0).x);
}
