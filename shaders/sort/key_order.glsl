// Bits in memory to unsigned numbers in the library's order, and back: TotalOrder of src/cpu/keys.hpp, for keys of one
// word (or half a word) and of two.
uniform uint flip_low;
uniform uint flip_high;
uniform uint sign_bit;  // the sign bit of floats, in the highest word; 0 for integers
uniform uint ones;  // all bits that the highest word has
uniform uint nans;  // how many negative NaNs there are, the highest word of it

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

// The number of negative NaNs of 64 bits has only ones in its low word, so subtracting it adds 1 there.
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
