// Limits: writes eight render targets, the layers of an array texture.
out uvec4 value[8];

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    for (int i = 0; i < 8; ++i) value[i] = uvec4(at, at + uint(i));
}
