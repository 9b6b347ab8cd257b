// Marks the entries of a sorted list that begin a group, with one bit each, 32 per word: those whose value of a column
// differs from the previous entry's. Needs keys.glsl and group_rows.glsl before it.
uniform highp usampler2D texture3;  // the result for the previous columns; unused for the FIRST
uniform int count;                  // length of the list
out uint bits;

void main() {
    int i = 32 * place();
    bits = 0u;
    if (i >= count) return;
#ifdef FIRST
    uint word = i == 0 ? 1u : 0u;
#else
    uint word = entry(texture3, place());
#endif
    bool valid_before;
    uvec2 before = key_of(entry(texture0, max(i - 1, 0)), valid_before);
    for (int bit = 0; bit < 32 && i + bit < count; ++bit) {
        bool valid;
        uvec2 key = key_of(entry(texture0, i + bit), valid);
        if (key != before || valid != valid_before) word |= 1u << bit;
        before = key;
        valid_before = valid;
    }
    bits = word;
}
