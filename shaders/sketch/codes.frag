// The codes that the merge engine sorts instead of scattered writes, four per texel: DEPTH codes per key, for its
// counters or, if keys have buckets, one code per key, for its bucket and mask.
uniform int count;         // number of codes
uniform int target_width;  // of the texture that the merge engine reads
out uvec4 codes;

uint code_of(int i) {
#if BUCKET == 0
    return cell_of(key_at(i / DEPTH), i % DEPTH);
#else
    return code_of_hash(hash(key_at(i), 0));
#endif
}

void main() {
    int first = 4 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    uvec4 found;  // OpenGL ES indexes outputs by constants only
    for (int c = 0; c < 4; ++c) found[c] = code_of(min(first + c, count - 1));
    bvec4 is_one = lessThan(first + ivec4(0, 1, 2, 3), ivec4(count));
    codes = found | (uvec4(is_one) - 1u);
}
