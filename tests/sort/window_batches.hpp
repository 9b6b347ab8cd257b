// Batches of windows of any type, and a pipeline that passes them through a sorter and checks each when it comes back.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cpu/keys.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"
#include "sort/stable.hpp"

namespace quadmill::test {

using AnyKeys = std::variant<std::vector<Half>, std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                             std::vector<std::uint32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>>;

inline Keys view(AnyKeys& keys) {
    return std::visit([](auto& of_type) { return Keys(of_type); }, keys);
}

inline bool same(const AnyKeys& a, const AnyKeys& b) {
    return std::visit(
        [&]<class Key>(const std::vector<Key>& keys) { return same_bits(keys, std::get<std::vector<Key>>(b)); }, a);
}

// A batch and its expected result.
struct Batch {
    Batch(KeyType type, const std::string& distribution, std::size_t n, std::size_t wanted_window, std::uint64_t seed,
          std::size_t wanted_step = 0)
        : keys(detail::cpu::visit_key_type(
              type, [&]<class Key>(const Key*) -> AnyKeys { return keys_of<Key>(distribution, n, seed); })),
          before(keys),
          sorted(keys),
          window(wanted_window),
          step(wanted_step) {
        sort_windows_on_cpu(view(sorted), window);
    }
    AnyKeys keys, before, sorted;
    std::size_t window, step;  // 0: all keys are wanted back
};

// From each window, the keys 0, step, 2 step, ... and the last one.
inline AnyKeys sample_of(const AnyKeys& sorted, std::size_t window, std::size_t step) {
    return std::visit(
        [&]<class Key>(const std::vector<Key>& keys) -> AnyKeys {
            std::vector<Key> sample;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const auto rank = i % window;
                if (rank % step == 0 || rank + 1 == window) sample.push_back(keys[i]);
            }
            return sample;
        },
        sorted);
}

// The first keys, as many as `like` has.
inline AnyKeys front(const AnyKeys& keys, const AnyKeys& like) {
    return std::visit(
        [&]<class Key>(const std::vector<Key>& all) -> AnyKeys {
            const auto first = std::span(all).first(std::get<std::vector<Key>>(like).size());
            return std::vector<Key>(first.begin(), first.end());
        },
        keys);
}

constexpr std::array types{KeyType::F16, KeyType::F32, KeyType::F64, KeyType::I32,
                           KeyType::U32, KeyType::I64, KeyType::U64};

// Batches in flight, oldest first.
class Pipeline {
  public:
    explicit Pipeline(WindowSorter& sorter) : sorter_(sorter) {}
    void begin(Batch batch) {
        if (in_flight_.size() == sorter_.depth()) finish();
        in_flight_.push_back(std::make_unique<Batch>(std::move(batch)));
        auto& begun = *in_flight_.back();
        if (begun.step > 0) {
            sorter_.begin_sample(view(begun.keys), begun.window, begun.step);
        } else {
            sorter_.begin(view(begun.keys), begun.window);
        }
    }
    void finish() {
        const auto batch = std::move(in_flight_.front());
        in_flight_.pop_front();
        sorter_.finish();
        CAPTURE(sorter_.name());
        CAPTURE(batch->window);
        CAPTURE(batch->keys.index());
        CAPTURE(batch->step);
        if (batch->step > 0) {
            const auto sample = sample_of(batch->sorted, batch->window, batch->step);
            REQUIRE(same(front(batch->keys, sample), sample));
        } else {
            REQUIRE(same(batch->keys, batch->sorted));
        }
    }
    void finish_all() {
        while (!in_flight_.empty()) finish();
    }
    [[nodiscard]] bool empty() const { return in_flight_.empty(); }

  private:
    WindowSorter& sorter_;
    std::deque<std::unique_ptr<Batch>> in_flight_;
};

}  // namespace quadmill::test
