// Every row and column at its own place.
out uint pointer;
void main() { pointer = uint(gl_FragCoord.x); }
