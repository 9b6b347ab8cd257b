// A level of the merge engine with subgroups: the 32 lanes of a tile merge the keys between the cuts of four runs.
// Loads stay aligned to granules, so they include keys from before the cuts (fewer than a granule of each run; texels
// of the smallest key fill them up to three granules in total) and from after the next cuts. After sorting, the block
// begins at granule 3.
//     EXACT    loads only the granules between the cuts, at most 128 of all runs. Runs 2 and 3 become negative numbers,
//              so that 2, 0, 1, 3, with 2 and 1 reversed, are one bitonic sequence: one merge merges 2 with 3 and 0
//              with 1. The absolute values are again a bitonic sequence, and the second merge finishes it. Keys of one
//              word become floats. If the keys of a block span more than floats represent, which one block per group
//              may do, it is merged the other way.
//     else     loads a tile's keys of each run. The smaller keys of run 0 and of the reversed run 1, key by key, are
//              the lowest of both and a bitonic sequence.
// LAST: it is the last level, which writes keys as bits of their type. (A uniform in a branch is no substitute:
// docs/notes/hardware.md, "NVIDIA's compiler".)
//     texture0   the runs, in tiles
//     texture1   the cuts
uniform highp usampler2DArray texture0;
uniform highp usampler2DArray texture1;
uniform int fill_row;  // row with the smallest and the largest key
layout(location = 0) out uvec4 block[8];

struct Part {
    int base;     // start of the group
    ivec4 first;  // first granule of each run
    ivec4 size;   // granules of each run
    int filled;   // granules that replace keys before the cuts
};

// Loads a tile's keys of a run, from that part on; reverses odd runs. LOWEST keeps the smaller of these and of v.
#define TAKE(v, k, key) v[k] = key;
#define TAKE_LOWER(v, k, key) v[k] = LOWER(v[k], key);
#define LOAD_RUN(v, part, r, turned, TAKE_KEY)                                                                        \
    for (int n = 0; n < 4; ++n) {                                                                                     \
        int slot = lane() << 2 | n;                                                                                   \
        int g = part.first[r] - (r == 0 ? part.filled : 0) + (turned ? granules - 1 - slot : slot);                   \
        ivec3 place = place_of_granule(part.base + r * stride + g);                                                   \
        place = g < 0 ? ivec3(0, fill_row, 0) : g >= part.size[r] ? ivec3(1, fill_row, 0) : place;                    \
        for (int t = 0; t < 2; ++t) {                                                                                 \
            uvec4 texel = texelFetch(texture0, place + ivec3(0, 0, turned ? 1 - t : t), 0);                           \
            for (int c = 0; c < TEXEL_KEYS; ++c) {                                                                    \
                TAKE_KEY(v, n * GRANULE_KEYS + t * TEXEL_KEYS + c, key_in(texel, turned ? TEXEL_KEYS - 1 - c : c))    \
            }                                                                                                         \
        }                                                                                                             \
    }

void merge_lowest(Part part, out KEY v[KEYS]) {
    LOAD_RUN(v, part, 0, false, TAKE)
    LOAD_RUN(v, part, 1, true, TAKE_LOWER)
    merge_lanes(v, 5);
    KEY w[KEYS];
    LOAD_RUN(w, part, 2, false, TAKE)
    LOAD_RUN(w, part, 3, true, TAKE_LOWER)
    merge_lanes_descending(w);
    for (int k = 0; k < KEYS; ++k) v[k] = LOWER(v[k], w[k]);
    merge_lanes(v, 5);
}

#ifdef EXACT
// Source of a granule of the bitonic sequence: run 2 reversed, fill, run 0, fill, run 1 reversed, run 3.
struct Granule {
    ivec3 place;
    bool turned, negative, low, high;  // low, high: fill
};

Granule granule_in(int slot, Part part, ivec4 end) {
    ivec4 count = end - part.first;
    int begin_0 = count.z + part.filled, end_0 = begin_0 + count.x;
    int begin_3 = granules - count.w, begin_1 = begin_3 - count.y;
    bool in_2 = slot < count.z;
    bool in_3 = slot >= begin_3;
    bool in_1 = slot >= begin_1 && !in_3;
    Granule from;
    from.turned = in_2 || in_1;
    from.negative = in_2 || in_3;
    from.low = slot < begin_0 && !in_2;
    from.high = slot >= end_0 && slot < begin_1;
    int g = in_2   ? 2 * stride + end.z - 1 - slot
            : in_1 ? stride + end.y - 1 + begin_1 - slot
            : in_3 ? 3 * stride + part.first.w - begin_3 + slot
                   : part.first.x - begin_0 + slot;
    from.place = place_of_granule(part.base + g);
    if (from.low || from.high) from.place = ivec3(from.low ? 0 : 1, fill_row, 0);
    return from;
}

uvec4 texel_of_granule(Granule from, int t) {
    return texelFetch(texture0, from.place + ivec3(0, 0, from.turned ? 1 - t : t), 0);
}

#if WORDS == 1
// Numbers become floats, so that the sign tells which runs they belong to, and min() needs no selection.
const uint smallest_float = 0x00800000u;  // the smallest normal one: drivers may flush others
const uint greatest_float = 0x7f7fffffu;
#define EXCHANGE_FLOATS(a, b) { float t = min(a, b); b = max(a, b); a = t; }

