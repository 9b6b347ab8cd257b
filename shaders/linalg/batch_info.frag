// For each system: 0, or the number of its first zero pivot, counted from 1. Needs batch_texels.glsl and numbers.glsl
// before it.
out uint number_of_zero;

void main() {
    open_system(int(gl_FragCoord.x));
    number_of_zero = 0u;
    for (int i = N - 1; i >= 0; --i) {
        if (size_of(texel(i >> 2, i)[i & 3]) == 0u) number_of_zero = uint(i) + 1u;
    }
}
