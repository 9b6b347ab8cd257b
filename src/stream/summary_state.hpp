// The inside of a StreamSummary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/intake.hpp"
#include "stream/parts.hpp"

namespace quadmill::detail::stream {

struct SummaryState {
    SummaryState() = default;
    SummaryState(const SummaryState&) = delete;
    SummaryState& operator=(const SummaryState&) = delete;
    virtual ~SummaryState() = default;

    [[nodiscard]] virtual double eps() const = 0;
    [[nodiscard]] virtual std::uint64_t n() const = 0;
    [[nodiscard]] virtual std::uint64_t nans() const = 0;
    // Pre of these four: `mutex` is locked.
    [[nodiscard]] virtual std::vector<std::byte> save() = 0;
    [[nodiscard]] virtual std::size_t summary_bytes() = 0;
    [[nodiscard]] virtual std::size_t bytes() = 0;
    [[nodiscard]] virtual StreamTimes times() = 0;

    std::recursive_mutex mutex;  // of queries, which settle values; a function of the caller may query, too
};

// The inside of a summary of values, which come in sorted windows.
struct WindowedState : SummaryState, WindowSink {
    WindowedState(const KeyRule& rule, std::size_t of_window, std::unique_ptr<WindowSorter>&& sorter)
        : window(of_window), intake(rule, std::move(sorter), window, *this) {}
    // Does not add to the moments of Quantiles; its add() does.
    virtual void add(const Values& values) { intake.add(values); }
    [[nodiscard]] std::uint64_t n() const override { return intake.n(); }
    [[nodiscard]] std::uint64_t nans() const override { return intake.nans(); }
    [[nodiscard]] StreamTimes times() override { return times_of(intake.sorter(), own_times); }

    std::size_t window;
    Intake intake;
    StreamTimes own_times;  // without those of buckets or blocks
};

}  // namespace quadmill::detail::stream
