// Saved programs with a corrected checksum.
#include "fuzz.hpp"
#include "quadmill/context.hpp"

namespace quadmill::fuzz {

namespace {

std::uint64_t sum(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const auto byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
    return hash;
}

}  // namespace

void run(std::span<const std::byte> bytes) {
    static auto context = Context::headless();
    const auto whole = with_checksum(bytes, sum);
    try_to([&] { static_cast<void>(context.load_programs(whole)); });
}

}  // namespace quadmill::fuzz
