// An insert as one point, on the bucket of the key (QSketch, algorithms 2 and 3); the fragment's colours are the mask.
flat out uint mask;

void main() {
    uint h = hash(key_at(gl_VertexID), 0);
    uvec4 positions = positions_of(h);
    mask = 0u;
    for (int i = 0; i < DEPTH; ++i) mask |= 1u << position(positions, i);
    gl_Position = centre_of(h % columns);
    gl_PointSize = 1.0;
}
