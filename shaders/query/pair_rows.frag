// Converts pairs of indices in lists of rows to pairs of these rows. LISTED_LEFT, LISTED_RIGHT: which side has a list.
uniform highp usampler2D texture0;  // pairs
uniform highp usampler2D texture1;  // rows of the left side, 1024 per line
uniform highp usampler2D texture2;
out uvec2 rows;

uint row_at(highp usampler2D list, uint i) { return texelFetch(list, ivec2(int(i & 1023u), int(i >> 10u)), 0).x; }

void main() {
    rows = texelFetch(texture0, ivec2(gl_FragCoord.xy), 0).xy;
#ifdef LISTED_LEFT
    rows.x = row_at(texture1, rows.x);
#endif
#ifdef LISTED_RIGHT
    rows.y = row_at(texture2, rows.y);
#endif
}
