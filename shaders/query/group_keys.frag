// A column's key, and whether there is one, of the rows at listed places of a list: (key, valid, place). After
// keys.glsl, group_rows.glsl.
uniform highp usampler2D texture3;  // places
uniform int count;                  // of these
out uvec4 found;

void main() {
    int i = place();
    found = uvec4(0u);
    if (i >= count) return;
    uint at = entry(texture3, i);
    bool valid;
    uvec2 key = key_of(entry(texture0, int(at)), valid);
    found = uvec4(key, valid ? 1u : 0u, at);
}
