// Checks whether packed counters are exact: sums all of them, 16 x 16 texels per fragment. x is the sum; y is not 0 if
// a channel has reached 2^24, where it may have been rounded. A low counter that overflows loses 4096 and adds 1 to the
// high one, so the sum shows it.
//     texture0   packed counters, or (LATER) such sums
#ifdef LATER
uniform highp usampler2D texture0;
#else
uniform highp sampler2DArray texture0;
#endif
uniform ivec2 source_size;
out uvec2 total;

void main() {
    ivec2 first = 16 * ivec2(gl_FragCoord.xy);
    ivec2 last = min(first + 16, source_size);
    total = uvec2(0u);
    for (int y = first.y; y < last.y; ++y) {
        for (int x = first.x; x < last.x; ++x) {
#ifdef LATER
            uvec2 more = texelFetch(texture0, ivec2(x, y), 0).xy;
            total = uvec2(total.x + more.x, total.y | more.y);
#else
            for (int layer = 0; layer < TARGETS; ++layer) {
                vec4 texel = texelFetch(texture0, ivec3(x, y, layer), 0);
                if (any(greaterThanEqual(texel, vec4(16777216.0)))) total.y = 1u;
                uvec4 packed_pair = uvec4(min(texel, vec4(16777215.0)));
                uvec4 both = (packed_pair & 4095u) + (packed_pair >> 12);
                total.x += both.x + both.y + both.z + both.w;
            }
#endif
        }
    }
}
