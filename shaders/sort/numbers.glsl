// Converts keys in memory, of SOURCE_WORDS words, to the numbers that are sorted, of WORDS words, and back to bits.
// INDEXED: the lowest word of a number is the index of the key, so that equal keys keep the order of the input.
#define SOURCE_KEYS (4 / SOURCE_WORDS)

KEY make_key(uvec4 texel, int c, int place) {
#if SOURCE_WORDS == 1
    uint key = encode(texel[c]);
#else
    uvec2 key = encode(c == 0 ? texel.xy : texel.zw);
#endif
#ifdef INDEXED
    return KEY(uint(place), key);
#else
    return key;
#endif
}

KEY to_bits(KEY key) {
#if WORDS == 1
    return decode(key);
#elif defined(INDEXED) && WORDS == 2
    return uvec2(key.x, decode(key.y));
#elif WORDS == 2
    return decode(key);
#else
    return uvec3(key.x, decode(key.yz));
#endif
}
