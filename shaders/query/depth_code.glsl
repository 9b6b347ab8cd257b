// Code c is the depth whose bits are c + FIRST_DEPTH: so the order of codes is that of depths, which are normal floats
// up to 1, and nothing rounds them.
float depth_of(uint code) { return uintBitsToFloat(code + FIRST_DEPTH); }
