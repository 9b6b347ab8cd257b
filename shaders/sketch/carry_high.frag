// Msws, a carry to the high counters: all that was blended to a bucket that has some, four counters a fragment.
//     texture0   high counters, seven texels a bucket, in rows of 2^high_log2
//     texture1   what was blended (pending.glsl)
//     texture2   which low bucket each high one belongs to, in rows of 2^owners_log2
uniform highp usampler2D texture0;
uniform highp usampler2D texture2;
uniform int high_log2;
uniform int owners_log2;
uniform int old_texels;  // of texture0; others begin at 0
uniform int new_texels;
uniform int removes;
out uvec4 high;

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    int t = place.y << high_log2 | place.x;
    high = uvec4(0u);
    if (t < old_texels) high = texelFetch(texture0, place, 0);
    if (t >= new_texels) return;
    int which = t / 7;
    int owner = int(texelFetch(texture2, ivec2(which & ((1 << owners_log2) - 1), which >> owners_log2), 0).x);
    uvec4 pending = pending_from(28 * owner + 4 * (t - 7 * which));
    high = removes != 0 ? high - pending : high + pending;
}
