// A stream's summary: buckets of summaries, each of twice as many windows as the previous one (SIGMOD'05 section 5.2).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cpu/stopwatch.hpp"
#include "stream/bytes.hpp"
#include "stream/share.hpp"

namespace quadmill::detail::stream {

// How the error is divided among buckets. The summary of bucket id b may be off by eps / 2 (1 + used(b)) of its values:
// a new window, which has id 1, by eps / 2, and each step to the next id adds to it. For known n, `levels` is the max
// number of ids, and each adds eps / (2 levels): Greenwald and Khanna's B = levels / eps. (The paper's formula adds
// twice as much and exceeds eps.) After these, each of the next 12 ids adds 1 / 15 of the rest, each of 24 more 1 /
// 150, and so on. A fifth of the rest is always kept, so the sum never reaches the total. Summaries of streams use eps
// / 4 for a new window instead of eps / 2, which leaves more for merges: with little left, merging would keep more
// entries than a finer sample has. With a tail, errors are relative to the distance from an end, and `n` below is that
// distance. Then the first 32 ids take half of eps. A summary is saved with id 33 or more, which may be off by 0.8 eps:
// it has few entries, because pruning gains 0.3 eps at least. Merges of saved summaries divide the rest.
struct ErrorPlan {
    static constexpr std::size_t max_ids = 64;  // the last id may use up eps and takes everything that comes later
    double eps = 0.01;
    std::uint64_t levels = 1;
    double window = 0.5;  // fraction of eps that a new window may be off
    Tail tail = Tail::Off;
    static constexpr std::size_t live_ids = 32;  // with a tail
    static ErrorPlan of_stream(double eps, std::uint64_t levels) { return {eps, levels, 0.25}; }

    static std::uint64_t levels_for(std::uint64_t windows) {
        return std::min<std::uint64_t>(1 + static_cast<unsigned>(std::bit_width(windows - (windows > 0 ? 1 : 0))),
                                       max_ids);
    }
    static ErrorPlan planned(double eps, const std::optional<std::uint64_t>& n, std::size_t window,
                             Tail tail = Tail::Off) {
        auto plan = of_stream(eps, n && tail == Tail::Off ? levels_for(*n / window + (*n % window > 0)) : 1);
        plan.tail = tail;
        return plan;
    }
    [[nodiscard]] double used(std::size_t id) const {
        if (id >= max_ids) return 1;
        const auto all = static_cast<double>(levels);
        const auto planned = static_cast<double>(std::min<std::uint64_t>(id, levels));
        auto past = static_cast<double>(id) - planned;
        double rest = 0, left = 1;
        for (double ids = 12; past > 0; ids *= 2, left /= 5) {
            rest += 0.8 * left * std::min(past, ids) / ids;
            past -= ids;
        }
        return (planned - 1 + rest) / all;
    }
    // Max error in ranks or counts, for n values.
    [[nodiscard]] double max_error(std::size_t id, std::uint64_t n) const {
        const auto values = static_cast<double>(n);
        if (tail == Tail::Off) return eps * (window + (1 - window) * used(id)) * values;
        return eps * (id <= live_ids ? 0.5 * (window + (1 - window) * used(id)) : 0.8 + 0.2 * used(id - live_ids)) *
               values;
    }
    bool operator==(const ErrorPlan&) const = default;
};

// Copies share their buckets, which do not change. Source: SIGMOD'05 section 5.2; Greenwald and Khanna, PODS 2004.
template <class Summary>
class ExponentialHistogram {
  public:
    using Shared = std::shared_ptr<Summary>;
    static constexpr std::size_t max_ids = ErrorPlan::max_ids;
    enum class Pack { Now, Later };  // a bucket, if the summary can be packed

    explicit ExponentialHistogram(const ErrorPlan& plan) : plan_(plan) {}

