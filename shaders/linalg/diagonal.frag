// Copies U's diagonal to one row of texels.
uniform highp sampler2D texture0;
out float value;
void main() { value = texelFetch(texture0, ivec2(int(gl_FragCoord.x)), 0).x; }
