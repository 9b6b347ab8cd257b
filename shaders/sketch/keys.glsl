// Keys in a texture, row after row. FLOATS: bits of floats, where -0 counts as 0 and all NaNs as one value.
//     texture0   keys of one or two words
//     texture1   WEIGHTED: weights of the keys
uniform highp usampler2D texture0;
uniform highp usampler2D texture1;
uniform uint key_width;
uniform uint key_reciprocal;  // of the width; see src/sketch/reciprocal.hpp
uniform ivec2 key_shifts;
uniform int first_key;  // index of the key that counts as 0

ivec2 place_of_key(int i) {
    uint key = uint(first_key + i);
    uint t = high_product(key, key_reciprocal);
    uint row = (t + ((key - t) >> key_shifts.x)) >> key_shifts.y;
    return ivec2(int(key - row * key_width), int(row));
}

uvec2 key_in(ivec2 place) {
    uvec2 key = texelFetch(texture0, place, 0).xy;
#if WORDS == 1
    key.y = 0u;
#endif
#ifdef FLOATS
    uint magnitude = key.x & 0x7fffffffu;
    key.x = magnitude == 0u ? 0u : magnitude > 0x7f800000u ? 0x7fc00000u : key.x;
#endif
    return mixed(key);
}

uvec2 key_at(int i) {
    return key_in(place_of_key(i));
}

float weight_at(int i) {
#ifdef WEIGHTED
    return float(texelFetch(texture1, place_of_key(i), 0).x);
#else
    return 1.0;
#endif
}
