// A summary for each group of values. They stay small while a group has few values.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/stream_run.hpp"
#include "input/text.hpp"

namespace quadmill::detail::cli {

template <class Summary>
class Groups {
  public:
    Groups(std::function<Summary()> make, std::uint64_t max) : make_(std::move(make)), max_(max) {}
    [[nodiscard]] Summary& of(std::string_view name) {
        if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
        if (groups_.size() == max_) {
            throw input::BadInput(
                fmt::format("{} would be group {}; --groups allows {}", input::in_quotes(name), max_ + 1, max_));
        }
        return groups_.emplace(name, make_()).first->second;
    }
    // The rows of all groups, with their names.
    [[nodiscard]] Answer answer(const std::function<Answer(const Summary&)>& ask) const {
        auto all = ask(make_());
        std::uint64_t n = 0;
        for (const auto& [name, summary] : groups_) {
            if (summary.n() == 0) continue;
            n += summary.n();
            for (const auto& row : ask(summary).rows) {
                Json one{{"group", name}, {"n", summary.n()}};
                one.update(row);
                all.rows.push_back(std::move(one));
            }
        }
        all.head["n"] = n;
        all.head["groups"] = groups_.size();
        return all;
    }
    // Passes the values of a column to their groups.
    template <class T>
    void run(StreamRun& run, const StreamOptions& stream, const std::function<Answer(const Summary&)>& ask) {
        const AnySummary any{.ask = [&] { return answer(ask); },
                             .save = {},
                             .nans = [&] { return sum_of([](const Summary& s) { return nans_of(s); }); },
                             .bytes = [&] { return sum_of([](const Summary& s) { return s.bytes(); }); },
                             .times = [] { return StreamTimes(); }};
        using Record = std::pair<Summary*, T>;
        run.use_cpu();
        run.run_records<Record, T>(
            any, input_parser<T>(stream),
            [&](T value, std::string_view group, Record& record) -> input::Fault {
                record = {&of(group), value};
                return nullptr;
            },
            [](std::span<const Record> records) {
                for (const auto& [summary, value] : records) summary->add(value);
            });
    }

  private:
    [[nodiscard]] std::uint64_t sum_of(auto number) const {
        std::uint64_t sum = 0;
        for (const auto& [name, summary] : groups_) sum += number(summary);
        return sum;
    }
    std::function<Summary()> make_;
    std::uint64_t max_;
    std::map<std::string, Summary, std::less<>> groups_;
};

// --by and --groups. Call it after add_column_options(), which returned `column`.
void add_group_options(CLI::App& verb, StreamOptions& options, std::uint64_t& max_groups, CLI::Option* column,
                       const std::string& what);

}  // namespace quadmill::detail::cli
