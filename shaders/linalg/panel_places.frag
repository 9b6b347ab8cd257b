// Where the final rows lay before a panel, given where they lay after it.
uniform highp sampler2D texture0;   // panels, side by side
uniform highp usampler2D texture1;  // places after it
uniform int first;
uniform int panel;  // the texel of the panel that says where rows were
out uint place;

void main() {
    uint after = texelFetch(texture1, ivec2(gl_FragCoord.xy), 0).x;
    place = int(after) < first ? after : uint(texelFetch(texture0, ivec2(panel, int(after)), 0).x);
}
