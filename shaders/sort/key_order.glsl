// Converts bits in memory to unsigned numbers in the library's order, and back, like TotalOrder of src/cpu/keys.hpp.
// For keys of one word (or half a word) and of two.
uniform uint flip_low;
uniform uint flip_high;
uniform uint sign_bit;  // the sign bit of floats, in the highest word; 0 for integers
uniform uint ones;  // all bits of the highest word
uniform uint nans;  // number of negative NaNs: its highest word

uint encode(uint v) {
    v ^= flip_high;
    if (sign_bit != 0u) v = ((v ^ ((v & sign_bit) != 0u ? ones : sign_bit)) - nans) & ones;
    return v;
}

uint decode(uint v) {
    if (sign_bit != 0u) {
        v = (v + nans) & ones;
        v ^= (v & sign_bit) != 0u ? sign_bit : ones;
    }
    return v ^ flip_high;
}

// For 64 bits, the number of negative NaNs has only ones in its low word, so subtracting it adds 1 there.
uvec2 encode(uvec2 v) {
    v ^= uvec2(flip_low, flip_high);
    if (sign_bit != 0u) {
        v ^= (v.y & sign_bit) != 0u ? uvec2(0xffffffffu) : uvec2(0u, sign_bit);
        v = uvec2(v.x + 1u, v.y - nans - (v.x == 0xffffffffu ? 0u : 1u));
    }
    return v;
}

uvec2 decode(uvec2 v) {
    if (sign_bit != 0u) {
        v = uvec2(v.x - 1u, v.y + nans + (v.x == 0u ? 0u : 1u));
        v ^= (v.y & sign_bit) != 0u ? uvec2(0u, sign_bit) : uvec2(0xffffffffu);
    }
    return v ^ uvec2(flip_low, flip_high);
}
