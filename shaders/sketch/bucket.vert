// An insert as one point on the bucket of the key (QSketch, algorithms 2 and 3). The fragment's colours are the mask.
flat out uint mask;

void main() {
    uint h = hash(key_at(gl_VertexID), 0);
    mask = mask_of(h);
    gl_Position = centre_of(column_of(h));
    gl_PointSize = 1.0;
}
