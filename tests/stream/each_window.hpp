// An intake of values of a type, and a sink that calls a function with each of its sorted windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "stream/intake.hpp"

namespace quadmill::test {

template <class T>
[[nodiscard]] std::vector<T> values_in(std::span<const detail::BitsOf<T>> bits) {
    std::vector<T> values;
    for (const auto& value : bits) values.push_back(detail::cpu::KeyBits<T>::value(detail::stream::bits_at(&value)));
    return values;
}

template <class T>
class IntakeOf : public detail::stream::Intake<detail::BitsOf<T>> {
  public:
    using Base = detail::stream::Intake<detail::BitsOf<T>>;
    IntakeOf(std::unique_ptr<WindowSorter> sorter, std::size_t window,
             detail::stream::WindowSink<detail::BitsOf<T>>& sink)
        : Base(detail::stream::rule_of<T>, std::move(sorter), window, sink) {}
    void add(std::span<const T> values) { Base::add(detail::stream::as_bits(values)); }
};

template <class T>
class EachWindow final : public detail::stream::WindowSink<detail::BitsOf<T>> {
  public:
    using Use = std::function<void(const std::vector<T>&)>;
    explicit EachWindow(Use use = [](const auto& /*window*/) {}) : use_(std::move(use)) {}
    void take(const detail::stream::Windows<detail::BitsOf<T>>& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            use_(values_in<T>(sorted[i].values()));
            taken += window > 0 ? window : sorted[i].size();
        }
    }
    std::uint64_t failed() override { return taken; }

    std::size_t window = 0;  // number of values in a window, if only samples of windows come
    std::uint64_t taken = 0;

  private:
    Use use_;
};

}  // namespace quadmill::test
