// What the merge engine sorts in place of a scatter: four places a texel, DEPTH of each key, which are its counters;
// or, where keys have buckets, one of each key: its bucket times 1024 and its mask. Of a table in parts, codes count
// from the part's first one, and those of other parts come last.
uniform int count;         // of places
uniform int target_width;  // of the texture that the merge engine reads
uniform uint first_unit;   // of the part: a counter, or where keys have buckets, a bucket
uniform uint part_units;
out uvec4 codes;

uint code_of(int i) {
#if BUCKET == 0
    uint unit = cell_of(key_at(i / DEPTH), i % DEPTH) - first_unit;
    return unit < part_units ? unit : 0xffffffffu;
#else
    uint h = hash(key_at(i), 0);
    uint unit = column_of(h) - first_unit;
    return unit < part_units ? unit * 1024u + (h & 1023u) : 0xffffffffu;
#endif
}

void main() {
    int first = 4 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    uvec4 found;  // OpenGL ES allows no index of an output but a constant
    for (int c = 0; c < 4; ++c) found[c] = first + c < count ? code_of(first + c) : 0xffffffffu;
    codes = found;
}
