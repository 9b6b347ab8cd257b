// The position of every row: its own.
out uint place;
void main() { place = uint(gl_FragCoord.y); }
