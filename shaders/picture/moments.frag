// Folds up to 512 moments (codes.frag) into one. FINAL: into the minimum, maximum, mean and count, all floats by their
// bits, or NaNs and 0 for no number.
//     texture0   the moments, row after row; with LAYER in that layer of an array
#ifdef LAYER
uniform highp usampler2DArray texture0;
#define FETCH(x, y) texelFetch(texture0, ivec3(x, y, LAYER), 0)
#else
uniform highp usampler2D texture0;
#define FETCH(x, y) texelFetch(texture0, ivec2(x, y), 0)
#endif
uniform int width;  // of texture0
uniform int number;
uniform int target_width;
#ifdef FINAL
uniform float share;  // as in codes.frag
#endif
out uvec4 folded;

void main() {
    int first = 512 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x)), end = min(first + 512, number);
    float lowest = uintBitsToFloat(0x7f800000u), highest = uintBitsToFloat(0xff800000u), sum = 0.0;
    uint numbers = 0u;
    while (first < end) {  // sums of 32 first: less is rounded
        int next = min(first + 32, end);
        float part = 0.0;
        for (int i = first; i < next; ++i) {
            uvec4 one = FETCH(i % width, i / width);
            lowest = min(lowest, uintBitsToFloat(one.x));
            highest = max(highest, uintBitsToFloat(one.y));
            part += uintBitsToFloat(one.z);
            numbers += one.w;
        }
        sum += part;
        first = next;
    }
#ifdef FINAL
    // Floats hold the count divided by its power of two.
    float mean = sum / (float(numbers) * share);
    const uint nan = 0x7fc00000u;
    folded = numbers == 0u ? uvec4(nan, nan, nan, 0u)
                           : uvec4(floatBitsToUint(lowest), floatBitsToUint(highest), floatBitsToUint(mean),
                                   floatBitsToUint(float(numbers)));
#else
    folded = uvec4(floatBitsToUint(lowest), floatBitsToUint(highest), floatBitsToUint(sum), numbers);
#endif
}
