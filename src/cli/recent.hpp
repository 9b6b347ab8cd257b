// Summaries of the last seconds: --sliding with a time.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "cli/stream_run.hpp"
#include "input/text.hpp"
#include "quadmill/concurrent.hpp"

namespace quadmill::detail::cli {

// Passes all values to a summary of the last seconds: by the time of arrival, or by the times in a column. Times of
// arrival are seconds since 1970, so that a saved summary is as old as it is. `check` rejects options that a resumed
// one does not follow.
template <class T, class Summary>
void run_recent(StreamRun& run, const StreamOptions& stream, const SlidingChoice& sliding,
                std::function<Summary()> make, const std::function<void(const Summary&)>& check,
                const std::function<Answer(const Summary&)>& ask) {
    auto recent = run.resumed([](auto bytes) { return Recent<Summary>::load(bytes); },
                              [&] { return Recent<Summary>(sliding.seconds, std::move(make)); },
                              [&](const Recent<Summary>& all) {
                                  sliding.check_resumed(stream, all.seconds());
                                  check(all.summary(all.latest().value_or(0)));
                              });
    const bool by_column = !stream.time.empty();
    const std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const auto start = std::max(since_1970.count(), recent.latest().value_or(since_1970.count()));
    const cpu::Stopwatch since;
    const auto now = [&] { return by_column ? recent.latest().value_or(0) : start + since.ms() / 1e3; };
    const auto all = [&] { return recent.summary(now()); };
    const AnySummary any{.ask =
                             [&] {
                                 auto answer = ask(all());
                                 answer.tail["seconds"] = recent.seconds();
                                 if (by_column) answer.tail.update({{"time", json_of(now())}, {"late", recent.late()}});
                                 return answer;
                             },
                         .save = [&] { return recent.save(); },
                         .nans = [&] { return nans_of(all()); },
                         .bytes = [&] { return recent.bytes(); },
                         .times = [] { return StreamTimes(); }};
    run.use_cpu();
    if (by_column) {
        bool hinted = false;
        return run.run_pairs<T, double>(any, input_parser<T>(stream), parse_time, [&](auto records) {
            for (const auto& [value, time] : records) {
                constexpr double year_5138 = 1e11;
                if (time > year_5138 && !std::exchange(hinted, true)) {
                    fmt::print(stderr, "quadmill: the time {} looks like milliseconds, but --time reads seconds\n",
                               input::format_number(time));
                }
                run.answer_before(any, time);
                recent.add(time, value);
            }
        });
    }
    const auto add = [&](std::span<const T> values) { recent.add(now(), values); };
    if constexpr (std::is_same_v<T, std::string>) {
        run.run_names(any, add);
    } else {
        run.run<T>(any, add);
    }
}

}  // namespace quadmill::detail::cli
