// A summary for each group of values: --by.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/stream_run.hpp"
#include "input/text.hpp"
#include "quadmill/concurrent.hpp"

namespace quadmill::detail::cli {

template <class Summary>
using Ask = std::function<Answer(const Summary&)>;

// The max of all groups: merged ones may have different errors.
template <class Summary>
[[nodiscard]] double eps_of_groups(const Grouped<Summary>& all) {
    double eps = all.empty().eps();
    for (const auto& [name, summary] : all.groups()) eps = std::max(eps, summary.eps());
    return eps;
}

// The rows of all groups, with their names.
template <class Summary>
[[nodiscard]] Answer answer_of_groups(const Grouped<Summary>& all, const Ask<Summary>& ask) {
    auto none = ask(all.empty());
    std::uint64_t n = 0;
    for (const auto& [name, summary] : all.groups()) {
        if (summary.n() == 0) continue;
        n += summary.n();
        for (const auto& row : ask(summary).rows) {
            Json one{{"group", name}, {"n", summary.n()}};
            one.update(row);
            none.rows.push_back(std::move(one));
        }
    }
    none.head["n"] = n;
    none.head["eps"] = eps_of_groups(all);
    none.head["groups"] = all.groups().size();
    return none;
}

template <class Summary>
[[nodiscard]] std::uint64_t nans_of_groups(const Grouped<Summary>& all) {
    std::uint64_t nans = 0;
    for (const auto& [name, summary] : all.groups()) nans += nans_of(summary);
    return nans;
}

// Passes the values of a column to their groups. `check` rejects options that resumed ones do not follow.
template <class T, class Summary>
void run_groups(StreamRun& run, const StreamOptions& stream, std::uint64_t max, const std::function<Summary()>& make,
                const std::function<void(const Summary&)>& check, const Ask<Summary>& ask) {
    auto groups = run.resumed([&](auto bytes) { return Grouped<Summary>::load(bytes, max); },
                              [&] { return Grouped<Summary>(make, max); },
                              [&](const Grouped<Summary>& all) {
                                  check(all.empty());
                                  for (const auto& [name, summary] : all.groups()) check(summary);
                              });
    const AnySummary any{.ask = [&] { return answer_of_groups(groups, ask); },
                         .save = [&] { return groups.save(); },
                         .nans = [&] { return nans_of_groups(groups); },
                         .bytes = [&] { return groups.bytes(); },
                         .times = [] { return StreamTimes(); }};
    using Record = std::pair<Summary*, T>;
    run.use_cpu();
    run.run_records<Record, T>(
        any, input_parser<T>(stream),
        [&](T value, std::string_view group, Record& record) -> input::Fault {
            if (groups.groups().size() == max && !groups.groups().contains(group)) {
                throw input::BadInput(
                    fmt::format("{} would be group {}; --groups allows {}", input::in_quotes(group), max + 1, max));
            }
            record = {&groups.of(group), value};
            return nullptr;
        },
        [](std::span<const Record> records) {
            for (const auto& [summary, value] : records) summary->add(value);
        });
}

}  // namespace quadmill::detail::cli
