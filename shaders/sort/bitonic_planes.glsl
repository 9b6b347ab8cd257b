// The words of keys, a layer each; PLANES is 1, 2 or 3. Written one by one, since OpenGL ES allows no index of an
// output but a constant.
#if PLANES == 1
#define WRITE_PLANES(to, from) to[0] = from[0];
#elif PLANES == 2
#define WRITE_PLANES(to, from) to[0] = from[0]; to[1] = from[1];
#else
#define WRITE_PLANES(to, from) to[0] = from[0]; to[1] = from[1]; to[2] = from[2];
#endif
