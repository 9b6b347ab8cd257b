// Passes the caller's pairs through a sorter of plain keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "stream/correlated_summary.hpp"
#include "stream/intake.hpp"

namespace quadmill::detail::stream {

// Makes windows of pairs in the order of x. The sorter sorts words of 64 bits: the upper half is a 32-bit key, the
// lower half its index, if keys are packed. Longer keys are sorted twice: first by their lower half, then by their
// upper half with the index from the first sort.
class PairIntake final : WindowSink {
  public:
    using Pair = CorrelatedSummary::Pair;
    using Take = std::function<void(std::vector<Pair>)>;

    // `take` receives the pairs of each window, sorted.
    PairIntake(bool packed, std::unique_ptr<WindowSorter> sorter, std::size_t window, Take take)
        : packed_(packed),
          take_(std::move(take)),
          keys_(rule_of<std::uint64_t>, std::move(sorter), window, *this),
          window_(window) {
        constexpr std::size_t max = (std::size_t{1} << 27U) / sizeof(Pair);
        const auto& by = keys_.sorter();
        batch_ = std::max({by.batch_bytes() / sizeof(std::uint64_t) / window_,
                           std::min(by.batch_windows(), max / window_), std::size_t{1}}) *
                 window_;
    }

    // If memory runs out while pairs go to the summary, some are lost, and it is unknown which. All later queries then
    // throw Error.
    void add(Key key, double weight) {
        check();
        if (packed_) {
            const auto word = word_of(key);
            whether_or_not([&] { keys_.add(std::span<const std::uint64_t>(&word, 1)); },
                           [&] {
                               // Otherwise the sorter failed before it took the key.
                               if (keys_.taken() > n_) store(weight);
                           });
        } else {
            keep_one(key, weight);
            if (rest_.size() >= batch_) take_whole();
        }
    }
    // Like add(), but does not use the sorter until the next call, so it cannot fail.
    void keep(const std::vector<Pair>& pairs) {
        check();
        all_or_lost([&] {
            for (const auto& [key, weight] : pairs) keep_one(key, weight);
        });
    }
    void settle() {
        check();
        if (packed_) {
            keys_.settle();
        } else {
            take_whole();
        }
    }
    // The pairs of the incomplete window. Pre: settle() was called last.
    [[nodiscard]] std::vector<Pair> rest() const {
        if (!packed_) return rest_;
        std::vector<Pair> pairs;
        for (std::size_t i = 0; i < keys_.rest().size(); ++i) pairs.push_back({keys_.rest()[i] >> 32U, weights_[i]});
        return pairs;
    }
    [[nodiscard]] std::size_t bytes() const {
        return keys_.bytes() + cpu::memory_of(weights_) + rest_.capacity() * sizeof(Pair);
    }
    [[nodiscard]] const WindowSorter& sorter() const { return keys_.sorter(); }
    [[nodiscard]] std::uint64_t n() const { return n_; }

  private:
    void check() const {
        if (!is_lost_) return;
        throw Error(
            "CorrelatedSums: memory ended before, and pairs were lost; make another one, or load() what save() gave");
    }
    // Runs work that cannot be undone if it throws.
    template <class Work>
    void all_or_lost(Work work) {
        try {
            work();
        } catch (...) {
            is_lost_ = true;
            throw;
        }
    }
    void keep_one(Key key, double weight) {
        if (packed_) {
            const auto word = word_of(key);
            keys_.keep(std::span<const std::uint64_t>(&word, 1));
            store(weight);
        } else {
            rest_.push_back({key, weight});
            ++n_;
        }
    }
    [[nodiscard]] std::uint64_t word_of(Key key) const { return key << 32U | index_; }
    // Stores the weight for the word that keys_ has taken.
    void store(double weight) {
        n_ = keys_.taken();
        all_or_lost([&] { weights_.push_back(weight); });
        index_ = (index_ + 1) % static_cast<std::uint32_t>(window_);
    }
    void take(const Windows& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) all_or_lost([&] { take_window(sorted[i]); });
    }
    std::uint64_t failed() override { return n_ - weights_.size(); }
    void take_window(const Window& sorted) {
        std::vector<Pair> pairs(sorted.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto word = bits_at(sorted.values().as<std::uint64_t>() + i);
            pairs[i] = {word >> 32U, weights_[static_cast<std::uint32_t>(word)]};
        }
        weights_.erase(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(pairs.size()));
        take_(std::move(pairs));
    }

    // If the sorter fails, the pairs stay.
    void take_whole() {
        const auto whole = rest_.size() / window_ * window_;
        if (whole == 0) return;
        const auto sorted = order_of(std::span(rest_).first(whole));
        std::vector<Pair> others(rest_.begin() + static_cast<std::ptrdiff_t>(whole), rest_.end());
        const auto pairs = std::exchange(rest_, std::move(others));
        all_or_lost([&] {
            for (std::size_t first = 0; first < whole; first += window_) {
                std::vector<Pair> window(window_);
                for (std::size_t i = 0; i < window_; ++i) window[i] = pairs[first + sorted[first + i]];
                take_(std::move(window));
            }
        });
    }
    // For each pair of the sorted window, its original index.
    std::vector<std::uint32_t> order_of(std::span<const Pair> pairs) {
        std::vector<std::uint32_t> order(pairs.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i % window_);
        std::vector<std::uint64_t> words(pairs.size());
        std::vector<std::uint32_t> next(pairs.size());
        for (const unsigned shift : {0U, 32U}) {
            const auto half = [&](std::size_t i) { return pairs[i].key >> shift << 32U; };
            std::uint64_t differs = 0;
            for (std::size_t i = 0; i < words.size(); ++i) {
                const auto index = i % window_;
                words[i] = half(i - index + order[i]);
                differs |= words[i] ^ words[0];
                words[i] |= index;
            }
            if (differs == 0) continue;  // this half is the same in all keys
            keys_.sorter().begin(std::span(words), window_);
            keys_.sorter().finish();
            for (std::size_t i = 0; i < words.size(); ++i)
                next[i] = order[i - i % window_ + static_cast<std::uint32_t>(words[i])];
            order.swap(next);
        }
        return order;
    }

    bool packed_;
    Take take_;
    Intake keys_;
    std::size_t window_, batch_ = 0;
    std::uint64_t n_ = 0;
    std::uint32_t index_ = 0;
    bool is_lost_ = false;
    std::deque<double> weights_;  // of all windows that have not been taken
    std::vector<Pair> rest_;      // for keys of 64 bits: pairs of windows that have not been taken
};

}  // namespace quadmill::detail::stream
