// The codes by which places of keys are sorted. A unit is a bucket or, if there are rows, four counters in a row; its
// codes come one after the other. With buckets, the low bits of a code are the mask of a bucket of 8, or say which mask
// it is. RANKED: with so many buckets that this takes more than 32 bits, a hash's code is its rank among all hashes
// ordered by their buckets: QUOTIENTS hashes a bucket, and one more in the first LONGER of them.
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

// Of a code that is so much more than its bucket's first one.
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
