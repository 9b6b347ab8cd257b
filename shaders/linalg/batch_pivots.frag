// Finds the next pivots of each system, at most four, with one fragment per system. Each search itself eliminates with
// the previous pivots. Layer 0 gets the rows to swap, the others the pivots' texels. Needs batch_texels.glsl and
// pivoting.glsl before it.
layout(location = 0) out vec4 found[5];

int search(int q) {
    uint most = 0u;
    int place = first + q;
    for (int i = first + q; i < N; ++i) {
        uint size = size_of(eliminated(texel(quarter, moved_from(i)), q)[q]);
        if (size > most) {
            most = size;
            place = i;
        }
    }
    return place;
}

void main() {
    open_system(int(gl_FragCoord.x));
    swaps = first + ivec4(0, 1, 2, 3);
    pivot_rows = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    swaps.x = search(0);
    pivot_rows[0] = pivot_row(0);
    if (known > 1) {
        swaps.y = search(1);
        pivot_rows[1] = pivot_row(1);
    }
    if (known > 2) {
        swaps.z = search(2);
        pivot_rows[2] = pivot_row(2);
    }
    if (known > 3) {
        swaps.w = search(3);
        pivot_rows[3] = pivot_row(3);
    }
    found[0] = vec4(swaps);
    found[1] = pivot_rows[0];  // one by one, since OpenGL ES indexes outputs by constants only
    found[2] = pivot_rows[1];
    found[3] = pivot_rows[2];
    found[4] = pivot_rows[3];
}
