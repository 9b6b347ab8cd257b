// Functions of the C library for the modules. They print nothing but doubles of messages, by "%g" (stream/parts.hpp,
// query/plan/describe.cpp); printf() of the C library would be 9 KB. What mutexes and clocks throw names errors of the
// system, which a module does not have; their texts would be 2 KB.
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

// At most six significant digits.
std::string general(double value) {
    if (std::isnan(value)) return "nan";
    if (value < 0) return "-" + general(-value);
    if (std::isinf(value)) return "inf";
    if (value == 0) return "0";
    int exponent = 0;
    for (; value >= 10; ++exponent) value /= 10;
    for (; value < 1; --exponent) value *= 10;
    auto digits = std::to_string(static_cast<std::uint32_t>(value * 1e5 + 0.5));
    if (digits.size() > 6) ++exponent;
    digits.resize(6);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (exponent < -4 || exponent > 5) {
        if (digits.size() > 1) digits.insert(1, ".");
        const auto power = std::to_string(exponent < 0 ? -exponent : exponent);
        return digits + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
    }
    if (exponent < 0) return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    const auto whole = static_cast<std::size_t>(exponent + 1);
    if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0');
    return digits.insert(whole, ".");
}

}  // namespace

extern "C" int snprintf(char* to, std::size_t size, const char* format, ...) {  // NOLINT(cert-dcl50-cpp)
    std::va_list values;
    va_start(values, format);
    const auto text = general(va_arg(values, double));
    va_end(values);
    if (size > 0) to[text.copy(to, size - 1)] = 0;
    return static_cast<int>(text.size());
}

extern "C" char* strerror(int /*error*/) {
    static char nothing = 0;
    return &nothing;
}