    // Adds a summary whose error is at most that of an id, by default of a window. Two summaries with the same id are
    // merged into one with the next id.
    void add(Summary summary, std::size_t id = 1, const Share& share = alone) {
        combine(std::move(summary), id, unnoticed, share);
    }
    using Make = Callable<void(Summary& made, std::size_t i, const Share& share)>;
    // Adds the summaries of that many windows as if by add() one after the other. Threads make them at the same time,
    // and merge neighbours into the bucket that they become. Returns the milliseconds of making.
    double add_windows(std::size_t count, const Make& make, const Share& share) {
        constexpr std::size_t max_groups = 64;
        double make_ms = 0;
        for (std::size_t i = 0; i < count;) {
            const auto past = past_group(), groups = std::min((count - i) / group, max_groups);
            if (past == 0 && groups > 1) {
                make_ms += add_groups(i, groups, make, share);
                i += groups * group;
            } else {
                const auto some = std::min(count - i, group - past);
                make_ms += add_some(i, some, make, share);
                i += some;
            }
        }
        return make_ms;
    }
    using Formed = Callable<void(const Summary& bucket, std::size_t id)>;
    // add(), which also tells of each new bucket. If it throws, the buckets are unchanged.
    void combine(Summary summary, std::size_t id, const Formed& formed, const Share& share = alone,
                 Pack pack = Pack::Now) {
        auto at = id;
        if (buckets_.size() < at) buckets_.resize(at);
        for (bool is_last = false; !is_last && buckets_[at - 1];) {
            const cpu::Stopwatch merging;
            auto sum = Summary::merged(*buckets_[at - 1], summary, std::move(spare_), share);
            constexpr std::size_t worth_keeping = std::size_t{1} << 20U;
            spare_ = summary.bytes() >= worth_keeping ? std::move(summary) : Summary();
            summary = std::move(sum);
            merge_ms_ += merging.ms();
            is_last = at == max_ids;
            if (!is_last) ++at;
            if (buckets_.size() < at) buckets_.resize(at);
            timed(compress_ms_, [&] { summary.prune(plan_.max_error(at, summary.n()), share); });
            formed(std::as_const(summary), at);
        }
        if (pack == Pack::Now) summary.pack();
        auto last = std::make_shared<Summary>(std::move(summary));
        for (; id < at; ++id) buckets_[id - 1].reset();
        buckets_[at - 1] = std::move(last);
    }

    [[nodiscard]] std::size_t last_id() const {
        auto id = buckets_.size();
        while (id > 0 && !buckets_[id - 1]) --id;
        return id;
    }
    void raise_eps(double eps) { plan_.eps = std::max(plan_.eps, eps); }
    // Adds the other's buckets; pack() should follow. A bucket from another plan gets the first id whose error bounds
    // its own. If many summaries can be merged in one step, buckets wait for others, until settle() or until there are
    // many.
    void merge(const ExponentialHistogram& other, const Share& share = alone) {
        const auto take = [&](const Shared& bucket, std::size_t id) {
            if (!(plan_ == other.plan_)) {
                const auto error = other.plan_.max_error(id, bucket->n());
                for (id = 1; id < max_ids && plan_.max_error(id, bucket->n()) < error;) ++id;
            }
            if constexpr (merges_many) {
                wait(bucket, id);
            } else {
                combine(*bucket, id, unnoticed, share, Pack::Later);
            }
        };
        for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
            if (other.buckets_[i]) take(other.buckets_[i], i + 1);
        }
        for (const auto& [bucket, id] : other.waiting_) take(bucket, id);
        if constexpr (merges_many) {
            std::size_t entries = 0;
            for (const auto& one : waiting_) entries += one.bucket->size();
            if (entries > many()) settle();
        }
    }
    // A summary that waits to be merged into the buckets. Pre: it has values, and its error is at most that of the id.
    void wait(Shared bucket, std::size_t id) { waiting_.push_back({std::move(bucket), id}); }
    // Merges the waiting summaries into the buckets: 2^k that have the same id into one with id + k.
    void settle() {
        if (waiting_.empty()) return;
        if constexpr (merges_many) {
            const cpu::Stopwatch merging;
            auto settled = *this;  // unchanged if there is no memory
            settled.settle_waiting();
            settled.merge_ms_ += merging.ms();
            *this = std::move(settled);
        }
    }
    void pack() {
        for (auto& bucket : buckets_) {
            if (bucket && bucket.use_count() == 1) bucket->pack();
        }
    }