// -1 if the lane's number has the bit, otherwise 1.
float sign_of(int bit) {
    return (lane() >> bit & 1) != 0 ? -1.0 : 1.0;
}

// Lanes that should keep the larger keys hold their keys negated, so that min() is enough.
void exchange_floats(inout float v[KEYS], int bit) {
    for (int k = 0; k < KEYS; ++k) v[k] = min(v[k], -subgroupShuffleXor(v[k], 1u << uint(bit)));
}

void turn_signs(inout float v[KEYS], float turn) {
    for (int k = 0; k < KEYS; ++k) v[k] *= turn;
}

// Sorts a bitonic sequence, which is negated in the upper half of the lanes.
void merge_floats(inout float v[KEYS]) {
    exchange_floats(v, 4);
    turn_signs(v, sign_of(4) * sign_of(3));
    exchange_floats(v, 3);
    turn_signs(v, sign_of(3) * sign_of(2));
    exchange_floats(v, 2);
    turn_signs(v, sign_of(2) * sign_of(1));
    exchange_floats(v, 1);
    turn_signs(v, sign_of(1) * sign_of(0));
    exchange_floats(v, 0);
    turn_signs(v, sign_of(0));
    FLOAT_NETWORK(v)
}

void merge_exact(Part part, ivec4 end, uint least, uint greatest, out KEY v[KEYS]) {
    uint bias = smallest_float - least;
    float f[KEYS];
    for (int n = 0; n < 4; ++n) {
        Granule from = granule_in(lane() << 2 | n, part, end);
        uint add = from.high ? greatest_float - greatest : bias;
        if (from.negative != (lane() >= 16)) add += 0x80000000u;
        for (int t = 0; t < 2; ++t) {
            uvec4 texel = clamp(texel_of_granule(from, t), uvec4(least), uvec4(greatest));  // others are not of it
            for (int c = 0; c < 4; ++c) {
                f[n * 8 + t * 4 + c] = uintBitsToFloat((from.turned ? texel[3 - c] : texel[c]) + add);
            }
        }
    }
    merge_floats(f);
    float turn = sign_of(4);
    for (int k = 0; k < KEYS; ++k) f[k] = abs(f[k]) * turn;
    merge_floats(f);
    for (int k = 0; k < KEYS; ++k) v[k] = floatBitsToUint(f[k]) - bias;
}
#else
// A key and its index of 31 bits leave one bit, which tells which runs they belong to.
const uint positive = 0x80000000u;

void merge_exact(Part part, ivec4 end, out KEY v[KEYS]) {
    for (int n = 0; n < 4; ++n) {
        Granule from = granule_in(lane() << 2 | n, part, end);
        uint turn = from.negative ? 0xffffffffu : 0u;
        for (int t = 0; t < 2; ++t) {
            uvec4 texel = texel_of_granule(from, t);
            for (int c = 0; c < 2; ++c) {
                uvec2 key = key_in(texel, from.turned ? 1 - c : c);
                v[n * 4 + t * 2 + c] = uvec2(key.x | key.y << 31, key.y >> 1 | positive) ^ turn;
            }
        }
    }
    merge_lanes(v, 5);
    for (int k = 0; k < KEYS; ++k) v[k] ^= (v[k].y & positive) != 0u ? 0u : 0xffffffffu;
    merge_lanes(v, 5);
    for (int k = 0; k < KEYS; ++k) v[k] = uvec2(v[k].x & 0x7fffffffu, v[k].y << 1 | v[k].x >> 31);
}
#endif
#endif

void main() {
    int q = min(tile_at(ivec2(gl_FragCoord.xy)), blocks - 1);
    ivec3 at = ivec3(in_row(q), 0);
    ivec4 cut = ivec4(texelFetch(texture1, at, 0));
    uvec4 about = texelFetch(texture1, at + ivec3(0, 0, 1), 0);
    Part part;
    part.base = int(about.z);
    part.first = cut >> LOG2_GRANULE_KEYS;
    part.size = sizes(int(about.w));
    part.filled = 3 - (sum(cut & (GRANULE_KEYS - 1)) >> LOG2_GRANULE_KEYS);
    KEY v[KEYS];
#ifdef EXACT
    at = ivec3(in_row(q + 1), 0);
    ivec4 next = ivec4(texelFetch(texture1, at, 0));
    ivec4 end = sum(next) == 0 ? part.size : (next + (GRANULE_KEYS - 1)) >> LOG2_GRANULE_KEYS;
#if WORDS == 1
    uint greatest = texelFetch(texture1, at + ivec3(0, 0, 1), 0).y;
#ifdef WIDE
    if (greatest - about.x > greatest_float - smallest_float) {
        merge_lowest(part, v);
    } else
#endif
    {
        merge_exact(part, end, about.x, greatest, v);
    }
#else
    merge_exact(part, end, v);
#endif
#else
    merge_lowest(part, v);
#endif
#ifdef LAST
    for (int k = 0; k < KEYS; ++k) v[k] = to_bits(v[k]);
#endif
    WRITE_BLOCK(block, v)
}
