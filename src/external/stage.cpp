#include "external/stage.hpp"

#include <algorithm>

namespace quadmill::detail::external {

namespace {

double seconds_between(StageClock::Clock::time_point begin, StageClock::Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

double seconds_of(const std::vector<StageClock::Span>& spans) {
    double sum = 0;
    for (const auto& span : spans) sum += seconds_between(span.begin, span.end);
    return sum;
}

double seconds_in_both(const std::vector<StageClock::Span>& a, const std::vector<StageClock::Span>& b) {
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const auto begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
        if (begin < end) sum += seconds_between(begin, end);
        a[i].end < b[j].end ? ++i : ++j;
    }
    return sum;
}

}  // namespace

void StageClock::begin() {
    const std::lock_guard lock(mutex_);
    if (at_work_++ == 0) begun_ = Clock::now();
}

void StageClock::end() {
    constexpr auto short_while = std::chrono::milliseconds(1);
    const std::lock_guard lock(mutex_);
    if (--at_work_ > 0) return;
    const auto now = Clock::now();
    seconds_ += seconds_between(begun_, now);
    if (!spans_.empty() && begun_ - spans_.back().end < short_while) {
        spans_.back().end = now;
    } else {
        spans_.push_back({begun_, now});
    }
}

std::vector<ExternalStage> stages_of(const std::vector<NamedClock>& clocks) {
    std::vector<ExternalStage> stages;
    if (clocks.empty()) return stages;
    const auto& slowest = *std::ranges::max_element(clocks, {}, [](const NamedClock& c) { return c.clock->seconds(); });
    for (const auto& [name, clock] : clocks) {
        const auto at_work = seconds_of(clock->spans());
        const auto hidden = seconds_in_both(clock->spans(), slowest.clock->spans());
        const bool is_slowest = clock == slowest.clock;
        stages.push_back({name, clock->seconds(), is_slowest || at_work <= 0 ? 0 : hidden / at_work});
    }
    return stages;
}

}  // namespace quadmill::detail::external
