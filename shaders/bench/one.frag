// Limits: what happens to the fragment is up to the tests and blending.
out vec4 value;

void main() {
    value = vec4(1.0);
}
