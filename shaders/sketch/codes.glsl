// The codes by which the cells of keys are sorted. A unit is a bucket or, if there are rows, four counters of a row.
// The codes of a unit are consecutive. With buckets, the low bits of a code are the mask of a bucket of 8, or the
// number of the mask. RANKED: if there are too many buckets for 32 bits, the code of a hash is its
// rank among all hashes ordered by bucket: each bucket has QUOTIENTS hashes, and each of the first LONGER buckets one
// more.
#if BUCKET == 8
#define MASK_BITS 8
#else
#define MASK_BITS 10
#endif

uint first_code(uint unit) {
#if BUCKET == 0
    return 4u * unit;
#elif defined(RANKED)
    return unit * QUOTIENTS + min(unit, LONGER);
#else
    return unit << MASK_BITS;
#endif
}

#if BUCKET != 0
uint code_of_hash(uint h) {
#ifdef RANKED
    uint quotient = quotient_of(h);
    return first_code(h - quotient * COLUMNS) + quotient;
#elif BUCKET == 8
    return first_code(column_of(h)) | mask_of(h);
#else
    return first_code(column_of(h)) | (h & 1023u);
#endif
}

// The mask for a code that is `more` above its bucket's first code.
uint mask_of_code(uint bucket, uint more) {
#ifdef RANKED
    return mask_of(more * COLUMNS + bucket);
#elif BUCKET == 8
    return more;
#else
    return mask_of(more);
#endif
}
#endif