    // True if nothing was dropped.
    [[nodiscard]] bool is_exact() const {
        return std::ranges::all_of(parts(), [](const Summary* part) { return part->is_exact(); });
    }
    // All buckets, smallest first, and then those that wait.
    [[nodiscard]] std::vector<const Summary*> parts() const {
        std::vector<const Summary*> parts;
        for (const auto& bucket : buckets_) {
            if (bucket) parts.push_back(&*bucket);
        }
        for (const auto& one : waiting_) parts.push_back(&*one.bucket);
        return parts;
    }
    [[nodiscard]] Summary all(const Share& share = alone) const {
        Summary sum;
        for (const auto* part : parts()) sum = Summary::merged(sum, *part, {}, share);
        return sum;
    }

    [[nodiscard]] double merge_ms() const { return merge_ms_; }
    [[nodiscard]] double compress_ms() const { return compress_ms_; }
    void drop(std::size_t id) {
        if (id <= buckets_.size()) buckets_[id - 1].reset();
    }
    [[nodiscard]] const ErrorPlan& plan() const { return plan_; }
    [[nodiscard]] std::uint64_t n() const { return total(&Summary::n); }
    // Bytes of the buckets; and of everything, including the memory that the next merge uses.
    [[nodiscard]] std::size_t bytes() const { return total(&Summary::bytes); }
    [[nodiscard]] std::size_t memory() const {
        constexpr std::size_t shared = sizeof(Summary) + 16;  // with its counters
        return total(&Summary::memory) + spare_.memory() + parts().size() * shared +
               buckets_.capacity() * sizeof(Shared) + waiting_.capacity() * sizeof(Waiting);
    }
    // That bucket, which the caller may change: no copy shares it. An empty one if there is none; values should follow.
    [[nodiscard]] Summary& own_bucket(std::size_t id) {
        if (buckets_.size() < id) buckets_.resize(id);
        auto& bucket = buckets_[id - 1];
        if (!bucket) bucket = std::make_shared<Summary>();
        if (bucket.use_count() > 1) bucket = std::make_shared<Summary>(*bucket);
        return *bucket;
    }
    [[nodiscard]] const Summary* bucket(std::size_t id) const {
        return id <= buckets_.size() ? buckets_[id - 1].get() : nullptr;
    }

