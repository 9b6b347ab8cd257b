// Calls a function for each sorted window of an intake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "stream/intake.hpp"

namespace quadmill::test {

template <class T>
class EachWindow final : public detail::stream::WindowSink<T> {
  public:
    using Use = std::function<void(const detail::stream::Window<T>&)>;
    explicit EachWindow(Use use = [](const auto& /*window*/) {}) : use_(std::move(use)) {}
    void take(const detail::stream::Windows<T>& sorted) override {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            use_(sorted[i]);
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
