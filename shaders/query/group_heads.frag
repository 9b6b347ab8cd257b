// Which entries of a sorted list begin a group: a bit each, 32 a word; those whose value of a column is not that of the
// entry before. After keys.glsl, group_rows.glsl.
uniform highp usampler2D texture3;  // the same of the columns before; none of the FIRST
uniform int count;                  // of the list
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