    // Pre: no summary waits.
    void write(Writer& to) const {
        std::uint64_t count = 0;
        for (const auto& bucket : buckets_) count += bucket ? 1U : 0U;
        to.u64(count);
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            if (!buckets_[i]) continue;
            to.u64(i + 1);
            buckets_[i]->write(to);
        }
    }
    template <class... How>
    static ExponentialHistogram read(Reader& from, const ErrorPlan& plan, const How&... how) {
        ExponentialHistogram histogram(plan);
        constexpr std::uint64_t max = std::uint64_t{1} << 60U;
        std::uint64_t n = 0;
        std::size_t before = 0;
        for (auto count = from.count(); count > 0; --count) {
            const auto id = from.u64();
            from.require(id > before && id <= max_ids, "the buckets");
            before = static_cast<std::size_t>(id);
            auto summary = Summary::read(from, how...);
            from.require(summary.n() > 0 && summary.n() <= max - n, "the number of values");
            n += summary.n();
            from.require(static_cast<double>(summary.max_error()) <= plan.max_error(before, summary.n()) * (1 + 1e-9),
                         "the error of a bucket");
            summary.pack();
            histogram.buckets_.resize(before);
            histogram.buckets_.back() = std::make_shared<Summary>(std::move(summary));
        }
        return histogram;
    }

  private:
    template <class Number>
    [[nodiscard]] Number total(Number (Summary::*of)() const) const {
        Number sum = 0;
        for (const auto* part : parts()) sum += (part->*of)();
        return sum;
    }
    static constexpr auto unnoticed = [](const Summary& /*bucket*/, std::size_t /*id*/) {};
    static constexpr bool merges_many = requires(std::span<const Summary* const> parts) {
        Summary::merged(parts, 0.0);
    };
    void settle_waiting() {
        std::array<std::vector<Shared>, max_ids + 1> by_id;
        for (auto& [bucket, id] : std::exchange(waiting_, {})) by_id[id].push_back(std::move(bucket));
        buckets_.resize(max_ids);
        for (std::size_t id = 1; id <= max_ids; ++id) {
            auto& list = by_id[id];
            if (list.empty()) continue;
            if (auto& bucket = buckets_[id - 1]) list.push_back(std::move(bucket));
            while (list.size() > 1) {
                const auto count = std::min(std::bit_floor(list.size()), fitting(list));
                const auto to = std::min(id + static_cast<std::size_t>(std::bit_width(count)) - 1, max_ids);
                std::vector<const Summary*> some;
                std::uint64_t n = 0;
                for (auto i = list.size() - count; i < list.size(); ++i)
                    some.push_back(list[i].get()), n += list[i]->n();
                auto sum = std::make_shared<Summary>(Summary::merged(some, plan_.max_error(to, n)));
                sum->pack();
                list.resize(list.size() - count);
                by_id[to].push_back(std::move(sum));
            }
            buckets_[id - 1] = list.empty() ? nullptr : std::move(list.front());
        }
    }
    // Number of entries that wait, and that are merged in one step: those of 64 windows and a little more, up to 2 MiB
    // of steps.
    [[nodiscard]] std::size_t many() const { return static_cast<std::size_t>(std::min(144 / plan_.eps, 9 * 0x1p14)); }
    // A power of two, at least 2: that number of summaries of the end of the list have few enough entries for a step.
    [[nodiscard]] std::size_t fitting(const std::vector<Shared>& list) const {
        std::size_t count = 0;
        for (std::size_t entries = 0; count < list.size() && entries <= many(); ++count)
            entries += list[list.size() - 1 - count]->size();
        return std::max<std::size_t>(std::bit_floor(count), 2);
    }
    // Windows that become one bucket independently of others.
    static constexpr std::size_t group_levels = 4, group = std::size_t{1} << group_levels;
    // Number of windows since the last complete group: the buckets are binary digits.
    [[nodiscard]] std::size_t past_group() const {
        std::size_t past = 0;
        for (std::size_t id = 1; id <= group_levels; ++id) past += bucket(id) ? std::size_t{1} << (id - 1) : 0;
        return past;
    }
    double add_some(std::size_t begin, std::size_t count, const Make& make, const Share& share) {
        const cpu::Stopwatch making;
        std::vector<Summary> some(count);
        if (count == 1) {
            make(some[0], begin, share);
        } else {
            share(count, [&](std::size_t i) { make(some[i], begin + i, alone); });
        }
        const auto ms = making.ms();
        for (auto& one : some) add(std::move(one), 1, share);
        return ms;
    }
    // Pre: past_group() is 0.
    double add_groups(std::size_t begin, std::size_t groups, const Make& make, const Share& share) {
        struct Part {
            ExponentialHistogram windows;
            double make_ms = 0;
        };
        std::vector<Part> parts(groups, Part{ExponentialHistogram(plan_)});
        const cpu::Stopwatch all;
        share(groups, [&](std::size_t i) {
            auto& part = parts[i];
            for (std::size_t k = 0; k < group; ++k) {
                const cpu::Stopwatch making;
                Summary made;
                make(made, begin + i * group + k, alone);
                part.make_ms += making.ms();
                part.windows.add(std::move(made));
            }
        });
        // Divides the wall time among the steps by their shares of the threads' time.
        double make_ms = 0, merge_ms = 0, compress_ms = 0;
        for (const auto& part : parts) {
            make_ms += part.make_ms;
            merge_ms += part.windows.merge_ms_;
            compress_ms += part.windows.compress_ms_;
        }
        const auto passed = all.ms() / std::max(make_ms + merge_ms + compress_ms, 1e-9);
        merge_ms_ += merge_ms * passed;
        compress_ms_ += compress_ms * passed;
        for (auto& part : parts) add(std::move(*part.windows.buckets_[group_levels]), group_levels + 1, share);
        return make_ms * passed;
    }

    ErrorPlan plan_;
    struct Waiting {
        Shared bucket;
        std::size_t id;
    };
    std::vector<Shared> buckets_;
    std::vector<Waiting> waiting_;
    Summary spare_;  // memory for the next merge
    double merge_ms_ = 0, compress_ms_ = 0;
};

}  // namespace quadmill::detail::stream
