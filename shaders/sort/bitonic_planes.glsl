// The words of keys, one layer each. PLANES is 1, 2 or 3. They are written one by one, since OpenGL ES indexes outputs
// by constants only.
#if PLANES == 1
#define WRITE_PLANES(to, from) to[0] = from[0];
#elif PLANES == 2
#define WRITE_PLANES(to, from) to[0] = from[0]; to[1] = from[1];
#else
#define WRITE_PLANES(to, from) to[0] = from[0]; to[1] = from[1]; to[2] = from[2];
#endif
