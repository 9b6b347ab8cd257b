// Limits: writes a constant. The tests and blending are what is measured.
out vec4 value;

void main() {
    value = vec4(1.0);
}
