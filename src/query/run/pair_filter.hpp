// A condition on pairs of rows of two tables, evaluated by an engine on a small table of the needed columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "quadmill/join.hpp"
#include "quadmill/predicate.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/engine.hpp"
#include "query/run/measures.hpp"

namespace quadmill::detail::query {

class PairFilter {
  public:
    // A column of the pairs, by its name in the condition.
    struct Column {
        std::string name;
        ColumnPlace place;
    };
    // Pre: the columns are in memory. `engine` and `tables` outlive this object.
    PairFilter(const Predicate& condition, std::vector<Column> columns, const Tables& tables, Engine& engine);

    // The pairs that satisfy the condition, in the same order.
    [[nodiscard]] std::vector<RowPair> operator()(std::span<const RowPair> pairs);

  private:
    [[nodiscard]] std::shared_ptr<const ColumnData> gathered(const Column& column,
                                                             std::span<const RowPair> pairs) const;
    void merge_dictionaries();

    Predicate condition_;
    std::vector<Column> columns_;
    const Tables& tables_;
    Engine& engine_;
    std::shared_ptr<const TableData::Dictionary> dictionary_;
    std::array<std::vector<std::uint32_t>, 2> places_;  // for each table, the index of its texts in the dictionary
    std::optional<Bound> bound_;
};

}  // namespace quadmill::detail::query
