// Inserts without a scatter: each texel of the table finds the runs of its places among those that are sorted
// (codes.frag), by search, and counts them. A run costs the logarithm of its length, so keys that occur often cost no
// more than others.
//     texture0   sorted places, in banked.glsl's or tiles.glsl's order
//     texture1   the table, in rows of 2^table_log2 texels
uniform highp usampler2DArray texture0;
uniform highp usampler2D texture1;
uniform int count;  // of places
uniform int first_texel;  // of the part of the table that they are of
uniform int part_texels;
uniform int table_texels;
uniform int table_log2;
uniform int removes;
out uvec4 counters;

uint code_at(int i) {
    return sorted_key(texture0, i);
}

// The first place in [low, high] whose code is at least that, or high; all before low are less.
int search(uint code, int low, int high) {
    while (low < high) {
        int middle = (low + high) >> 1;
        if (code_at(middle) < code) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The same among all from `from` on, in twice the logarithm of how far it is.
int search_from(uint code, int from) {
    int low = from, step = 1;
    int high = low;
    while (high < count && code_at(high) < code) {
        low = high + 1;
        high = low + step;
        step <<= 1;
    }
    return search(code, low, min(high, count));
}

// The same among all, near where it is when places are spread evenly.
int search_near(uint code, int guess) {
    if (guess < count && code_at(guess) < code) return search_from(code, guess + 1);
    int high = guess, step = 1;
    int low = high;
    while (low > 0 && code_at(low - 1) >= code) {
        high = low - 1;
        low = max(high - step, 0);
        step <<= 1;
    }
    return search(code, low, high);
}

int guess_of(int t) {
    return int(float(count) * (float(t) / float(part_texels)));
}

#if BUCKET == 0
uvec4 counts_of(int t) {
    uvec4 counts;
    int begin = search_near(uint(4 * t), min(guess_of(t), count));
    for (int c = 0; c < 4; ++c) {
        int end = search_from(uint(4 * t + c + 1), begin);
        counts[c] = uint(end - begin);
        begin = end;
    }
    return counts;
}
#else
uvec4 counts_of(int t) {
    uvec4 counts = uvec4(0u);
    uint bucket = uint(t / (BUCKET / 4));
    uint first_counter = 4u * uint(t % (BUCKET / 4));
    int begin = search_near(bucket * 1024u, min(guess_of(t), count));
    while (begin < count) {
        uint code = code_at(begin);
        if (code >> 10 != bucket) break;
        int end = search_from(code + 1u, begin + 1);
        uvec4 positions = positions_of(code & 1023u);
        for (int i = 0; i < DEPTH; ++i) {
            uint counter = position(positions, i) - first_counter;  // of others, 4 and more
            if (counter < 4u) counts[counter] += uint(end - begin);
        }
        begin = end;
    }
    return counts;
}
#endif

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int t = place.y << table_log2 | place.x;
    counters = texelFetch(texture1, place, 0);
    if (t >= table_texels) return;  // what fills the last row
    uvec4 counts = counts_of(t - first_texel);
    counters = removes != 0 ? counters - counts : counters + counts;
}
