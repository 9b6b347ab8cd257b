// Passes the caller's values through a sorter to a summary, batch by batch. Caller and sorter work at the same time.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/window_sorter.hpp"
#include "quadmill/window_sorter.hpp"
#include "stream/key.hpp"
#include "stream/share.hpp"

namespace quadmill::detail::stream {

// Runs `work`, then `after`, even if `work` throws.
template <class Work, class After>
void whether_or_not(Work work, After after) {
    try {
        work();
    } catch (...) {
        after();
        throw;
    }
    after();
}

// Counts the NaNs among values that are as wide as Bits. Vector instructions compare signed integers.
template <class Bits>
std::size_t count_nans(const Bits* values, std::size_t size, const KeyRule& rule) {
    using Signed = std::make_signed_t<Bits>;
    std::size_t nans = 0;
    if (sizeof(Bits) == sizeof(double) && !rule.narrow) {
        for (std::size_t i = 0; i < size; ++i)
            nans += std::isnan(std::bit_cast<double>(Key{bits_at(values + i)})) ? 1U : 0U;
        return nans;
    }
    const auto max = static_cast<Signed>(rule.max_magnitude);
    const auto magnitude = static_cast<Bits>(~rule.sign);
    for (std::size_t i = 0; i < size; ++i) nans += static_cast<Signed>(bits_at(values + i) & magnitude) > max ? 1U : 0U;
    return nans;
}
inline std::size_t count_nans(const Values& values, const KeyRule& rule) {
    if (!rule.has_nans()) return 0;
    return with_width(rule.width,
                      [&]<class Bits>(Bits /*width*/) { return count_nans(values.as<Bits>(), values.size(), rule); });
}
inline void drop_nans(Buffer& values, std::size_t begin, const KeyRule& rule) {
    with_width(rule.width, [&]<class Bits>(Bits /*width*/) {
        const auto all = values.as<Bits>();
        const auto is_nan = [&](const Bits& value) { return rule.is_nan(bits_at(&value)); };
        const auto end = std::remove_if(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(), is_nan);
        values.resize(static_cast<std::size_t>(end - all.begin()));
    });
}

class WindowSink {
  public:
    WindowSink() = default;
    WindowSink(const WindowSink&) = delete;
    WindowSink& operator=(const WindowSink&) = delete;
    virtual ~WindowSink() = default;
    // Takes the windows of a batch, in their original order.
    virtual void take(const Windows& sorted) = 0;
    // Called if a call of the intake throws. Returns the number of values that were taken and kept.
    virtual std::uint64_t failed() = 0;
};

// Memory: depth + 2 batches of the sorter, each of at least one window. On one thread, which has nothing to overlap, a
// stream that is not yet long takes less: a batch is one window, and only waiting values stay. There is no queue: add()
// waits if the sorter lags behind. Windows for which there is no memory are lost; n() counts the values that are left.
class Intake {
  public:
    // The sink and the rule outlive this object.
    Intake(const KeyRule& rule, std::unique_ptr<WindowSorter> sorter, std::size_t window, WindowSink& sink)
        : rule_(rule), sorter_(std::move(sorter)), sink_(sink), window_(window) {
        const std::size_t max = (std::size_t{1} << 27U) / rule.width;
        const auto by_threads = std::min(sorter_->batch_windows(), max / window_);
        batch_ = std::max({sorter_->batch_bytes() / rule.width / window_, by_threads, std::size_t{1}}) * window_;
        const bool on_this_thread = sorter_->name() == "cpu" && sorter_->batch_windows() == 1;
        in_flight_.reserve(sorter_->depth());  // so that no batch is lost when it is added
        long_ = on_this_thread ? 16 * std::uint64_t{batch_} : 0;
    }
    Intake(const Intake&) = delete;
    Intake& operator=(const Intake&) = delete;
    // Waits, because the sorter must not write to freed memory.
    ~Intake() {
        for (; !in_flight_.empty(); forget_first()) {
            try {
                sorter_->finish();
            } catch (...) {  // NOLINT(bugprone-empty-catch)
                // There is nobody to report an error to.
            }
        }
    }

