#include "cli/recent.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "input/text.hpp"

namespace quadmill::detail::cli {

namespace {

class RecentSummary final : public AnySummary {
  public:
    RecentSummary(const Recent<Part>& recent, const std::function<double()>& now, bool by_column)
        : recent_(recent), now_(now), by_column_(by_column) {}
    [[nodiscard]] Answer answer(const Ask& ask) const override {
        auto answer = all()->answer(ask);
        answer.tail["seconds"] = recent_.seconds();
        if (by_column_) answer.tail.update({{"time", json_of(now_())}, {"late", recent_.late()}});
        return answer;
    }
    [[nodiscard]] std::uint64_t nans() const override { return all()->nans(); }
    [[nodiscard]] std::size_t bytes() const override { return recent_.bytes(); }
    [[nodiscard]] std::vector<std::byte> save() const override { return recent_.save(); }

  private:
    [[nodiscard]] std::unique_ptr<OneSummary> all() const { return recent_.summary(now_()).summary; }

    const Recent<Part>& recent_;
    const std::function<double()>& now_;
    bool by_column_;
};

}  // namespace

void run_recent(StreamRun& run, const StreamOptions& stream, const SlidingChoice& sliding, const Summaries& how,
                StreamForm form) {
    auto recent = run.resumed(
        [&](SavedBytes bytes) { return Recent<Part>::load(bytes, [&](SavedBytes part) { return how.part(part); }); },
        [&] { return Recent<Part>(sliding.seconds, [&] { return how.part(); }); },
        [&](const Recent<Part>& all) {
            sliding.check_resumed(stream, all.seconds());
            how.check(*all.summary(all.latest().value_or(0)).summary);
        });
    const bool by_column = !stream.time.empty();
    const std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const auto start = std::max(since_1970.count(), recent.latest().value_or(since_1970.count()));
    const cpu::Stopwatch since;
    const std::function<double()> now = [&] {
        return by_column ? recent.latest().value_or(0) : start + since.ms() / 1e3;
    };
    if (by_column) form.second = input::parser_of<double, parse_time>.parse;
    bool hinted = false;
    run.use_cpu();
    run.run(how, RecentSummary(recent, now, by_column), form,
            [&](const input::Records& values, const input::Records& times) {
                if (!by_column) recent.add(now(), values);
                for (std::size_t i = 0; by_column && i < values.size(); ++i) {
                    constexpr double year_5138 = 1e11;
                    const auto time = times.as<double>()[i];
                    if (time > year_5138 && !std::exchange(hinted, true)) {
                        fmt::print(stderr, "quadmill: the time {} looks like milliseconds, but --time reads seconds\n",
                                   input::format_number(time));
                    }
                    run.answer_before(time);
                    recent.add(time, values.at(i));
                }
                return StreamRun::Taken{values.size()};
            });
}

}  // namespace quadmill::detail::cli
