// The value that additive blending adds to a counter.
flat in float weight;
out vec4 value;

void main() {
    value = vec4(weight, 0.0, 0.0, 0.0);
}
