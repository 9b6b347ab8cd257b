// Folds 16 partial results into one: element i, at (i mod width, i div width), those from 16 i on. After fold.glsl.
uniform highp usampler2D texture0;
uniform int count;
uniform int source_width;
uniform int target_width;
out uvec4 result;

uvec4 element(int i) {
    return i < count ? texelFetch(texture0, ivec2(i % source_width, i / source_width), 0) : nothing;
}
uvec4 next_four(int i) { return four(element(i), element(i + 1), element(i + 2), element(i + 3)); }

void main() {
    int i = 16 * (int(gl_FragCoord.y) * target_width + int(gl_FragCoord.x));
    result = four(next_four(i), next_four(i + 4), next_four(i + 8), next_four(i + 12));
}
