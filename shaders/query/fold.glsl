// Rules for folds of keys, in addition to pass/fold_rules.glsl. Needs doubles.glsl before it.
#ifdef EXTREMES  // the min and the max key, (low, high) each
#define STATE uvec4
const uvec4 nothing = uvec4(0xffffffffu, 0xffffffffu, 0u, 0u);
uvec4 both(uvec4 a, uvec4 b) {
    return uvec4(is_below(b.xy, a.xy) ? b.xy : a.xy, is_below(a.zw, b.zw) ? b.zw : a.zw);
}
#endif
#ifdef INTEGERS  // the sum of keys as a 128-bit integer
#define STATE uvec4
const uvec4 nothing = uvec4(0u);
uvec4 both(uvec4 a, uvec4 b) {
    uvec4 sum = a + b;
    uvec4 over = uvec4(lessThan(sum, a));  // carries by comparison: OpenGL ES 3.0 has no uaddCarry
    uint y = sum.y + over.x;
    over.y += uint(y < sum.y);
    uint z = sum.z + over.y;
    over.z += uint(z < sum.z);
    return uvec4(sum.x, y, z, sum.w + over.z);
}
#endif
#ifdef DOUBLES  // a sum of floats
#ifdef NO_DOUBLES
#define ONE_CALL
#endif
#define STATE uvec4
const uvec4 nothing = uvec4(0u);
uvec4 both(uvec4 a, uvec4 b) { return uvec4(add_doubles(a.xy, b.xy), 0u, 0u); }
#endif
