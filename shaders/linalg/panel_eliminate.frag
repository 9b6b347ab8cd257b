// Four eliminations within a panel: exchanges rows, of L too, divides the four columns by the pivots, and eliminates
// the columns after them. After panel_texels.glsl and pivoting.glsl.
out vec4 value;
void main() { value = after_pivots(int(gl_FragCoord.x), int(gl_FragCoord.y)); }
