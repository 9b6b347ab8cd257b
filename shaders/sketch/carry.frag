// Adds the blended counters to the table or, if points were removals, subtracts them, but not below 0. Fragment t has
// texel t of the table, with counters 4 t to 4 t + 3.
//     texture0   the table, in rows of 2^table_log2 texels
//     texture1   blended counters, in rows of 2^pending_log2 texels: one counter per texel (FORM 0, pending.glsl), or
//                one bucket per texel of each layer, four (FORM 1) or eight (FORM 2) of its counters, or eight counters
//                of 16 bits in a texel (FORM 3, count_runs.frag)
uniform highp usampler2D texture0;
#if FORM == 3
uniform highp usampler2D texture1;
uniform int pending_log2;
#elif FORM != 0
uniform highp sampler2DArray texture1;
uniform int pending_log2;
#endif
uniform int table_texels;
uniform int table_log2;
uniform int removes;
out uvec4 counters;

uvec4 pending_of(int t) {
#if FORM == 0
    return pending_from(4 * t);
#else
    int bucket = t / (BUCKET / 4);
    int part = t % (BUCKET / 4);
    ivec2 place = ivec2(bucket & ((1 << pending_log2) - 1), bucket >> pending_log2);
#if FORM == 3
    uvec4 halves = texelFetch(texture1, place, 0);
    return part != 0 ? halves >> 16 : halves & 0xffffu;
#elif FORM == 1
    return uvec4(texelFetch(texture1, ivec3(place, part), 0));
#else
    uvec4 both = uvec4(texelFetch(texture1, ivec3(place, part >> 1), 0));
    return (part & 1) != 0 ? both >> 12 : both & 4095u;
#endif
#endif
}

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int t = place.y << table_log2 | place.x;
    counters = texelFetch(texture0, place, 0);
    if (t >= table_texels) return;  // fills the last row
    uvec4 pending = pending_of(t);
    counters = removes != 0 ? counters - min(counters, pending) : counters + pending;
}
