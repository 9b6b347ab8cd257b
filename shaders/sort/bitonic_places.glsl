// Layout of the elements in the bitonic engine (GPUTeraSort, section 4.2): element e is in channel e mod 4 of texel e
// div 4 (single array) or, with FOUR_ARRAY, in channel e div texels of texel e mod texels. Windows of `window` keys
// have 2^window_log2 elements each, with padding after the keys.
uniform int width_log2;  // of the planes
uniform int window;
uniform int window_log2;
uniform int count;  // keys in all windows
#ifdef FOUR_ARRAY
uniform int texels;  // per plane
#endif

int element_at(ivec2 place, int channel) {
    int t = place.y << width_log2 | place.x;
#ifdef FOUR_ARRAY
    return channel * texels + t;
#else
    return 4 * t + channel;
#endif
}

// Column, row and channel.
ivec3 place_of(int e) {
#ifdef FOUR_ARRAY
    int channel = e / texels;
    int t = e - channel * texels;
#else
    int channel = e & 3;
    int t = e >> 2;
#endif
    return ivec3(t & ((1 << width_log2) - 1), t >> width_log2, channel);
}
