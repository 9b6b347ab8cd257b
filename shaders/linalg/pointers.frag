// Pointers of a matrix whose rows and columns are all at their own positions.
out uint pointer;
void main() { pointer = uint(gl_FragCoord.x); }
