// A level of a tree of partial results over sorted rows: each node combines two of the level below. Needs the rule
// before it.
uniform highp usampler2D texture0;  // 1024 per line
uniform int count;                  // nodes of the level below
out uvec4 value;

uvec4 node(int i) { return i < count ? texelFetch(texture0, ivec2(i & 1023, i >> 10), 0) : nothing; }

void main() {
    int i = 2 * (int(gl_FragCoord.y) * 1024 + int(gl_FragCoord.x));
    value = both(node(i), node(i + 1));
}
