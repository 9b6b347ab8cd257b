// The way of values from the caller through a sorter into a summary, batch by batch, the two at work at the same time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "quadmill/window_sorter.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::stream {

// Values of one batch, in memory that is not cleared first.
template <class T>
class Batch {
  public:
    [[nodiscard]] std::span<T> values() { return {memory_.get(), size_}; }
    [[nodiscard]] std::span<const T> values() const { return {memory_.get(), size_}; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t room() const { return room_; }
    // Room for so many values, whatever they are.
    std::span<T> append(std::size_t count, std::size_t most) {
        if (size_ + count > room_) {
            room_ = std::max(size_ + count, std::min(2 * room_, most));
            auto larger = std::make_unique_for_overwrite<T[]>(room_);
            std::copy_n(memory_.get(), size_, larger.get());
            memory_ = std::move(larger);
        }
        size_ += count;
        return values().last(count);
    }
    void drop_last(std::size_t count) { size_ -= count; }
    void clear() { size_ = 0; }

  private:
    std::unique_ptr<T[]> memory_;
    std::size_t size_ = 0, room_ = 0;
};

// Memory: depth + 2 batches of the sorter, each of at least one window. Nothing waits in a queue: add() itself waits
// when the sorter is behind.
template <class T>
class Intake {
  public:
    // Takes windows, each sorted, in the order in which they came.
    using Take = std::function<void(const Window<T>& sorted)>;

    Intake(std::unique_ptr<WindowSorter> sorter, std::size_t window) : sorter_(std::move(sorter)), window_(window) {
        constexpr std::size_t most = (std::size_t{1} << 27U) / sizeof(T);
        const auto by_threads = std::min(sorter_->batch_windows(), most / window_);
        batch_ = std::max({sorter_->batch_bytes() / sizeof(T) / window_, by_threads, std::size_t{1}}) * window_;
    }
    Intake(Intake&&) noexcept = default;
    Intake& operator=(Intake&&) noexcept = default;
    // The sorter must not write into memory that is gone.
    ~Intake() {
        while (sorter_ && !under_way_.empty()) {
            try {
                finish();
            } catch (...) {  // NOLINT(bugprone-empty-catch)
                // No one is left to be told.
            }
        }
    }

    // Sets NaNs aside. Where the sorter fails, what n() and nans() count was taken, and nothing is lost.
    void add(std::span<const T> values, const Take& take) {
        while (!values.empty()) {
            if (filling_.size() < batch_) {
                const auto part = values.first(std::min(values.size(), batch_ - filling_.size()));
                copy(part);
                values = values.subspan(part.size());
            }
            if (filling_.size() < batch_) continue;
            if (under_way_.size() == sorter_->depth()) take_oldest(take);
            begin(cut(batch_));
        }
    }
    [[nodiscard]] std::uint64_t n() const { return n_; }  // without NaNs
    [[nodiscard]] std::uint64_t nans() const { return nans_; }
    void note(std::uint64_t n, std::uint64_t nans) {  // that went past the intake
        n_ += n;
        nans_ += nans;
    }

    // Sorts and hands on all whole windows that have come; what remains is rest().
    void settle(const Take& take) {
        while (!under_way_.empty()) take_oldest(take);
        const auto whole = filling_.size() / window_ * window_;
        if (whole == 0) return;
        begin(cut(whole));
        take_oldest(take);
    }
    // Values that fill no window yet, in the order in which they came. Pre: settle() was called last.
    [[nodiscard]] std::span<const T> rest() const { return filling_.values(); }

    [[nodiscard]] WindowSorter& sorter() { return *sorter_; }
    [[nodiscard]] const WindowSorter& sorter() const { return *sorter_; }
    // Of the values that are on their way.
    [[nodiscard]] std::size_t bytes() const {
        std::size_t values = filling_.room() + spare_.room();
        for (const auto& batch : under_way_) values += batch.room();
        return values * sizeof(T);
    }

  private:
    // The sorter's threads share the copying of many values.
    void copy(std::span<const T> values) {
        constexpr std::size_t piece = std::size_t{1} << 16U;
        const auto to = filling_.append(values.size(), batch_);
        std::atomic<std::size_t> nans = 0;
        const auto copy_piece = [&](std::size_t i) {
            const auto from = values.subspan(i * piece, std::min(piece, values.size() - i * piece));
            std::ranges::copy(from, to.begin() + static_cast<std::ptrdiff_t>(i * piece));
            nans += static_cast<std::size_t>(std::count_if(from.begin(), from.end(), KeyOf<T>::is_nan));
        };
        const auto pieces = (values.size() + piece - 1) / piece;
        if (pieces == 1) {
            copy_piece(0);
        } else {
            sorter_->share(pieces, copy_piece);
        }
        if (nans > 0) static_cast<void>(std::remove_if(to.begin(), to.end(), KeyOf<T>::is_nan));
        filling_.drop_last(nans);
        n_ += values.size() - nans;
        nans_ += nans;
    }
    // The first values that wait; the others go on waiting.
    Batch<T> cut(std::size_t count) {
        auto rest = std::exchange(spare_, {});
        const auto others = filling_.values().subspan(count);
        if (!others.empty()) std::ranges::copy(others, rest.append(others.size(), batch_).begin());
        filling_.drop_last(others.size());
        return std::exchange(filling_, std::move(rest));
    }
    // Where the sorter fails, the values come back to where they were, in the order of their windows.
    void begin(Batch<T> batch) {
        under_way_.push_back(std::move(batch));
        try {
            sorter_->begin(under_way_.back().values(), window_);
        } catch (...) {
            auto back = std::move(under_way_.back());
            under_way_.pop_back();
            take_back(std::move(back));
            throw;
        }
    }
    Batch<T> finish() {
        auto batch = std::move(under_way_.front());
        under_way_.pop_front();
        try {
            sorter_->finish();
        } catch (...) {
            for (; !under_way_.empty(); under_way_.pop_front()) {
                try {
                    sorter_->finish();
                } catch (...) {  // NOLINT(bugprone-empty-catch)
                    // They are sorted once more in any case.
                }
                append(batch, under_way_.front());
            }
            take_back(std::move(batch));
            throw;
        }
        return batch;
    }
    void append(Batch<T>& to, const Batch<T>& from) {
        if (from.size() > 0) std::ranges::copy(from.values(), to.append(from.size(), batch_).begin());
    }
    void take_back(Batch<T> batch) {
        append(batch, filling_);
        filling_ = std::move(batch);
    }
    void take_oldest(const Take& take) {
        auto batch = finish();
        const auto values = std::as_const(batch).values();
        for (std::size_t i = 0; i < values.size(); i += window_)
            take(Window<T>(values.data() + i, std::min(window_, values.size() - i)));
        batch.clear();
        spare_ = std::move(batch);
    }

    std::unique_ptr<WindowSorter> sorter_;
    std::size_t window_, batch_ = 0;
    std::uint64_t n_ = 0, nans_ = 0;
    Batch<T> filling_, spare_;
    std::deque<Batch<T>> under_way_;
};

}  // namespace quadmill::detail::stream
