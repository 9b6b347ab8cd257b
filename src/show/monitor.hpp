// The state of a stream's last values: the model of monitor_page.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "quadmill/stream.hpp"
#include "show/monitor_page.hpp"

namespace quadmill::detail::show {

struct MonitorOptions {
    std::uint64_t window = 1000000;
    double eps = 0.01;          // as in SlidingOptions
    double support = 0.01;      // min fraction of the window for a frequent value; eps if that is larger
    std::uint64_t every = 0;    // values between moments of the time axis; 0: a fortieth of the window
    std::size_t moments = 120;  // length of the time axis
    std::size_t bars = 24;

    [[nodiscard]] std::uint64_t step() const { return every > 0 ? every : window > 40 ? window / 40 : 1; }
};

class Monitor {
  public:
    // Makes a sorter. Each summary has its own.
    using MakeSorter = std::function<std::unique_ptr<WindowSorter>()>;

    // Throws InvalidArgument for options out of range.
    Monitor(const MonitorOptions& options, MakeSorter make_sorter);

    void add(std::span<const float> values);
    // Changes the sorter. No value is lost.
    void use(MakeSorter make_sorter);
    // Changes the options. The window fills again, and the time axis starts again.
    void restart(const MonitorOptions& options);

    [[nodiscard]] const MonitorOptions& options() const { return options_; }
    [[nodiscard]] std::uint64_t read() const { return read_; }
    // The current model; the caller sets state and speed.
    [[nodiscard]] MonitorModel model() const;

  private:
    [[nodiscard]] SlidingOptions sliding() const;
    [[nodiscard]] std::unique_ptr<WindowSorter> sorter();
    [[nodiscard]] MonitorModel::Moment moment() const;
    enum class Side { Below, Above };
    [[nodiscard]] float bound(const Quantile<float>& quantile, Side side) const;

    MonitorOptions options_;
    MakeSorter make_sorter_;
    std::string sorter_;
    SlidingQuantiles<float> quantiles_;
    SlidingFrequencies<float> frequencies_;
    std::uint64_t read_ = 0;
    std::deque<MonitorModel::Moment> history_;
};

}  // namespace quadmill::detail::show
