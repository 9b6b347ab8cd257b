// Types of partial results of a fold, and how two are combined. Float results are separate in each channel.
#ifdef SUMS
#define STATE vec4
const vec4 nothing = vec4(0.0);
vec4 both(vec4 a, vec4 b) { return a + b; }
#endif
#ifdef LEAST
#define STATE vec4
const vec4 nothing = vec4(uintBitsToFloat(0x7f800000u));
vec4 both(vec4 a, vec4 b) { return min(a, b); }
#endif
#ifdef MOST
#define STATE vec4
const vec4 nothing = vec4(uintBitsToFloat(0xff800000u));
vec4 both(vec4 a, vec4 b) { return max(a, b); }
#endif
#ifdef COUNTS  // four numbers
#define STATE uvec4
const uvec4 nothing = uvec4(0u);
uvec4 both(uvec4 a, uvec4 b) { return a + b; }
#endif
#ifdef FIRST_MOST  // (key, index, ...) of the largest key; among equal keys, of the first index
#define STATE uvec4
const uvec4 nothing = uvec4(0u, 0xffffffffu, 0u, 0u);
bool comes_after(uvec4 a, uvec4 b) { return a.x < b.x || (a.x == b.x && a.y > b.y); }
uvec4 both(uvec4 a, uvec4 b) { return comes_after(a, b) ? b : a; }
#endif
#ifdef FIRST_LEAST  // the same for the smallest key
#define STATE uvec4
const uvec4 nothing = uvec4(0xffffffffu);
bool comes_after(uvec4 a, uvec4 b) { return a.x > b.x || (a.x == b.x && a.y > b.y); }
uvec4 both(uvec4 a, uvec4 b) { return comes_after(a, b) ? b : a; }
#endif
