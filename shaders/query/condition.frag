// The bits of 32 rows that satisfy a condition in conjunctive normal form. Each column is read once, four rows at a
// time, whose answers are four bits. INPUTS: textures and constants. WORDS_OF_32: words of selections. KEYS_OF_FOUR:
// keys of columns. LEAVES: one variable per leaf. CLAUSES: combines the leaves. A constant is four words: low and high
// - low of a range; two keys of a list; or for a comparison of columns the largest number's key, and `wanted` as in
// pair.frag. Needs keys.glsl before it.
uniform int rows;
INPUTS
out uint bits;

// Four keys of 64 bits.
struct Wide {
    uvec4 low;
    uvec4 high;
};
uvec4 narrow_keys(highp usampler2D keys, ivec2 word, int group) { return texel_of(keys, word, group); }
Wide wide_keys(highp usampler2D keys, ivec2 word, int group) {
    uvec4 first = texel_of(keys, word, 2 * group);
    uvec4 second = texel_of(keys, word, 2 * group + 1);
    return Wide(uvec4(first.xz, second.xz), uvec4(first.yw, second.yw));
}

// Four bits of a word, from 0 or 1 for each of four rows.
uint four(uvec4 ones) { return ones.x | ones.y << 1 | ones.z << 2 | ones.w << 3; }

uvec4 are_less(uvec4 a, uvec4 b) { return uvec4(lessThan(a, b)); }
uvec4 are_less(Wide a, Wide b) {
    return uvec4(lessThan(a.high, b.high)) | (uvec4(equal(a.high, b.high)) & uvec4(lessThan(a.low, b.low)));
}

uint in_range(uvec4 keys, uvec4 range) { return four(uvec4(lessThanEqual(keys - range.x, uvec4(range.z)))); }
uint in_range(Wide keys, uvec4 range) {
    uvec4 low = keys.low - range.x;
    uvec4 high = keys.high - range.y - uvec4(lessThan(keys.low, uvec4(range.x)));
    return four(1u - are_less(Wide(uvec4(range.z), uvec4(range.w)), Wide(low, high)));
}

uint equal_either(uvec4 keys, uvec4 two) {
    return four(uvec4(equal(keys, uvec4(two.x))) | uvec4(equal(keys, uvec4(two.z))));
}
uint equal_either(Wide keys, uvec4 two) {
    return four((uvec4(equal(keys.low, uvec4(two.x))) & uvec4(equal(keys.high, uvec4(two.y)))) |
                (uvec4(equal(keys.low, uvec4(two.z))) & uvec4(equal(keys.high, uvec4(two.w)))));
}

// For keys of the same type.
uint related(uvec4 less, uvec4 greater, uvec4 nan, uint wanted) {
    uvec4 relations = is_less * less + is_greater * greater + is_equal * (1u - less - greater);
    return four(min((relations * (1u - nan) + is_unordered * nan) & wanted, uvec4(1u)));
}
uint compared(uvec4 a, uvec4 b, uvec4 most_wanted) {
    uvec4 most = uvec4(most_wanted.x);
    return related(are_less(a, b), are_less(b, a), are_less(most, a) | are_less(most, b), most_wanted.z);
}
uint compared(Wide a, Wide b, uvec4 most_wanted) {
    Wide most = Wide(uvec4(most_wanted.x), uvec4(most_wanted.y));
    return related(are_less(a, b), are_less(b, a), are_less(most, a) | are_less(most, b), most_wanted.z);
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int left = rows - 32 * (at.y * WORDS + at.x);
    bits = 0u;
    if (left <= 0) return;
    WORDS_OF_32
    uint word = 0u;
    for (int group = 0; group < 8; ++group) {
        KEYS_OF_FOUR
        LEAVES
        word |= (CLAUSES & 15u) << (4 * group);
    }
    bits = left < 32 ? word & ((1u << left) - 1u) : word;
}
