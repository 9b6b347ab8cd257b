// Msws: carries to the high counters. All that was blended to a bucket with high counters goes there, four counters per
// fragment.
//     texture0   high counters, seven texels per bucket, in rows of 2^high_log2
//     texture1   blended counters (pending.glsl)
//     texture2   the low bucket of each high one, in rows of 2^owners_log2
//     texture3   low counters (carry_low.frag): a counter is the sum of both modulo 2^32, and removals stop at 0
uniform highp usampler2D texture0;
uniform highp usampler2D texture2;
uniform highp usampler2D texture3;
uniform int table_log2;
uniform int high_log2;
uniform int owners_log2;
uniform int old_texels;  // of texture0; new ones begin at 0
uniform int new_texels;
uniform int removes;
out uvec4 high;

// Low counters 4 word to 4 word + 3.
uvec4 low_of(int bucket, int word) {
    int texel = 2 * bucket + (word >> 2);
    uvec4 words = texelFetch(texture3, ivec2(texel & ((1 << table_log2) - 1), texel >> table_log2), 0);
    uvec2 two = (word & 2) != 0 ? words.zw : words.xy;
    return (uvec4((word & 1) != 0 ? two.y : two.x) >> uvec4(0u, 8u, 16u, 24u)) & 255u;
}

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int t = place.y << high_log2 | place.x;
    high = uvec4(0u);
    if (t < old_texels) high = texelFetch(texture0, place, 0);
    if (t >= new_texels) return;
    int which = t / 7;
    int owner = int(texelFetch(texture2, ivec2(which & ((1 << owners_log2) - 1), which >> owners_log2), 0).x);
    uvec4 pending = pending_from(28 * owner + 4 * (t - 7 * which));
    high = removes != 0 ? high - min(high + low_of(owner, t - 7 * which), pending) : high + pending;
}
