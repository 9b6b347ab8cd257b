// Tells the width, height and number of layers of a texture. TEXELS is the kind of its sampler; a texture with LAYERS
// has a third size.
uniform highp TEXELS texture0;
out uvec4 size;

void main() {
#ifdef LAYERS
    size = uvec4(textureSize(texture0, 0), 0);
#else
    size = uvec4(textureSize(texture0, 0), 1, 0);
#endif
}
