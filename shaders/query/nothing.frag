// Writes nothing: only the tests and the occlusion query matter.
void main() {}
