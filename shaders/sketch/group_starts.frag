// The start of the codes of each group of 2^group_log2 units: fragment i, in rows of 2^starts_log2, is for group i. The
// search begins where the start would be if codes were evenly spread, among all codes or, with WITHIN, among those of a
// larger group.
//     texture3   starts of the larger groups, of 2^outer_log2 units each, in rows of 2^outer_starts_log2
uniform int count;  // number of codes
uniform int units;
uniform int group_log2;
uniform int starts_log2;
#ifdef WITHIN
uniform highp usampler2D texture3;
uniform int outer_log2;
uniform int outer_starts_log2;

int outer_start(int group) {
    return int(texelFetch(texture3, ivec2(group & ((1 << outer_starts_log2) - 1), group >> outer_starts_log2), 0).x);
}
#endif
out uint start;

// The first index in [low, high) with a code of at least `code`, or high.
int begin_of(uint code, int low, int high, float part) {
    if (low >= high || code == 0u) return low;
    int step = int(sqrt(float(high - low))) + 1;
    int place = min(low + int(float(high - low) * part), high - 1);
    if (code_at(place) < code) {
        do {
            low = place + 1;
            place = min(place + step, high);
            step *= 2;
        } while (place < high && code_at(place) < code);
        high = place;
    } else {
        do {
            high = place;
            place -= step;
            step *= 2;
        } while (place >= low && code_at(place) >= code);
        low = max(low, place + 1);
    }
    return after(code - 1u, low, high);
}

void main() {
    int unit = (int(gl_FragCoord.y) << starts_log2 | int(gl_FragCoord.x)) << group_log2;
    start = uint(count);
    if (unit >= units) return;
#ifdef WITHIN
    int outer = unit >> outer_log2;
    float part = float(unit & ((1 << outer_log2) - 1)) / float(min(1 << outer_log2, units - (outer << outer_log2)));
    start = uint(begin_of(first_code(uint(unit)), outer_start(outer), outer_start(outer + 1), part));
#else
    start = uint(begin_of(first_code(uint(unit)), 0, count, float(unit) / float(units)));
#endif
}
