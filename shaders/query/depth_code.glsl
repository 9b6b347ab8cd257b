// Code c is the depth with the bits c + FIRST_DEPTH. So codes have the order of depths, which are normal floats up to 1
// and are never rounded.
float depth_of(uint code) { return uintBitsToFloat(code + FIRST_DEPTH); }
