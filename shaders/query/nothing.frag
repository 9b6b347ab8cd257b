// Writes nothing: the tests and the occlusion query are all that matters.
void main() {}
