// Copies a plane of a column to the depth buffer for the search of the k-th largest of the selected rows. If the bits
// above the plane are the ones found so far, a row gets its own code. If they are larger, it gets `null_code`, which is
// above everything that will be drawn. If they are smaller or the row is not selected, it gets 0. So tests of a plane
// count as if they compared whole keys. Needs keys.glsl and depth.glsl before it.
uniform highp usampler2D texture0;  // keys
uniform highp usampler2D texture1;  // selection
uniform KEY base;
uniform int shift;
uniform int above;  // shift of the bits above the plane
uniform uint mask;
uniform uint null_code;
flat in uvec2 prefix;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uvec2 value = offset_of(key_at(texture0, pixel), base);
    uvec2 top = shifted(value, above);
    uint code = top == prefix ? shifted_low(value, shift) & mask : less(top, prefix) ? 0u : null_code;
    gl_FragDepth = depth_of(is_set(texture1, pixel) ? code : 0u);
}
