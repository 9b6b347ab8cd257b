// Inserts without scattered writes: each texel of the table finds the codes of its unit among the sorted ones, and
// counts them. If a group of units has few codes, it looks at all of them. Otherwise it searches, and a run of equal
// codes costs the logarithm of its length: keys that occur often cost no more than others.
//     texture1   the table, four counters per texel in rows of 2^table_log2 texels; HALVES: eight counters per texel,
//                c, and c + 4 in the upper half of the word; unused without ONTO. Fragments that would overflow write
//                nothing.
//     texture3   starts of groups of 2^group_log2 units (group_starts.frag), in rows of 2^starts_log2
#if !defined(HALVES) || defined(ONTO)
uniform highp usampler2D texture1;
uniform int removes;
#endif
out uvec4 counters;
uniform highp usampler2D texture3;
uniform int table_texels;
uniform int table_log2;
uniform int group_log2;
uniform int starts_log2;
const int few = 64;  // codes; a byte holds their number

int start_of(int group) {
    return int(texelFetch(texture3, ivec2(group & ((1 << starts_log2) - 1), group >> starts_log2), 0).x);
}

// Spreads four bits to bytes.
uint spread(uint bits) {
    return ((bits & 15u) * 0x00204081u) & 0x01010101u;
}
uvec4 bytes_of(uint four) {
    return uvec4(four, four >> 8, four >> 16, four >> 24) & 0xffu;
}

// What a code adds to counters first_counter to first_counter + 3 of its unit, and to the next four: one byte each.
uvec2 once(uint unit, uint more, uint first_counter) {
#if BUCKET == 0
    return uvec2(1u << (8u * more), 0u);
#else
    uint bits = mask_of_code(unit, more) >> first_counter;
    return uvec2(spread(bits), spread(bits >> 4));
#endif
}

// The end of a run of equal codes that reaches at least to `from`. Takes twice the logarithm of the distance.
int end_of(uint code, int from, int high) {
    int low = from, step = 1;
    int next = low;
    while (next < high && code_at(next) == code) {
        low = next + 1;
        next = low + step;
        step <<= 1;
    }
    return after(code, low, min(next, high));
}

struct Counts {
    uvec4 lower, upper;
};

Counts by_search(uint unit, uint first_counter, int low, int high) {
    Counts counts = Counts(uvec4(0u), uvec4(0u));
    uint first = first_code(unit), last = first_code(unit + 1u) - 1u;
    int place = first == 0u ? low : after(first - 1u, low, high);
    while (place < high) {
        uint code = code_at(place);
        if (code > last) break;
        int end = end_of(code, place + 1, high);
        uvec2 each = once(unit, code - first, first_counter);
        counts.lower += uint(end - place) * bytes_of(each.x);
        counts.upper += uint(end - place) * bytes_of(each.y);
        place = end;
    }
    return counts;
}

uint how_many(bvec4 of) {
    uvec4 ones = uvec4(of);
    return ones.x + ones.y + ones.z + ones.w;
}

Counts by_looking(uint unit, uint first_counter, int low, int high) {
    uint first = first_code(unit), last = first_code(unit + 1u) - 1u;
    uint before = 0u, until = 0u;
    for (int four = low >> 2; 4 * four < high; ++four) {
        uvec4 codes = four_codes(four);
        before += how_many(lessThan(codes, uvec4(first)));
        until += how_many(lessThanEqual(codes, uvec4(last)));
    }
    int base = low & ~3;  // codes before `low` belong to earlier units
    int end = min(base + int(until), high);
    uvec2 all = uvec2(0u);
    for (int place = base + int(before); place < end; ++place)
        all += once(unit, code_at(place) - first, first_counter);
    return Counts(bytes_of(all.x), bytes_of(all.y));
}

Counts counts_of(uint unit, uint first_counter) {
    int group = int(unit) >> group_log2;
    int low = start_of(group), high = start_of(group + 1);
    if (high - low > few) return by_search(unit, first_counter, low, high);
    return by_looking(unit, first_counter, low, high);
}

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int t = place.y << table_log2 | place.x;
#ifdef HALVES
    counters = uvec4(0u);
    if (t >= table_texels) return;  // fills the last row
    Counts counts = counts_of(uint(t), 0u);
#ifdef ONTO
    uvec4 halves = texelFetch(texture1, place, 0);
    uvec4 lower = halves & 0xffffu, upper = halves >> 16;
    counts.lower = removes != 0 ? lower - min(lower, counts.lower) : lower + counts.lower;
    counts.upper = removes != 0 ? upper - min(upper, counts.upper) : upper + counts.upper;
#endif
    if (any(greaterThan(max(counts.lower, counts.upper), uvec4(0xffffu)))) discard;
    counters = counts.lower | counts.upper << 16;
#else
    counters = texelFetch(texture1, place, 0);
    if (t >= table_texels) return;
#if BUCKET == 0
    uvec4 counts = counts_of(uint(t), 0u).lower;
#else
    uvec4 counts = counts_of(uint(t / (BUCKET / 4)), 4u * uint(t % (BUCKET / 4))).lower;
#endif
    counters = removes != 0 ? counters - min(counters, counts) : counters + counts;
#endif
}
