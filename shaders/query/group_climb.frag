// A group's rows [a, b) as few whole nodes of a tree of partial results: of each level at most one at either end. Two
// texels a group, 1024 a line: what its left end and its right end have taken so far, so that either adds small ones to
// large ones. `level`: 0 are single rows, of which
//     node    a' = ceil(a / 2^level)   ..   b' = floor(b / 2^level)
// are whole; the left end takes a' where that is odd, the right one b' - 1 where b' is. With LAST both ends become one
// texel a group. After the rule.
uniform highp usampler2D texture0;  // so far; none at level 0
uniform highp usampler2D texture1;  // the level
uniform highp usampler2D texture2;  // where groups begin, 1024 a line
uniform int groups;
uniform int rows;  // of all
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
