// The values of the picture's row that a fragment reads.
uniform highp sampler2D texture0;
uniform ivec4 part;      // of the picture: its first texel, width and number of rows
uniform int last_width;  // texels of its last row
uniform vec4 weights;    // of the channels

int row() { return int(gl_FragCoord.y); }
int row_width() { return row() == part.w - 1 ? last_width : part.z; }

float value_at(int x) {
    vec4 texel = texelFetch(texture0, ivec2(part.x + x, part.y + row()), 0);
#ifdef ONE_CHANNEL
    return texel.x;
#else
    // A channel without weight has no influence, even if it is infinite or a NaN.
    float v = weights.x != 0.0 ? weights.x * texel.x : 0.0;
    v += weights.y != 0.0 ? weights.y * texel.y : 0.0;
    v += weights.z != 0.0 ? weights.z * texel.z : 0.0;
    v += weights.w != 0.0 ? weights.w * texel.w : 0.0;
    return v;
#endif
}
