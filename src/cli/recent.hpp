// Summaries of the last seconds: --sliding with a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "cli/stream_run.hpp"
#include "quadmill/concurrent.hpp"

namespace quadmill::detail::cli {

// Passes all values to a summary of the last seconds: by the time of arrival, or by the times in a column.
template <class T, class Summary>
void run_recent(StreamRun& run, const StreamOptions& stream, double seconds, std::function<Summary()> make,
                const std::function<Answer(const Summary&)>& ask) {
    Recent<Summary> recent(seconds, std::move(make));
    const cpu::Stopwatch since;
    const bool by_column = !stream.time.empty();
    const auto now = [&] { return by_column ? recent.latest().value_or(0) : since.ms() / 1e3; };
    const auto all = [&] { return recent.summary(now()); };
    const AnySummary any{.ask =
                             [&] {
                                 auto answer = ask(all());
                                 answer.tail["seconds"] = seconds;
                                 if (by_column) answer.tail.update({{"time", json_of(now())}, {"late", recent.late()}});
                                 return answer;
                             },
                         .save = [&] { return all().save(); },
                         .nans = [&] { return nans_of(all()); },
                         .bytes = [&] { return recent.bytes(); },
                         .times = [] { return StreamTimes(); }};
    run.use_cpu();
    if (by_column) {
        return run.run_pairs<T, double>(any, input_parser<T>(stream), parse_time, [&](auto records) {
            for (const auto& [value, time] : records) {
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
