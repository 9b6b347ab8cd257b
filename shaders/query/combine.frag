// Combines selections word by word: op 0 AND, 1 OR, 2 AND NOT.
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int op;
out uint bits;

void main() {
    uint a = texelFetch(texture0, ivec2(gl_FragCoord.xy), 0).x;
    uint b = texelFetch(texture1, ivec2(gl_FragCoord.xy), 0).x;
    bits = op == 0 ? a & b : op == 1 ? a | b : a & ~b;
}
