/// Summaries that many threads fill, summaries of the last seconds, and a summary for each group. All work with every
/// summary that has add() and merge(): Quantiles, Frequencies, HeavyPrefixes, CorrelatedSums, Distinct.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"

namespace quadmill {

namespace detail::stream {

// What Grouped and Recent save: a summary of nothing, which new parts are copies of, and the parts.
struct QUADMILL_API SavedParts {
    struct Part {
        std::string name{};      // of Groups
        std::int64_t index = 0;  // of LastSeconds: the number of the pane
        std::vector<std::byte> summary;
    };
    SavedSummary::Kind kind;
    std::vector<std::byte> empty;
    std::vector<Part> parts{};  // in ascending order
    double seconds = 0;         // of LastSeconds, as all below
    std::uint64_t panes = 0, late = 0;
    std::optional<double> latest{};

    [[nodiscard]] std::vector<std::byte> save() const;
    // Throws InvalidArgument if the bytes are damaged or hold another kind.
    [[nodiscard]] static SavedParts load(const char* function, SavedSummary::Kind kind,
                                         std::span<const std::byte> bytes);
};

inline constexpr std::size_t max_panes = std::size_t{1} << 20U;
inline constexpr std::size_t map_node = 6 * sizeof(void*);  // bytes of an entry of a map, except for its strings
inline constexpr double max_pane = 0x1p53;                  // the numbers of panes are exact as doubles

}  // namespace detail::stream

/// A summary that any number of threads may fill at the same time: each adds to a part, and a read merges the parts.
///
/// Guarantee: that of the summary. merged() has all values of calls of add() that returned before it began; others may
/// be in it. All functions may be called by any thread at any time. So `make` must return summaries that sort on the
/// CPU: a sorter on the GPU belongs to one thread.
/// Memory: one summary for each thread, up to `parts`. More threads share these, and may wait for each other.
///
///     Concurrent<Quantiles<float>> latencies([] { return Quantiles<float>({.eps = 0.001}); });
///     latencies.add(3.5F);  // in any thread
///     const auto p99 = latencies.merged().quantile(0.99);
template <class Summary>
class Concurrent {
  public:
    /// `make` returns an empty summary. If `parts` is 0, it is twice the number of cores.
    explicit Concurrent(std::function<Summary()> make, std::size_t parts = 0)
        : make_(std::move(make)),
          size_(parts > 0 ? parts : 2 * std::max<std::size_t>(std::thread::hardware_concurrency(), 1)),
          parts_(std::make_unique<Part[]>(size_)) {}

    /// Summary::add() for the part of this thread.
    template <class... Values>
    void add(const Values&... values) {
        auto& part = parts_[number_of_thread() % size_];
        const std::lock_guard lock(part.mutex);
        if (!part.summary) part.summary.emplace(make_());
        part.summary->add(values...);
    }
    /// A summary of all values.
    [[nodiscard]] Summary merged() const {
        auto all = make_();
        for (std::size_t i = 0; i < size_; ++i) {
            const std::lock_guard lock(parts_[i].mutex);
            if (parts_[i].summary) all.merge(*parts_[i].summary);
        }
        return all;
    }

  private:
    struct alignas(64) Part {  // a cache line of its own
        std::mutex mutex;
        std::optional<Summary> summary;
    };
    // Threads are counted as they come.
    static std::size_t number_of_thread() {
        static std::atomic<std::size_t> threads{0};
        thread_local const std::size_t number = threads++;
        return number;
    }

    std::function<Summary()> make_;
    std::size_t size_;
    std::unique_ptr<Part[]> parts_;
};

/// A summary of the values of the last seconds. Times are seconds of any clock; values may come in any order of time.
///
/// Guarantee: summary(now) has all values with a time from now - seconds to now. Time is cut into panes, spans of
/// seconds / panes. So values up to one pane older than that, or later than `now`, may be in it, too. Its error is that
/// of the summary. A value that is older than the oldest pane, compared with the latest time so far, is not added;
/// late() counts the calls with such values.
/// Memory: up to panes + 2 summaries.
///
///     Recent<Quantiles<float>> last_minutes(300, [] { return Quantiles<float>({.eps = 0.01}); });
///     last_minutes.add(now, 3.5F);
///     const auto p99 = last_minutes.summary(now).quantile(0.99);
template <class Summary>
class Recent {
  public:
    /// `make` returns an empty summary.
    /// Throws: InvalidArgument unless seconds > 0 and panes are from 1 to 2^20.
    Recent(double seconds, std::function<Summary()> make, std::size_t panes = 32)
        : make_(std::move(make)),
          seconds_(seconds),
          pane_(seconds / static_cast<double>(panes)),
          panes_(static_cast<std::int64_t>(panes)) {
        if (!(pane_ > 0 && std::isfinite(seconds)) || panes < 1 || panes > detail::stream::max_panes)
            throw InvalidArgument("Recent: seconds must be more than 0, and panes from 1 to 2^20");
    }

