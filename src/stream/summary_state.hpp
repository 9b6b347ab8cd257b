// The inside of a StreamSummary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadmill/stream.hpp"

namespace quadmill::detail::stream {

struct SummaryState {
    SummaryState() = default;
    SummaryState(const SummaryState&) = delete;
    SummaryState& operator=(const SummaryState&) = delete;
    virtual ~SummaryState() = default;

    [[nodiscard]] virtual std::uint64_t n() const = 0;
    [[nodiscard]] virtual std::uint64_t nans() const = 0;
    [[nodiscard]] virtual std::vector<std::byte> save() = 0;
    [[nodiscard]] virtual std::size_t summary_bytes() = 0;
    [[nodiscard]] virtual std::size_t bytes() = 0;
    [[nodiscard]] virtual StreamTimes times() = 0;
};

}  // namespace quadmill::detail::stream
