// A sorter of windows that somebody else owns, for summaries that own their sorter.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "cpu/stopwatch.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill::detail::bench {

// Forwards to a sorter that outlives the summary. Times count from the construction of this object.
class Borrowed final : public WindowSorter {
  public:
    explicit Borrowed(WindowSorter& sorter) : sorter_(sorter), before_(sorter.times()) {}
    void begin(Keys keys, std::size_t window) override { sorter_.begin(keys, window); }
    [[nodiscard]] bool can_sample() const override { return sorter_.can_sample(); }
    void begin_sample(Keys keys, std::size_t window, std::size_t step) override {
        sorter_.begin_sample(keys, window, step);
    }
    void finish() override {
        const cpu::Stopwatch time;
        sorter_.finish();
        waited_ms_ += time.ms();
    }
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override { sorter_.share(count, work); }
    [[nodiscard]] std::size_t depth() const override { return sorter_.depth(); }
    [[nodiscard]] std::size_t batch_bytes() const override { return sorter_.batch_bytes(); }
    [[nodiscard]] std::size_t batch_windows() const override { return sorter_.batch_windows(); }
    [[nodiscard]] std::size_t window(double eps) const override { return sorter_.window(eps); }
    [[nodiscard]] std::size_t bytes() const override { return sorter_.bytes(); }
    [[nodiscard]] Times times() const override {
        const auto now = sorter_.times();
        return {now.upload - before_.upload, now.sort - before_.sort, now.readback - before_.readback};
    }
    [[nodiscard]] std::string name() const override { return sorter_.name(); }
    [[nodiscard]] double waited_ms() const { return waited_ms_; }  // time that the caller waited for batches

  private:
    WindowSorter& sorter_;
    Times before_;
    double waited_ms_ = 0;
};

}  // namespace quadmill::detail::bench
