// Saved summaries of all kinds with a corrected checksum.
#include <zlib.h>

#include "fuzz.hpp"
#include "quadmill/concurrent.hpp"
#include "quadmill/names.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::fuzz {

namespace {

std::uint32_t sum(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// Everything that loads must also be saved and loaded again.
template <class Summary>
void load(std::span<const std::byte> bytes) {
    try_to([&] {
        auto summary = Summary::load(bytes);
        const auto saved = summary.save();
        static_cast<void>(Summary::load(saved));
    });
}

}  // namespace

void run(std::span<const std::byte> bytes) {
    const auto whole = with_checksum(bytes, sum);
    load<Quantiles<float>>(whole);
    load<Quantiles<std::uint64_t>>(whole);
    load<Frequencies<float>>(whole);
    load<SlidingQuantiles<float>>(whole);
    load<SlidingFrequencies<float>>(whole);
    load<HeavyPrefixes<std::uint32_t>>(whole);
    load<CorrelatedSums<float>>(whole);
    load<Frequencies<std::string>>(whole);
    load<Distinct>(whole);
    load<HeavyPrefixes<Ipv6>>(whole);
    load<Grouped<Quantiles<float>>>(whole);
    load<Recent<Quantiles<float>>>(whole);
}

}  // namespace quadmill::fuzz
