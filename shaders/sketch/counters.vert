// An insert as DEPTH points, one per counter (QSketch, algorithm 1, for any kind): vertex i is counter i mod DEPTH of
// key i div DEPTH.
flat out float weight;

void main() {
    int key = gl_VertexID / DEPTH;
    gl_Position = centre_of(cell_of(key_at(key), gl_VertexID % DEPTH));
    gl_PointSize = 1.0;
    weight = weight_at(key);
}
