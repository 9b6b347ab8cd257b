// Aggregates of groups that an engine has found in one call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "query/plan/engine.hpp"
#include "query/run/measures.hpp"

namespace quadmill::detail::query {

// The request to the engine. Pre of both functions: all columns are in table 0.
[[nodiscard]] GroupsWanted groups_wanted(const std::vector<ColumnPlace>& by, std::span<const Wanted> wanted);
// The values that groups have in the group columns.
[[nodiscard]] std::vector<Value> values_of(const TableData& table, const std::vector<ColumnPlace>& by,
                                           const std::vector<std::optional<Key>>& keys);

// Measures of one group after the other; the constructor finds the k-th values of all groups together.
class FoundMeasures final : public Measures {
  public:
    // `found` is the result for groups_wanted() with the same aggregates, and outlives this object.
    FoundMeasures(FoundGroups& found, std::span<const Wanted> wanted);
    void go_to(std::size_t group) { group_ = group; }

    [[nodiscard]] std::uint64_t rows() override { return found_.groups[group_].rows; }
    [[nodiscard]] std::uint64_t count(const ColumnPlace& place) override { return measured(place).count; }
    [[nodiscard]] Sum sum(const ColumnPlace& place) override { return measured(place).sum; }
    [[nodiscard]] std::pair<Key, Key> extremes(const ColumnPlace& place) override { return measured(place).extremes; }
    [[nodiscard]] Key kth(const ColumnPlace& place, std::uint64_t k) override;

  private:
    // The k-th values of a measure's column, by group.
    struct Ranks {
        std::size_t measure;
        std::vector<std::optional<std::uint64_t>> k;
        std::vector<Key> keys;
    };
    [[nodiscard]] std::size_t measure_of(const ColumnPlace& place) const;
    [[nodiscard]] const FoundGroups::Group::Measured& measured(const ColumnPlace& place) const {
        return found_.groups[group_].measures[measure_of(place)];
    }

    FoundGroups& found_;
    GroupsWanted wanted_;
    std::vector<Ranks> ranks_;
    std::size_t group_ = 0;
};

}  // namespace quadmill::detail::query
