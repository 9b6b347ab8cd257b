// Covers a group's rows [a, b) by few whole nodes of a tree of partial results: at each level at most one at either
// end. Two texels per group, 1024 per line, have the partial results of its left end and its right end so far, so that
// each adds small nodes to large ones. At `level` 0 nodes are single rows. At each level the nodes
//     node    a' = ceil(a / 2^level)   ..   b' = floor(b / 2^level)
// are whole. The left end takes a' if that is odd, the right end takes b' - 1 if b' is odd. LAST: both ends become one
// texel per group. Needs the rule before it.
uniform highp usampler2D texture0;  // results so far; unused at level 0
uniform highp usampler2D texture1;  // nodes of this level
uniform highp usampler2D texture2;  // starts of groups, 1024 per line
uniform int groups;
uniform int rows;  // number of all rows
uniform int level;
out uvec4 value;

uvec4 at(highp usampler2D list, int i) { return texelFetch(list, ivec2(i & 1023, i >> 10), 0); }

void main() {
    int i = int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x);
#ifdef LAST
    value = i < groups ? both(at(texture0, 2 * i), at(texture0, 2 * i + 1)) : nothing;
#else
    int group = i >> 1;
    value = nothing;
    if (group >= groups) return;
    if (level > 0) value = at(texture0, i);
    int first = int(at(texture2, group).x);
    int end = group + 1 < groups ? int(at(texture2, group + 1).x) : rows;
    int a = (first + (1 << level) - 1) >> level;
    int b = end >> level;
    if (a >= b) return;
    bool left = (i & 1) == 0;
    if (left && (a & 1) != 0) value = both(value, at(texture1, a));
    if (!left && (b & 1) != 0) value = both(value, at(texture1, b - 1));
#endif
}
