// Common parts of the public classes: checks of options, ranks, and values of an incomplete window.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpu/keys.hpp"
#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "stream/bytes.hpp"
#include "stream/intake.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::stream {

inline constexpr std::uint64_t max_values = std::uint64_t{1} << 60U;

// In all these functions, messages begin with `function`.
// A number in its usual notation.
inline std::string text_of(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    std::string out(text.data());
    if (const auto zero = out.find("e-0"); zero != std::string::npos) out.erase(zero + 2, 1);
    return out;
}

inline void check_part(const std::string& function, const char* name, double part, double min = 0, double max = 1) {
    if (part >= min && part <= max) return;
    throw InvalidArgument(function + ": " + name + " must be from " + text_of(min) + " to " + text_of(max) + ", not " +
                          text_of(part));
}

inline void check_eps(const std::string& function, double eps, double min) {
    check_part(function, "eps", eps, min, 0.5);
}

inline void check_merge(const std::string& function, std::uint64_t a, std::uint64_t b, std::uint64_t max = max_values) {
    if (a <= max && b <= max - a) return;
    throw InvalidArgument(function + ": no such summary counts more than " + std::to_string(max) + " values");
}

constexpr double min_eps_of_window = 1e-9;

// Values per window: the caller's choice, or the sorter's for an error that is finer by that factor.
inline std::size_t window_for(const std::string& function, double eps, std::size_t wanted, const WindowSorter& sorter,
                              double finer = 1) {
    check_eps(function, eps, min_eps_of_window);
    if (wanted > std::size_t{1} << 28U)
        throw InvalidArgument(function + ": a window must have at most 2^28 values, not " + std::to_string(wanted));
    return wanted > 0 ? wanted : std::clamp<std::size_t>(sorter.window(eps / finer), 1, std::size_t{1} << 28U);
}

// window_for() for lossy counts: each window visits all entries, which are about 1 / eps.
inline std::size_t counted_window_for(const std::string& function, double eps, std::size_t wanted,
                                      const WindowSorter& sorter) {
    constexpr double max = 0x1p24;
    const auto window = window_for(function, eps, wanted, sorter);
    return std::max(window, static_cast<std::size_t>(std::ceil(std::min(1 / eps, max))));
}

// Up to this many values of an incomplete window are saved unchanged. More are saved as a sample, which needs no more
// space and also keeps eps.
inline std::uint64_t max_kept(double eps) {
    return static_cast<std::uint64_t>(4 / eps);
}

// ceil(support n), but at least 1.
inline std::uint64_t min_count(double support, std::uint64_t n) {
    return n == 0 ? 1 : rank_of(support, n);
}

// The estimate is the lower bound, as in lossy counting.
inline Count count_of(const Bounds& bounds) {
    return {bounds.lower, bounds.lower, bounds.upper};
}

// Values with weights, as the sorted keys of a window in which each value occurs as often as its weight says. They go
// to the summary of that intake.
class WeightedKeys {
  public:
    WeightedKeys(const std::string& function, const Intake& intake, const Values& values,
                 std::span<const std::uint64_t> weights) {
        const auto& rule = intake.rule();
        if (values.size() != weights.size()) {
            throw InvalidArgument(function + ": there are " + std::to_string(values.size()) + " values, but " +
                                  std::to_string(weights.size()) + " weights");
        }
        ends_.reserve(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto bits = values[i];
            const bool is_nan = rule.is_nan(bits);
            auto& sum = is_nan ? nans_ : n_;
            check_merge(function, sum, weights[i]);
            sum += weights[i];
            if (!is_nan && weights[i] > 0) ends_.push_back({rule.key(bits), weights[i]});
        }
        check_merge(function, intake.n(), n_);
        check_merge(function, intake.nans(), nans_);
        std::ranges::sort(ends_, {}, &End::key);
        std::size_t keys = 0;
        std::uint64_t end = 0;
        for (const auto& one : ends_) {
            if (keys == 0 || ends_[keys - 1].key != one.key) ++keys;
            ends_[keys - 1] = {one.key, end += one.end};
        }
        ends_.resize(keys);
    }
    [[nodiscard]] std::uint64_t n() const { return n_; }
    [[nodiscard]] std::uint64_t nans() const { return nans_; }
    [[nodiscard]] Key operator[](std::uint64_t i) const {
        const auto is_before = [](std::uint64_t place, const End& one) { return place < one.end; };
        return std::upper_bound(ends_.begin(), ends_.end(), i, is_before)->key;
    }
    struct End {
        Key key;
        std::uint64_t end;  // sum of the weights up to here
    };
    [[nodiscard]] const std::vector<End>& ends() const { return ends_; }  // in ascending order of their keys

  private:
    std::vector<End> ends_;
    std::uint64_t n_ = 0, nans_ = 0;
};

// The values of an incomplete window, sorted: their order does not change answers.
inline void write_sorted(Writer& to, const Window& sorted) {
    to.u64(sorted.size());
    to.keys(sorted);
}

inline Buffer read_sorted(Reader& from, std::uint64_t max, const KeyRule& rule) {
    Buffer values(rule.width);
    const auto size = from.count();
    from.require(size <= max, "the values of an unfinished window");
    Key before = 0;
    for (values.reserve(size); values.size() < size; values.push_bits(rule.bits(before))) before = from.key(before);
    return values;
}

// Pre of every load: the bytes have a summary of that kind and type.
inline Reader open(const char* function, std::span<const std::byte> bytes, Kind kind, KeyType type,
                   std::optional<Kind> or_kind = {}) {
    Reader reader(function, bytes);
    if (reader.header().kind != kind && reader.header().kind != or_kind)
        reader.fail("the bytes hold another kind of summary; saved_summary() tells which");
    if (reader.header().type != type)
        reader.fail("the summary is of values of another type; saved_summary() tells which");
    return reader;
}

inline double read_eps(Reader& from, double min) {
    const double eps = from.f64();
    from.require(eps >= min && eps <= 0.5, "eps");
    return eps;
}

inline std::size_t read_window(Reader& from) {
    const auto window = from.u64();
    from.require(window >= 1 && window <= std::uint64_t{1} << 28U, "the window");
    return static_cast<std::size_t>(window);
}

// The times of the sorter and of the summary.
inline StreamTimes times_of(const WindowSorter& sorter, StreamTimes times) {
    const auto of_sorter = sorter.times();
    times.upload = of_sorter.upload;
    times.sort = of_sorter.sort;
    times.readback = of_sorter.readback;
    return times;
}
// The same, and those of merging summaries.
StreamTimes times_of(const WindowSorter& sorter, StreamTimes times, const auto& merging) {
    times.merge += merging.merge_ms();
    times.compress += merging.compress_ms();
    return times_of(sorter, times);
}

// NOLINTBEGIN(bugprone-macro-parentheses): the name of a template
#define QUADMILL_FOR_EACH_TYPE(Class)    \
    template class Class<Half>;          \
    template class Class<float>;         \
    template class Class<double>;        \
    template class Class<std::int32_t>;  \
    template class Class<std::uint32_t>; \
    template class Class<std::int64_t>;  \
    template class Class<std::uint64_t>;
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace quadmill::detail::stream
