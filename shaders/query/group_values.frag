// The partial results of listed rows for an aggregate, by a rule of fold.glsl or, with COUNTS, 1 for each value. TYPE
// is as in values.glsl. Needs keys.glsl, values.glsl, the rule and group_rows.glsl before it.
uniform int count;
out uvec4 value;

#ifdef EXTREMES
uvec4 of_key(uvec2 key) { return key.xyxy; }
#elif defined(INTEGERS)
uvec4 of_key(uvec2 key) { return uvec4(key, 0u, 0u); }
#elif defined(COUNTS)
uvec4 of_key(uvec2 key) { return uvec4(1u, 0u, 0u, 0u); }
#elif defined(WIDE)
uvec4 of_key(uvec2 key) { return uvec4(to_double(key, TYPE), 0u, 0u); }
#else
uvec4 of_key(uvec2 key) { return uvec4(to_double(key.x, TYPE), 0u, 0u); }
#endif

void main() {
    int i = place();
    value = nothing;
    if (i >= count) return;
    bool valid;
    uvec2 key = key_of(entry(texture0, i), valid);
    if (valid) value = of_key(key);
}
