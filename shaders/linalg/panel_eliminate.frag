// Four eliminations within a panel: exchanges rows, including L's, divides the four columns by the pivots, and
// eliminates the columns after them. Needs panel_texels.glsl and pivoting.glsl before it.
out vec4 value;
void main() { value = after_pivots(int(gl_FragCoord.x), int(gl_FragCoord.y)); }