    // From now on, only keys 0, step, 2 step, ... and the last one of each window are passed on, if that saves work in
    // the sorter. Pre: no values were added yet; 1 <= step < window.
    void sample(std::size_t step) { step_ = sorter_->can_sample() && step >= worth_sampling ? step : 0; }
    // 0 if complete windows are passed on.
    [[nodiscard]] std::size_t step() const { return step_; }

    // From now on, the CPU's sorter is left out: windows are passed on as they come. Pre: no values were added yet.
    void leave_unsorted() { unsorted_ = sorter_->name() == "cpu"; }

    // Leaves NaNs out. If the sorter fails, the values counted by n() and nans() were taken, and none is lost. Samples
    // that arrive after the failed batch are passed on before it.
    void add(Values values) {
        counted([&] {
            while (!values.empty()) {
                if (!is_long()) take_all();
                if (unsorted_ && filling_.size() == 0 && values.size() >= window_ && pass(values.first(window_))) {
                    values = values.from(window_);
                    continue;
                }
                if (const auto limit = this->limit(); filling_.size() < limit) {
                    const auto part = values.first(std::min(values.size(), limit - filling_.size()));
                    keep(part);
                    values = values.from(part.size());
                }
                if (const auto limit = this->limit(); filling_.size() >= limit)
                    begin([&] { begin_windows(cut(limit)); });
            }
        });
    }
    // Bits has the width of a value.
    template <class Bits>
    void add_one(Bits bits) {
        if (filling_.size() == filling_.capacity() || filling_.size() + 1 >= limit() || rule_.is_nan(bits))
            return add(std::span<const Bits>(&bits, 1));
        filling_.push(bits);
        ++n_;
        ++taken_;
    }
    // Frees what makes the next settle_all() or add() faster, unless the stream is long.
    void trim() {
        if (is_long()) return;
        sorted_ = Buffer(rule_.width);
        filling_.shrink();
    }
    // Like add(), but does not use the sorter until the next call, so it cannot fail.
    void keep(const Values& values) {
        if (filling_.capacity() == 0) filling_ = std::move(spare_);
        const auto before = filling_.size();
        std::size_t nans = 0;
        try {
            nans = copy_shared(values, append(filling_, values.size(), limit()));
        } catch (...) {
            filling_.resize(before);
            throw;
        }
        if (nans > 0) drop_nans(filling_, before, rule_);
        n_ += values.size() - nans;
        nans_ += nans;
        taken_ += values.size();
    }
    // Runs work on the sink. If it throws, n() is what the sink has kept and what waits here.
    void counted(const auto& work) {
        try {
            work();
        } catch (...) {
            n_ = sink_.failed() + filling_.size();
            for (const auto& [batch, is_rest] : in_flight_) n_ += is_rest ? 0 : batch.size();
            throw;
        }
    }
    [[nodiscard]] std::uint64_t n() const { return n_; }  // without NaNs
    [[nodiscard]] std::uint64_t nans() const { return nans_; }
    [[nodiscard]] std::uint64_t taken() const { return taken_; }  // by add() and keep(), including values lost since
    void add_counted(std::uint64_t n, std::uint64_t nans) {       // adds values that bypassed the intake
        n_ += n;
        nans_ += nans;
    }

    // Sorts and passes on all complete windows. rest() has the remaining values.
    void settle() {
        counted([&] { whether_or_not([&] { begin_whole(); }, [&] { take_all(); }); });
    }
    // The values of the incomplete window, in their original order. Pre: settle() was called last.
    [[nodiscard]] Values rest() const { return filling_.values(); }
    // Like settle(), and returns the rest sorted; it is valid until values are added or settle() is called. A copy of
    // the rest goes through the sorter right after the last windows. Repeated calls while a window fills sort only the
    // new values.
    Window settle_all() {
        const auto begin_all = [&] {
            begin_whole();
            const auto fresh = filling_.values().from(sorted_.size());
            if (!fresh.empty()) begin([&] { begin_rest(fresh); });
        };
        counted([&] { whether_or_not(begin_all, [&] { take_all(); }); });
        return {sorted_.values(), rule_};
    }

