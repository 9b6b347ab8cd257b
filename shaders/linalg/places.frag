// Every row at its own place.
out uint place;
void main() { place = uint(gl_FragCoord.y); }
