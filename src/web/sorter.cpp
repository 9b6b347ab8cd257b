// The sorter of summaries in streams.wasm: one thread, numbers of 64 bits (stream/key.hpp, wide_rule_of), by radix. It
// stands for cpu/cpu_window_sorter.cpp and cpu/sort.cpp, which are several times as large.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cpu/keys.hpp"
#include "cpu/radix.hpp"
#include "cpu/stopwatch.hpp"
#include "cpu/window_sorter.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::web {

namespace {

// Sorts each window in the library's order.
template <class Key>
void sort_windows(std::span<std::uint64_t> bits, std::size_t window, std::vector<std::uint64_t>& scratch) {
    const cpu::TotalOrder<Key> rule(Order::Ascending);
    scratch.resize(std::min(window, bits.size()));
    for (auto& b : bits) b = rule.encode(b);
    for (std::size_t begin = 0; begin < bits.size(); begin += window)
        cpu::radix_sort(bits.subspan(begin, std::min(window, bits.size() - begin)), scratch, 0);
    for (auto& b : bits) b = rule.decode(b);
}

void sort_windows(Keys keys, std::size_t window, std::vector<std::uint64_t>& scratch) {
    const std::span bits(static_cast<std::uint64_t*>(keys.data()), keys.size());
    if (keys.type() == KeyType::F64) return sort_windows<double>(bits, window, scratch);
    if (keys.type() == KeyType::I64) return sort_windows<std::int64_t>(bits, window, scratch);
    sort_windows<std::uint64_t>(bits, window, scratch);
}

class RadixSorter final : public WindowSorter {
  public:
    void begin(Keys keys, std::size_t window) override {
        const cpu::Stopwatch time;
        sort_windows(keys, window, scratch_);
        sort_ms_ += time.ms();
    }
    void finish() override {}
    [[nodiscard]] std::size_t depth() const override { return 2; }
    [[nodiscard]] std::size_t batch_bytes() const override { return std::size_t{1} << 19U; }
    [[nodiscard]] std::size_t window(double eps) const override { return cpu::window_of(eps, 64, 0x1p20); }
    [[nodiscard]] std::size_t bytes() const override { return scratch_.capacity() * sizeof scratch_[0]; }
    [[nodiscard]] Times times() const override { return {.upload = 0, .sort = sort_ms_, .readback = 0}; }
    [[nodiscard]] std::string name() const override { return "cpu"; }

  private:
    std::vector<std::uint64_t> scratch_;
    double sort_ms_ = 0;
};

}  // namespace

}  // namespace quadmill::detail::web

namespace quadmill {

std::unique_ptr<WindowSorter> cpu_window_sorter(unsigned /*threads*/) {
    return std::make_unique<detail::web::RadixSorter>();
}

SortStats sort_windows_on_cpu(Keys keys, std::size_t window, Order /*order*/, unsigned /*threads*/) {
    std::vector<std::uint64_t> scratch;
    detail::web::sort_windows(keys, window, scratch);
    return {.n = keys.size(), .engine = Engine::Cpu};
}

}  // namespace quadmill
