#include "show/monitor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace quadmill::detail::show {

Monitor::Monitor(const MonitorOptions& options, MakeSorter make_sorter)
    : options_(options),
      make_sorter_(std::move(make_sorter)),
      quantiles_(sliding(), sorter()),
      frequencies_(sliding(), sorter()) {}

std::unique_ptr<WindowSorter> Monitor::sorter() {
    auto made = make_sorter_();
    sorter_ = made->name();
    return made;
}

SlidingOptions Monitor::sliding() const {
    // The page shows the memory, so that users can choose another window.
    return {.eps = options_.eps,
            .window = options_.window,
            .widths = Widths::Fixed,
            .max_bytes = std::numeric_limits<std::uint64_t>::max()};
}

void Monitor::add(std::span<const float> values) {
    const auto step = options_.step();
    while (!values.empty()) {
        const auto part = values.first(std::min<std::uint64_t>(values.size(), step - read_ % step));
        quantiles_.add(part);
        frequencies_.add(part);
        read_ += part.size();
        values = values.subspan(part.size());
        if (read_ % step != 0 || quantiles_.n() == 0) continue;
        history_.push_back(moment());
        while (history_.size() > options_.moments) history_.pop_front();
    }
}

void Monitor::use(MakeSorter make_sorter) {
    make_sorter_ = std::move(make_sorter);
    quantiles_ = SlidingQuantiles<float>::load(quantiles_.save(), sorter());
    frequencies_ = SlidingFrequencies<float>::load(frequencies_.save(), sorter());
}

void Monitor::restart(const MonitorOptions& options) {
    *this = Monitor(options, make_sorter_);
}

// A value of the window that is certainly not larger (or not smaller) than the exact quantile. Bisection finds the
// nearest one between the quantile and the limit that eps guarantees. Infinite if there is none.
float Monitor::bound(const Quantile<float>& quantile, Side side) const {
    const auto sure = [&](const Quantile<float>& q) {
        return side == Side::Below ? q.rank_upper <= quantile.rank : q.rank_lower >= quantile.rank;
    };
    if (sure(quantile)) return quantile.value;
    const double reach = side == Side::Below ? -2 * options_.eps : 2 * options_.eps;
    double far = std::clamp(quantile.phi + reach, 0.0, 1.0), near = quantile.phi;
    auto found = quantiles_.quantile(far);
    const auto infinity = std::numeric_limits<float>::infinity();
    if (!sure(found)) return side == Side::Below ? -infinity : infinity;
    for (int i = 0; i < 8; ++i) {
        const double middle = (far + near) / 2;
        const auto q = quantiles_.quantile(middle);
        (sure(q) ? far : near) = middle;
        if (sure(q)) found = q;
    }
    return found.value;
}

MonitorModel::Moment Monitor::moment() const {
    MonitorModel::Moment now{.read = read_};
    for (std::size_t i = 0; i < now.bands.size(); ++i) {
        const auto quantile = quantiles_.quantile(MonitorModel::phis.at(i));
        now.bands.at(i) = {bound(quantile, Side::Below), quantile.value, bound(quantile, Side::Above)};
    }
    return now;
}

MonitorModel Monitor::model() const {
    MonitorModel model{.read = read_,
                       .nans = quantiles_.nans(),
                       .window = options_.window,
                       .held = std::min(quantiles_.n(), options_.window),
                       .eps = options_.eps,
                       .support = std::max(options_.support, options_.eps),
                       .sorter = sorter_,
                       .bytes = quantiles_.summary_bytes() + frequencies_.summary_bytes(),
                       .span = options_.step() * (options_.moments - 1)};
    if (model.held == 0) return model;
    model.history.assign(history_.begin(), history_.end());
    if (history_.empty() || history_.back().read != read_) model.history.push_back(moment());
    const auto summary = quantiles_.summary();
    model.bars = summary.histogram(options_.bars);
    // The summary may lack some of the oldest values, which may belong to any bar.
    for (auto& bar : model.bars) bar.count.upper += model.held - summary.n();
    model.frequent = frequencies_.frequent(model.support);
    return model;
}

}  // namespace quadmill::detail::show
