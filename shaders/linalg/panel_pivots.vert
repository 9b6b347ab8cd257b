// Draws a quad at its place. Its fragments get the known pivots. SEARCHED: those that the last search passed on, and
// the one that it found, which is the largest of its partial results. Otherwise the pivots are on the diagonal. Needs
// panel_texels.glsl, pivoting.glsl and fold.glsl before it.
in vec4 target;
uniform vec2 target_size;
#ifdef SEARCHED
uniform highp usampler2D texture1;  // results of the last search, see panel_search.frag
uniform int parts;

uvec4 part(int i) { return texelFetch(texture1, ivec2(i, 0), 0); }
uvec4 four_parts(int i) { return four(part(i), part(i + 1), part(i + 2), part(i + 3)); }
int found_row() {  // 16 parts, or a multiple of 64; that many fetches are in flight
    uvec4 found = nothing;
    for (int k = 0; k < 16; k += 4) found = both(found, four_parts(k));
    if (parts == 16) return int(found.y);
    for (int k = 16; k < 64; k += 4) found = both(found, four_parts(k));
    for (int i = 64; i < parts; i += 64) {
        for (int k = 0; k < 64; k += 4) found = both(found, four_parts(i + k));
    }
    return int(found.y);
}
#endif

void main() {
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    gl_Position = vec4(mix(target.xy, target.zw, corner) / target_size * 2.0 - 1.0, 0.0, 1.0);
    ivec4 rows = first + ivec4(0, 1, 2, 3);
#ifdef SEARCHED
    if (known > 0) {
        int row = found_row();
        rows = ivec4(part(parts));
        if (known == 1) rows.x = row;
        if (known == 2) rows.y = row;
        if (known == 3) rows.z = row;
        if (known == 4) rows.w = row;
    }
#endif
    swaps = rows;
    pivot_rows = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    if (known > 0) pivot_rows[0] = pivot_row(0);
    if (known > 1) pivot_rows[1] = pivot_row(1);
    if (known > 2) pivot_rows[2] = pivot_row(2);
    if (known > 3) pivot_rows[3] = pivot_row(3);
}
