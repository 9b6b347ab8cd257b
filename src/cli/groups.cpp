#include "cli/groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "input/text.hpp"

namespace quadmill::detail::cli {

GroupSummaries::GroupSummaries(const Summaries& how, SavedBytes bytes, std::size_t max)
    : all_(Grouped<Part>::load(bytes, max, [&how](SavedBytes part) { return how.part(part); })) {}

double GroupSummaries::eps() const {
    double eps = all_.empty().summary->eps();
    for (const auto& [name, part] : all_.groups()) eps = std::max(eps, part.summary->eps());
    return eps;
}

std::uint64_t GroupSummaries::nans() const {
    std::uint64_t nans = 0;
    for (const auto& [name, part] : all_.groups()) nans += part.summary->nans();
    return nans;
}

Answer GroupSummaries::answer(const Ask& ask) const {
    auto none = ask(*all_.empty().summary);
    std::uint64_t n = 0;
    for (const auto& [name, part] : all_.groups()) {
        const auto& summary = *part.summary;
        if (summary.n() == 0) continue;
        n += summary.n();
        for (const auto& row : ask(summary).rows) {
            Json one{{"group", name}, {"n", summary.n()}};
            one.update(row);
            none.rows.push_back(std::move(one));
        }
    }
    none.head["n"] = n;
    none.head["eps"] = eps();
    none.head["groups"] = all_.groups().size();
    return none;
}

void run_groups(StreamRun& run, std::size_t max, const Summaries& how) {
    auto all = run.resumed([&](SavedBytes bytes) { return GroupSummaries(how, bytes, max); },
                           [&] { return GroupSummaries(Grouped<Part>([&] { return how.part(); }, max)); },
                           [&](GroupSummaries& resumed) {
                               how.check(*resumed.groups().empty().summary);
                               for (const auto& [name, part] : resumed.groups().groups()) how.check(*part.summary);
                           });
    auto& groups = all.groups();
    run.use_cpu();
    auto form = run.numbers();
    form.second = [&](std::string_view group, void* summary) -> input::Fault {
        if (groups.groups().size() == max && !groups.groups().contains(group)) {
            throw input::BadInput(
                fmt::format("{} would be group {}; --groups allows {}", input::in_quotes(group), max + 1, max));
        }
        *static_cast<OneSummary**>(summary) = groups.of(group).summary.get();
        return nullptr;
    };
    run.run(how, all, form, [](const input::Records& values, const input::Records& of) {
        for (std::size_t i = 0; i < values.size(); ++i) of.as<OneSummary*>()[i]->add(values.at(i));
        return StreamRun::Taken{values.size()};
    });
}

}  // namespace quadmill::detail::cli
