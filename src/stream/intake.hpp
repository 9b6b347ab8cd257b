// The way of values from the caller through a sorter into a summary, batch by batch, the two at work at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/window_sorter.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::stream {

// Memory: depth + 2 batches of the sorter, each of at least one window. Nothing waits in a queue: add() itself waits
// when the sorter is behind.
template <class T>
class Intake {
  public:
    // Takes windows, each sorted, in the order in which they came.
    using Take = std::function<void(const Window<T>& sorted)>;

    Intake(std::unique_ptr<WindowSorter> sorter, std::size_t window) : sorter_(std::move(sorter)), window_(window) {
        const auto wanted = sorter_->batch_bytes() / sizeof(T);
        batch_ = std::max<std::size_t>(wanted / window_, 1) * window_;
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

    // Sets NaNs aside.
    void add(std::span<const T> values, const Take& take) {
        constexpr std::size_t piece = 4096;
        while (!values.empty()) {
            const auto part = values.first(std::min(values.size(), piece));
            const auto nans = static_cast<std::uint64_t>(std::count_if(part.begin(), part.end(), KeyOf<T>::is_nan));
            if (nans == 0) {
                add_numbers(part, take);
            } else {
                std::vector<T> numbers;
                std::copy_if(part.begin(), part.end(), std::back_inserter(numbers),
                             [](T value) { return !KeyOf<T>::is_nan(value); });
                add_numbers(numbers, take);
            }
            nans_ += nans;
            values = values.subspan(part.size());
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
        std::vector<T> rest(filling_.begin() + static_cast<std::ptrdiff_t>(whole), filling_.end());
        filling_.resize(whole);
        begin(std::exchange(filling_, std::move(rest)));
        take_oldest(take);
    }
    // Values that fill no window yet, in the order in which they came. Pre: settle() was called last.
    [[nodiscard]] std::span<const T> rest() const { return filling_; }

    [[nodiscard]] std::size_t window() const { return window_; }
    [[nodiscard]] WindowSorter& sorter() { return *sorter_; }
    [[nodiscard]] const WindowSorter& sorter() const { return *sorter_; }
    // Of the values that are on their way.
    [[nodiscard]] std::size_t bytes() const {
        std::size_t values = filling_.capacity() + spare_.capacity();
        for (const auto& batch : under_way_) values += batch.capacity();
        return values * sizeof(T);
    }

  private:
    void add_numbers(std::span<const T> values, const Take& take) {
        while (!values.empty()) {
            const auto part = values.first(std::min(values.size(), batch_ - std::min(batch_, filling_.size())));
            if (filling_.capacity() < batch_) reserve(part.size());
            filling_.insert(filling_.end(), part.begin(), part.end());
            n_ += part.size();
            values = values.subspan(part.size());
            if (filling_.size() < batch_) continue;
            if (under_way_.size() == sorter_->depth()) take_oldest(take);
            begin(std::exchange(filling_, std::exchange(spare_, {})));
        }
    }
    // Grows as it fills, so that a short stream takes little.
    void reserve(std::size_t more) {
        const auto needed = filling_.size() + more;
        if (needed > filling_.capacity()) filling_.reserve(std::min(batch_, std::max(needed, 2 * filling_.size())));
    }
    // Where the sorter fails, the values come back to where they were.
    void begin(std::vector<T> batch) {
        under_way_.push_back(std::move(batch));
        try {
            sorter_->begin(std::span(under_way_.back()), window_);
        } catch (...) {
            take_back(under_way_.back());
            under_way_.pop_back();
            throw;
        }
    }
    std::vector<T> finish() {
        auto batch = std::move(under_way_.front());
        under_way_.pop_front();
        try {
            sorter_->finish();
        } catch (...) {
            take_back(batch);
            throw;
        }
        return batch;
    }
    void take_back(const std::vector<T>& batch) { filling_.insert(filling_.begin(), batch.begin(), batch.end()); }
    void take_oldest(const Take& take) {
        auto batch = finish();
        for (std::size_t i = 0; i < batch.size(); i += window_)
            take(Window<T>(batch.data() + i, std::min(window_, batch.size() - i)));
        batch.clear();
        spare_ = std::move(batch);
    }

    std::unique_ptr<WindowSorter> sorter_;
    std::size_t window_, batch_ = 0;
    std::uint64_t n_ = 0, nans_ = 0;
    std::vector<T> filling_, spare_;
    std::deque<std::vector<T>> under_way_;
};

}  // namespace quadmill::detail::stream
