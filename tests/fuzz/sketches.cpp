// Saved sketches with a corrected checksum.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fuzz.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::fuzz {

namespace {

std::uint64_t sum(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

// What loads is also asked, saved and loaded again.
template <class T>
void load(std::span<const std::byte> bytes) {
    try_to([&] {
        const auto sketch = Sketch<T>::load(bytes, 1);
        static_cast<void>(sketch.query(T{}));
        const auto saved = sketch.save();
        static_cast<void>(Sketch<T>::load(saved, 1));
    });
}

}  // namespace

void run(std::span<const std::byte> bytes) {
    const auto whole = with_checksum(bytes, sum);
    load<std::uint32_t>(whole);
    load<std::uint64_t>(whole);
    load<float>(whole);
    load<std::string_view>(whole);
}

}  // namespace quadmill::fuzz
