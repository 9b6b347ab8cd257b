// Of each system: 0, or the number, from 1, of its first pivot that is zero. After batch_texels.glsl and numbers.glsl.
out uint number_of_zero;

void main() {
    open_system(int(gl_FragCoord.x));
    number_of_zero = 0u;
    for (int i = N - 1; i >= 0; --i) {
        if (size_of(texel(i >> 2, i)[i & 3]) == 0u) number_of_zero = uint(i) + 1u;
    }
}
