// A column's key, and whether there is a value, for the rows at given indices of a list: (key, valid, index). Needs
// keys.glsl and group_rows.glsl before it.
uniform highp usampler2D texture3;  // indices
uniform int count;                  // number of indices
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
