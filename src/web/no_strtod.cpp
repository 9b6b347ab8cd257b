// Functions of the C library for table.wasm. It reads no numbers: query/plan/describe.cpp only asks whether fewer
// digits distinguish a double, and number_text.cpp prints few anyway. The library's, with arithmetic of 128 bits, are 8
// KB.
#include <cstdlib>

extern "C" double strtod(const char* /*text*/, char** /*end*/) {
    return 0;
}
// In the same file of the library.
extern "C" float strtof(const char* /*text*/, char** /*end*/) {
    return 0;
}
extern "C" long double strtold(const char* /*text*/, char** /*end*/) {
    return 0;
}