    /// Adds values that have one time.
    /// Throws: InvalidArgument if the time is not a finite number, or more than 2^53 panes from 0.
    template <class... Values>
    void add(double time, const Values&... values) {
        const auto index = pane_at(time);
        latest_ = (std::max)(latest_.value_or(time), time);
        if (!parts_.empty() && index < parts_.rbegin()->first - panes_) {
            ++late_;
            return;
        }
        auto found = parts_.find(index);
        if (found == parts_.end()) found = parts_.emplace(index, make_()).first;
        found->second.add(values...);
        parts_.erase(parts_.begin(), parts_.lower_bound(parts_.rbegin()->first - panes_));
    }
    /// The values of the last seconds before `now`.
    [[nodiscard]] Summary summary(double now) const {
        const auto last = pane_at(now);
        auto all = make_();
        for (auto part = parts_.lower_bound(last - panes_); part != parts_.end() && part->first <= last; ++part)
            all.merge(part->second);
        return all;
    }
    [[nodiscard]] double seconds() const { return seconds_; }               ///< as given
    [[nodiscard]] std::optional<double> latest() const { return latest_; }  ///< the latest time so far
    [[nodiscard]] std::uint64_t late() const { return late_; }              ///< calls of add() that came too late
    /// Bytes of all parts.
    [[nodiscard]] std::size_t bytes() const {
        std::size_t bytes = 0;
        for (const auto& [index, part] : parts_) bytes += detail::stream::map_node + part.bytes();
        return bytes;
    }
    /// All parts as bytes, which docs/stream-format.md describes.
    [[nodiscard]] std::vector<std::byte> save() const {
        detail::stream::SavedParts saved{.kind = SavedSummary::Kind::LastSeconds,
                                         .empty = make_().save(),
                                         .seconds = seconds_,
                                         .panes = static_cast<std::uint64_t>(panes_),
                                         .late = late_,
                                         .latest = latest_};
        for (const auto& [index, part] : parts_) saved.parts.push_back({.index = index, .summary = part.save()});
        return saved.save();
    }
    /// Loads the bytes of save(); `read` loads the summaries in them. New parts have the options of the saved ones.
    /// Throws: InvalidArgument if the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static Recent load(
        std::span<const std::byte> bytes, std::function<Summary(std::span<const std::byte>)> read =
                                              [](std::span<const std::byte> one) { return Summary::load(one); }) {
        auto saved = detail::stream::SavedParts::load("Recent::load", SavedSummary::Kind::LastSeconds, bytes);
        Recent loaded(
            saved.seconds, [empty = std::move(saved.empty), read] { return read(empty); },
            static_cast<std::size_t>(saved.panes));
        static_cast<void>(loaded.make_());  // it must be right even if there are no parts
        for (const auto& part : saved.parts) loaded.parts_.emplace(part.index, read(part.summary));
        loaded.latest_ = saved.latest;
        loaded.late_ = saved.late;
        const auto last = loaded.latest_ ? loaded.pane_at(*loaded.latest_) : std::int64_t{0};
        if (!loaded.parts_.empty() && (!loaded.latest_ || loaded.parts_.rbegin()->first > last))
            throw InvalidArgument("Recent::load: the bytes are damaged (the latest time)");
        return loaded;
    }

  private:
    [[nodiscard]] std::int64_t pane_at(double time) const {
        const auto index = std::floor(time / pane_);
        if (!(std::abs(index) <= detail::stream::max_pane))
            throw InvalidArgument("Recent: a time must be a finite number of seconds");
        return static_cast<std::int64_t>(index);
    }

