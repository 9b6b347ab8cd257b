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

}  // namespace

void run(std::span<const std::byte> bytes) {
    const auto whole = with_checksum(bytes, sum);
    try_to([&] {
        const auto sketch = Sketch<std::uint32_t>::load(whole, 1);
        const auto saved = sketch.save();
        static_cast<void>(Sketch<std::uint32_t>::load(saved, 1));
    });
}

}  // namespace quadmill::fuzz
