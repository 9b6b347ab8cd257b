// Copies columns [first, end) to a panel of BLOCK columns, four per texel, followed by zeros and then the row's number.
// Needs layout.glsl before it.
uniform int first;
uniform int end;
out vec4 value;

float of_column(int i, int j) { return j < end ? element(i, j) : 0.0; }

void main() {
    int i = int(gl_FragCoord.y), x = int(gl_FragCoord.x), j = first + 4 * x;
    value = x == BLOCK / 4
                ? vec4(float(i), 0.0, 0.0, 0.0)
                : vec4(of_column(i, j), of_column(i, j + 1), of_column(i, j + 2), of_column(i, j + 3));
}
