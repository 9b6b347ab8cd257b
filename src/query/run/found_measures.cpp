#include "query/run/found_measures.hpp"

#include <algorithm>

namespace quadmill::detail::query {

using AggregateKind = QueryAggregate::Kind;

GroupsWanted groups_wanted(const std::vector<ColumnPlace>& by, std::span<const Wanted> wanted) {
    GroupsWanted all;
    for (const auto& place : by) all.by.push_back(place.column);
    for (const auto& [what, place] : wanted) {
        if (what.kind == AggregateKind::CountRows) continue;
        auto found = std::ranges::find(all.measures, place.column, &GroupsWanted::Measure::column);
        if (found == all.measures.end()) found = all.measures.insert(found, {.column = place.column});
        found->sum = found->sum || what.kind == AggregateKind::Sum || what.kind == AggregateKind::Average;
        found->extremes = found->extremes || what.kind == AggregateKind::Min || what.kind == AggregateKind::Max;
    }
    return all;
}

std::vector<Value> values_of(const TableData& table, const std::vector<ColumnPlace>& by,
                             const std::vector<std::optional<Key>>& keys) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < by.size(); ++i)
        values.push_back(keys[i] ? value_of(table, by[i].column, *keys[i]) : Value());
    return values;
}

FoundMeasures::FoundMeasures(FoundGroups& found, std::span<const Wanted> wanted)
    : found_(found), wanted_(groups_wanted({}, wanted)) {
    for (const auto& [what, place] : wanted) {
        if (what.kind == AggregateKind::CountRows || found_.groups.empty()) continue;
        Ranks ranks{.measure = measure_of(place), .k = {}, .keys = {}};
        for (const auto& group : found_.groups) ranks.k.push_back(rank_in(what, group.measures[ranks.measure].count));
        if (std::ranges::none_of(ranks.k, [](const auto& k) { return k.has_value(); })) continue;
        ranks.keys = found_.kth(ranks.measure, ranks.k);
        ranks_.push_back(std::move(ranks));
    }
}

std::size_t FoundMeasures::measure_of(const ColumnPlace& place) const {
    const auto found = std::ranges::find(wanted_.measures, place.column, &GroupsWanted::Measure::column);
    return static_cast<std::size_t>(found - wanted_.measures.begin());
}

Key FoundMeasures::kth(const ColumnPlace& place, std::uint64_t k) {
    const auto measure = measure_of(place);
    const auto found = std::ranges::find_if(
        ranks_, [&](const Ranks& ranks) { return ranks.measure == measure && ranks.k[group_] == k; });
    return found->keys[group_];
}

}  // namespace quadmill::detail::query
