// The keys of a column's rows for a join, where rows with equal keys are a pair: common keys of pair.glsl. Rows without
// a possible partner get `none`, which is not a key of the other side. LISTED: only the listed rows. TRANSLATED: texts,
// by their indices in the other side's dictionary. TYPE_A, WIDE_A are as in pair.frag. Needs keys.glsl, values.glsl and
// pair.glsl before it.
uniform highp usampler2D texture0;  // keys of the column, `words` words of 32 rows per line
uniform highp usampler2D texture1;  // the rows, 1024 per line
uniform highp usampler2D texture2;  // indices, 1024 per line
uniform int words;
uniform uvec2 none;

uint row_of(int i) {
#ifdef LISTED
    return texelFetch(texture1, ivec2(i & 1023, i >> 10), 0).x;
#else
    return uint(i);
#endif
}

uvec2 column_texel(ivec2 word, int row) {
#if WIDE_A
    uvec4 two = texelFetch(texture0, ivec2((row >> 1) * words + word.x, word.y), 0);
    return (row & 1) == 0 ? two.xy : two.zw;
#else
    return uvec2(texelFetch(texture0, ivec2((row >> 2) * words + word.x, word.y), 0)[row & 3], 0u);
#endif
}

uvec2 join_key(int i) {
    int row = int(row_of(i));
    int word = row >> 5;
    uvec2 key = column_texel(ivec2(word % words, word / words), row & 31);
#ifdef TRANSLATED
    return uvec2(texelFetch(texture2, ivec2(int(key.x & 1023u), int(key.x >> 10u)), 0).x, 0u);
#else
    key = common_key(key, TYPE_A);
    return is_number(key) ? key : none;
#endif
}
