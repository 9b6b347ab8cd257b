// Limits: writes eight render targets, the layers of an array texture.
out uvec4 value[8];

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    value[0] = uvec4(at, at);
    value[1] = uvec4(at, at + 1u);
    value[2] = uvec4(at, at + 2u);
    value[3] = uvec4(at, at + 3u);
    value[4] = uvec4(at, at + 4u);
    value[5] = uvec4(at, at + 5u);
    value[6] = uvec4(at, at + 6u);
    value[7] = uvec4(at, at + 7u);
}
