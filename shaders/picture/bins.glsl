// The bin of a value that is not a NaN.
uniform float low;       // the lower end of bin 0; with LOGARITHMIC its logarithm
uniform float factor;    // bins per unit
uniform float last_bin;
#ifdef LOGARITHMIC
uniform float smallest;  // the lower end of bin 0
#endif

uint code_of(float v) {
#ifdef LOGARITHMIC
    v = log2(max(v, smallest));
#endif
    return uint(clamp((v - low) * factor, 0.0, last_bin));
}
