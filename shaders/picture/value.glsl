// The values of the picture's row that a fragment reads, and how often they count (with ALPHA_WEIGHT or MASK_WEIGHT).
uniform highp sampler2D texture0;
uniform ivec4 part;      // of the picture: its first texel, width and number of rows
uniform int last_width;  // texels of its last row
#ifdef ONE_CHANNEL
uniform int channel;
#else
uniform vec4 weights;    // of the channels
#endif

#ifdef MASK_WEIGHT
uniform highp sampler2D texture1;  // the mask, whose first texel is that of the part
#endif
#if defined(ALPHA_WEIGHT) || defined(MASK_WEIGHT)
#define WEIGHTED
uniform float levels;  // of weights
#endif

int row() { return int(gl_FragCoord.y); }
int row_width() { return row() == part.w - 1 ? last_width : part.z; }

float value_at(int x) {
    vec4 texel = texelFetch(texture0, ivec2(part.x + x, part.y + row()), 0);
#ifdef ONE_CHANNEL
    return texel[channel];
#else
    // A channel without weight has no influence, even if it is infinite or a NaN.
    float v = weights.x != 0.0 ? weights.x * texel.x : 0.0;
    v += weights.y != 0.0 ? weights.y * texel.y : 0.0;
    v += weights.z != 0.0 ? weights.z * texel.z : 0.0;
    v += weights.w != 0.0 ? weights.w * texel.w : 0.0;
    return v;
#endif
}

#ifdef WEIGHTED
uint weight_at(int x) {
#ifdef MASK_WEIGHT
    float w = texelFetch(texture1, ivec2(x, row()), 0).x;
#else
    float w = texelFetch(texture0, ivec2(part.x + x, part.y + row()), 0).w;
#endif
    // A NaN counts as 0.
    return w > 0.0 ? uint(min(w, 1.0) * levels + 0.5) : 0u;
}
#endif
