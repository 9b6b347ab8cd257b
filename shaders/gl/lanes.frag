// Tells which lane of which subgroup a fragment is, and what it receives from other lanes.
out uvec4 found;

void main() {
    uvec2 place = uvec2(gl_FragCoord.xy);
    uint code = place.y << 16 | place.x;
    found = uvec4(gl_SubgroupSize, gl_SubgroupInvocationID, subgroupShuffle(code, 0u), subgroupShuffleXor(code, 31u));
}
