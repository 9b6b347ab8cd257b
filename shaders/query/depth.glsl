// One pixel per row: 32 pixels of a line correspond to a word. Needs depth_code.glsl, keys.glsl, shifted.glsl and
// selection.glsl before it.
KEY key_at(highp usampler2D keys, ivec2 pixel) {
    return key_of(texel_of(keys, ivec2(pixel.x >> 5, pixel.y), pixel.x % 32 / ROWS), pixel.x % ROWS);
}

uvec2 wide(uint key) { return uvec2(key, 0u); }
uvec2 wide(uvec2 key) { return key; }

// key - base. RUNS: the code of the key when the gaps between runs of keys are left out. texture2 has the runs: the
// first key (low, high) and its code, 1024 per line.
#ifdef RUNS
uniform highp usampler2D texture2;
uniform int runs;

uvec4 run_at(int i) { return texelFetch(texture2, ivec2(i & 1023, i >> 10), 0); }

uvec2 offset_of(KEY key, KEY base) {
    int first = 0;
    int size = runs;
    while (size > 1) {
        int half_size = size >> 1;
        if (!less(wide(key), run_at(first + half_size).xy)) first += half_size;
        size -= half_size;
    }
    uvec4 run = run_at(first);
    return uvec2(run.z + (wide(key).x - run.x), 0u);
}
#else
uvec2 offset_of(KEY key, KEY base) { return wide(minus(key, base)); }
#endif

// Bits [shift, shift + 32) of offset_of(), masked with `mask`.
uint digit_of(KEY key, KEY base, int shift, uint mask) { return shifted_low(offset_of(key, base), shift) & mask; }
