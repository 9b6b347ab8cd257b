// Msws: carries to the low counters of each bucket without high ones, unless a counter would exceed 128. Such a bucket
// is not changed, and index 1 says that it wants high counters.
//     texture0   two texels per bucket, 28 counters of 8 bits and the index, in rows of 2^table_log2
//     texture1   blended counters (pending.glsl)
uniform highp usampler2D texture0;
uniform int table_texels;
uniform int table_log2;
uniform int removes;
out uvec4 low;

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int t = place.y << table_log2 | place.x;
    low = texelFetch(texture0, place, 0);
    if (t >= table_texels) return;  // fills the last row
    bool second = (t & 1) != 0;
    uvec4 beside = texelFetch(texture0, ivec2(place.x ^ 1, place.y), 0);
    uvec4 words[2] = uvec4[2](second ? beside : low, second ? low : beside);
    if (words[1].w >= 1024u) return;
    bool over = false;
    uvec4 made[2] = uvec4[2](uvec4(0u), uvec4(0u));
    for (int p = 0; p < 7; ++p) {
        uvec4 counters = (uvec4(words[p >> 2][p & 3]) >> uvec4(0u, 8u, 16u, 24u)) & 255u;
        uvec4 pending = pending_from(28 * (t >> 1) + 4 * p);
        counters = removes != 0 ? counters - min(counters, pending) : counters + pending;
        over = over || any(greaterThan(counters, uvec4(128u)));
        made[p >> 2][p & 3] = counters.x | counters.y << 8 | counters.z << 16 | counters.w << 24;
    }
    if (!over) low = second ? made[1] : made[0];
    else if (second) low.w = 1u;
}