    [[nodiscard]] const KeyRule& rule() const { return rule_; }
    [[nodiscard]] WindowSorter& sorter() { return *sorter_; }
    // Sorts values of the caller. Pre: no batch is in flight.
    void sort(Buffer& values) {
        sorter_->begin(keys(values), values.size());
        sorter_->finish();
    }
    [[nodiscard]] auto share() {
        return [sorter = sorter_.get()](std::size_t count, const Work& work) { sorter->share(count, work); };
    }
    [[nodiscard]] const WindowSorter& sorter() const { return *sorter_; }
    // Bytes of the values in flight.
    [[nodiscard]] std::size_t bytes() const {
        auto bytes = filling_.bytes() + spare_.bytes() + sorted_.bytes() + sorter_->bytes() +
                     in_flight_.capacity() * sizeof(InFlight);
        for (const auto& [batch, is_rest] : in_flight_) bytes += batch.bytes();
        return bytes;
    }

    [[nodiscard]] std::size_t max_bytes() const {
        return (sorter_->depth() + 3) * cpu::held_bytes(batch_ * rule_.width) + sorter_->bytes();
    }

  private:
    static constexpr std::size_t worth_sampling = 8;  // so that a sample is small compared with its window

    struct InFlight {
        Buffer batch;
        bool is_rest;  // whether it is a copy of waiting values
    };

