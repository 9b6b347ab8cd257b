// Msws: indices of high counters, one texel per bucket in rows of 2^indices_log2. Extracts them from the table. GIVE:
// puts them into the table, into every second texel. WANTED: keeps only the fragments whose buckets want high counters.
//     texture0   the table, two texels per bucket, in rows of 2^table_log2
//     texture1   indices, with GIVE
uniform highp usampler2D texture0;
#ifdef GIVE
uniform highp usampler2D texture1;
#endif
#ifndef WANTED
uniform int buckets;
uniform int table_log2;
uniform int indices_log2;
#endif
out uvec4 found;

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
#if defined(WANTED)
    found = texelFetch(texture0, place, 0);
    if ((place.x & 1) == 0 || found.w != 1u) discard;
#elif defined(GIVE)
    found = texelFetch(texture0, place, 0);
    int bucket = (place.y << table_log2 | place.x) >> 1;
    if ((place.x & 1) == 0 || bucket >= buckets) return;
    found.w = texelFetch(texture1, ivec2(bucket & ((1 << indices_log2) - 1), bucket >> indices_log2), 0).x;
#else
    int bucket = place.y << indices_log2 | place.x;
    int t = 2 * bucket + 1;
    found = uvec4(0u);
    if (bucket < buckets) found.x = texelFetch(texture0, ivec2(t & ((1 << table_log2) - 1), t >> table_log2), 0).w;
#endif
}
