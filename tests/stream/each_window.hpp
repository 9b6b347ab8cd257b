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
[[nodiscard]] std::vector<T> values_in(const detail::stream::Values& from) {
    using Traits = detail::cpu::KeyBits<T>;
    std::vector<T> values;
    for (std::size_t i = 0; i < from.size(); ++i)
        values.push_back(Traits::value(static_cast<typename Traits::Bits>(from[i])));
    return values;
}

template <class T>
class IntakeOf : public detail::stream::Intake {
  public:
    IntakeOf(std::unique_ptr<WindowSorter> sorter, std::size_t window, detail::stream::WindowSink& sink)
        : Intake(detail::stream::rule_of<T>, std::move(sorter), window, sink) {}
    void add(std::span<const T> values) { Intake::add(values); }
};

template <class T>
class EachWindow final : public detail::stream::WindowSink {
  public:
    using Use = std::function<void(const std::vector<T>&)>;
    explicit EachWindow(Use use = [](const auto& /*window*/) {}) : use_(std::move(use)) {}
    void take(const detail::stream::Windows& sorted) override {
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