    // Passes on a window as it is in the caller's memory; false if it has NaNs.
    bool pass(const Values& window) {
        if (count_nans(window, rule_) > 0) return false;
        sorted_.clear();
        n_ += window.size();
        taken_ += window.size();
        sink_.take(Windows(window, window_, rule_));
        return true;
    }
    [[nodiscard]] bool is_long() const { return taken_ >= long_; }
    [[nodiscard]] std::size_t limit() const { return is_long() ? batch_ : window_; }
    [[nodiscard]] Keys keys(Buffer& values) const { return rule_.keys(values.data(), values.size()); }
    // Space at the end of a batch for that many more values. The batch grows to the max divided by a power of two, so
    // that parts of any length fill a buffer that is as short as for single values.
    static std::byte* append(Buffer& batch, std::size_t count, std::size_t max) {
        const auto before = batch.size(), size = before + count;
        if (size > batch.capacity()) {
            while (max / 2 >= size) max /= 2;
            batch.reserve(batch.capacity() > 0 ? std::max(size, max) : size);
        }
        batch.resize(size);
        return batch.data(before);
    }
    // Copies with the sorter's threads if there are many values. Returns the number of NaNs.
    std::size_t copy_shared(const Values& from, std::byte* to) {
        constexpr std::size_t piece = std::size_t{1} << 16U;
        std::atomic<std::size_t> nans = 0;
        const auto copy_piece = [&](std::size_t i) {
            const auto part = from.subspan(i * piece, std::min(piece, from.size() - i * piece));
            std::memcpy(to + i * piece * from.width(), part.data(), part.bytes());
            nans += count_nans(part, rule_);
        };
        const auto pieces = (from.size() + piece - 1) / piece;
        if (pieces == 1) {
            copy_piece(0);
        } else {
            sorter_->share(pieces, copy_piece);
        }
        return nans;
    }
    Buffer cut(std::size_t count) {
        Buffer rest(rule_.width);
        if (const auto others = filling_.values().from(count); !others.empty()) {
            rest = std::move(spare_);
            copy_shared(others, append(rest, others.size(), batch_));
        }
        filling_.resize(count);
        sorted_.clear();
        return std::exchange(filling_, std::move(rest));
    }
    // If the sorter is full, the oldest batch is taken after the next one has begun.
    template <class Begin>
    void begin(Begin next) {
        if (in_flight_.size() < sorter_->depth()) return next();
        auto done = finish();
        whether_or_not(next, [&] { emit(std::move(done)); });
    }
    // Begins one batch at a time: more than one waits if the sorter has failed.
    void begin_whole() {
        while (filling_.size() >= window_)
            begin([&] { begin_windows(cut(std::min(filling_.size() / window_ * window_, batch_))); });
    }
    // If the sorter fails, the values become waiting ones again, in the order of their windows.
    void begin_windows(Buffer batch) {
        if (unsorted_) return emit({std::move(batch), false});
        in_flight_.push_back({std::move(batch), false});
        try {
            const auto batch_keys = keys(in_flight_.back().batch);
            step_ > 0 ? sorter_->begin_sample(batch_keys, window_, step_) : sorter_->begin(batch_keys, window_);
        } catch (...) {
            auto back = std::move(in_flight_.back().batch);
            in_flight_.pop_back();
            take_back(std::move(back));
            throw;
        }
    }
    void begin_rest(const Values& values) {
        in_flight_.push_back({std::move(spare_), true});
        auto& batch = in_flight_.back().batch;
        try {
            copy_shared(values, append(batch, values.size(), batch_));
            sorter_->begin(keys(batch), values.size());
        } catch (...) {
            in_flight_.pop_back();
            throw;
        }
    }
    // If the sorter fails, samples of later batches are passed on, since their other values are gone.
    InFlight finish() {
        auto oldest = std::move(in_flight_.front());
        forget_first();
        try {
            sorter_->finish();
        } catch (...) {
            if (oldest.is_rest) oldest.batch.clear();
            std::vector<InFlight> sampled;
            for (; !in_flight_.empty(); forget_first()) {
                auto& next = in_flight_.front();
                bool is_sample = step_ > 0 && !next.is_rest;
                try {
                    sorter_->finish();
                } catch (...) {
                    is_sample = false;
                }
                if (is_sample) {
                    sampled.push_back(std::move(next));
                } else if (!next.is_rest) {
                    oldest.batch.append(next.batch.values());  // complete windows are sorted once more
                }
            }
            take_back(std::move(oldest.batch));
            for (auto& batch : sampled) emit(std::move(batch));
            throw;
        }
        return oldest;
    }
    void forget_first() { in_flight_.erase(in_flight_.begin()); }
    void take_back(Buffer batch) {
        if (batch.size() == 0) return;
        batch.append(filling_.values());
        filling_ = std::move(batch);
        sorted_.clear();
    }
    // Continues after a batch that cannot be passed on: no copy of waiting values may arrive after they have changed.
    void take_all() {
        if (in_flight_.empty()) return;
        whether_or_not([&] { emit(finish()); }, [&] { take_all(); });
    }
    void emit(InFlight done) {
        auto& [batch, is_rest] = done;
        if (is_rest) {
            merge_into_sorted(batch);
        } else if (const auto values = batch.values(); step_ > 0) {
            const auto each = cpu::WindowSample::each(window_, step_);
            sink_.take(Windows(values.first(values.size() / window_ * each), each, rule_));
        } else {
            sink_.take(Windows(values, window_, rule_));
        }
        batch.clear();
        if (is_long() && batch.capacity() > spare_.capacity()) spare_ = std::move(batch);
    }
    void merge_into_sorted(Buffer& batch) {
        if (sorted_.size() == 0) return sorted_.swap(batch);
        const auto old = static_cast<std::ptrdiff_t>(sorted_.size());
        std::memcpy(append(sorted_, batch.size(), batch_), batch.data(), batch.values().bytes());
        with_width(rule_.width, [&]<class Bits>(Bits /*width*/) {
            const auto all = sorted_.as<Bits>();
            std::inplace_merge(all.begin(), all.begin() + old, all.end(), RuleLess<Bits>{rule_});
        });
    }

    const KeyRule& rule_;
    std::unique_ptr<WindowSorter> sorter_;
    WindowSink& sink_;
    std::size_t window_, batch_ = 0, step_ = 0;
    bool unsorted_ = false;
    std::uint64_t long_ = 0;  // from that many values on a stream is long
    std::uint64_t n_ = 0, nans_ = 0, taken_ = 0;
    Buffer filling_{rule_.width}, spare_{rule_.width};
    Buffer sorted_{rule_.width};  // the first waiting values, sorted
    std::vector<InFlight> in_flight_;
};

}  // namespace quadmill::detail::stream