    std::function<Summary()> make_;
    double seconds_;
    double pane_;  // seconds of one
    std::int64_t panes_;
    std::map<std::int64_t, Summary> parts_;
    std::optional<double> latest_;
    std::uint64_t late_ = 0;
};

/// A summary for each group of values, such as the p99 of each path.
///
/// Guarantee: that of the summary, for the values of each group.
/// Memory: a summary and a name for each group, at most max_groups. Quantiles and Frequencies stay small while a group
/// has few values.
///
///     Grouped<Quantiles<float>> paths([] { return Quantiles<float>({.eps = 0.01}); }, 10'000);
///     paths.add("/film", 3.5F);
///     for (const auto& [path, latencies] : paths.groups()) print(path, latencies.quantile(0.99).value);
template <class Summary>
class Grouped {
  public:
    using Groups = std::map<std::string, Summary, std::less<>>;  ///< in the order of their names

    /// `make` returns an empty summary.
    explicit Grouped(std::function<Summary()> make, std::size_t max_groups = 10'000)
        : make_(std::move(make)), max_groups_(max_groups) {}

    /// The summary of a group, which is made if there is none yet. It keeps its address.
    /// Throws: InvalidArgument if there would be more than max_groups.
    [[nodiscard]] Summary& of(std::string_view group) {
        if (const auto found = groups_.find(group); found != groups_.end()) return found->second;
        check(groups_.size() + 1);
        return groups_.emplace(group, make_()).first->second;
    }
    /// Summary::add() for a group.
    /// Throws: as of().
    template <class... Values>
    void add(std::string_view group, const Values&... values) {
        of(group).add(values...);
    }
    [[nodiscard]] const Groups& groups() const { return groups_; }  ///< all so far
    [[nodiscard]] Summary empty() const { return make_(); }         ///< as that of a new group
    /// Adds the groups of the other one.
    /// Throws: InvalidArgument if both have more than max_groups; nothing is changed then.
    void merge(const Grouped& other) {
        auto all = groups_.size();
        for (const auto& [group, summary] : other.groups_) all += groups_.contains(group) ? 0U : 1U;
        check(all);
        for (const auto& [group, summary] : other.groups_) of(group).merge(summary);
    }
    /// Bytes of all groups.
    [[nodiscard]] std::size_t bytes() const {
        std::size_t bytes = 0;
        for (const auto& [group, summary] : groups_)
            bytes += detail::stream::map_node + sizeof group + group.capacity() + summary.bytes();
        return bytes;
    }
    /// All groups as bytes, which docs/stream-format.md describes.
    [[nodiscard]] std::vector<std::byte> save() const {
        detail::stream::SavedParts saved{.kind = SavedSummary::Kind::Groups, .empty = make_().save()};
        for (const auto& [group, summary] : groups_) saved.parts.push_back({.name = group, .summary = summary.save()});
        return saved.save();
    }
    /// Loads the bytes of save(); `read` loads the summaries in them. New groups have the options of the saved ones.
    /// Throws: InvalidArgument if the bytes are damaged, hold another kind of summary or type, or have more than
    /// max_groups.
    [[nodiscard]] static Grouped load(
        std::span<const std::byte> bytes, std::size_t max_groups = 10'000,
        std::function<Summary(std::span<const std::byte>)> read = [](std::span<const std::byte> one) {
            return Summary::load(one);
        }) {
        auto saved = detail::stream::SavedParts::load("Grouped::load", SavedSummary::Kind::Groups, bytes);
        Grouped loaded([empty = std::move(saved.empty), read] { return read(empty); }, max_groups);
        static_cast<void>(loaded.empty());  // it must be right even if there are no groups
        loaded.check(saved.parts.size());
        for (auto& part : saved.parts) loaded.groups_.emplace(std::move(part.name), read(part.summary));
        return loaded;
    }

  private:
    void check(std::size_t groups) const {
        if (groups <= max_groups_) return;
        throw InvalidArgument("Grouped: there would be " + std::to_string(groups) + " groups; max_groups allows " +
                              std::to_string(max_groups_));
    }

    std::function<Summary()> make_;
    std::size_t max_groups_;
    Groups groups_;
};

}  // namespace quadmill
