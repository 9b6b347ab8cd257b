// Keys in a texture, row after row. FLOATS: bits of floats, of which -0 is 0 and all NaNs are one.
//     texture0   keys, of one word or two
//     texture1   weights of the keys, where they are WEIGHTED
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform int key_width;
uniform int first_key;  // the one that counts as 0

ivec2 place_of_key(int i) {
    int key = first_key + i;
    return ivec2(key % key_width, key / key_width);
}

uvec2 key_at(int i) {
    uvec2 key = texelFetch(texture0, place_of_key(i), 0).xy;
#if WORDS == 1
    key.y = 0u;
#endif
#ifdef FLOATS
    uint magnitude = key.x & 0x7fffffffu;
    key.x = magnitude == 0u ? 0u : magnitude > 0x7f800000u ? 0x7fc00000u : key.x;
#endif
    return mixed(key);
}

float weight_at(int i) {
#ifdef WEIGHTED
    return float(texelFetch(texture1, place_of_key(i), 0).x);
#else
    return 1.0;
#endif
}
