// Runs the nodes of a plan that select rows of one table, and measures the rows with an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/stopwatch.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/gpu_tables.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/plan.hpp"
#include "query/run/measures.hpp"

namespace quadmill::detail::query {

// Statistics of the nodes of a run.
class Log {
  public:
    Log(const std::vector<PlanNode>& nodes, Statistics statistics) : nodes_(nodes), statistics_(statistics) {}

    [[nodiscard]] bool wanted() const { return statistics_ == Statistics::ByNode; }
    void add(std::size_t node, std::uint64_t rows, double ms) {
        if (wanted()) stats_.push_back({.node = line(nodes_, node), .rows = rows, .ms = ms});
    }
    [[nodiscard]] std::vector<NodeStats> take() { return std::move(stats_); }

  private:
    const std::vector<PlanNode>& nodes_;
    Statistics statistics_;
    std::vector<NodeStats> stats_;
};

// The rows for which a condition holds.
[[nodiscard]] BitsPtr select(Columns& columns, const Bound& condition);
// Like select(), evaluated as a whole if the engine is faster that way.
[[nodiscard]] BitsPtr select_at_once(Columns& columns, const Bound& condition);
[[nodiscard]] std::uint64_t count_at_once(Columns& columns, const Bound& condition);
[[nodiscard]] Counting count_later(Columns& columns, const Bound& condition);
// Copies of the few rows among which an index finds all for which the condition holds; null if no index does.
[[nodiscard]] std::shared_ptr<Columns> near(Columns& columns, const Bound& condition);

// The engine keeps the bits of rows and releases them after their last use.
class RowsRun {
  public:
    RowsRun(const std::vector<PlanNode>& nodes, const TableData& table, Columns& columns, Log& log,
            Execution execution = Execution::Pipelined);

    // The selection of a node of kind Rows, And or Or.
    [[nodiscard]] BitsPtr bits(std::size_t node);
    // Makes no bits if the engine can count without them.
    [[nodiscard]] std::uint64_t count(std::size_t node);
    // Copies of the few rows among which an index finds all of the node's; null if no index does.
    [[nodiscard]] std::shared_ptr<Columns> near(std::size_t node);
    [[nodiscard]] std::optional<IndexUse> index_use(IndexUse::Does does, std::size_t node);

    [[nodiscard]] Columns& columns() { return columns_; }
    [[nodiscard]] const TableData& table() const { return table_; }

  private:
    struct State {
        BitsPtr bits;
        std::optional<std::uint64_t> count;
        std::optional<Bound> bound{};
        std::size_t needed = 0;  // uses that are still to come
    };
    // The condition of a node of kind Rows.
    [[nodiscard]] const Bound& bound(std::size_t node);
    // A node's whole condition, if it has at most `left` leaves, which are subtracted from `left`.
    [[nodiscard]] std::optional<Bound> whole(std::size_t node, std::size_t& left);
    // The condition in normal form, if the engine evaluates conditions as a whole.
    [[nodiscard]] std::optional<Clauses> at_once(std::size_t node);
    [[nodiscard]] BitsPtr make(std::size_t node);
    // For Execution::OneOperation: uploads the columns that the node reads. The node's rows are then read back and
    // uploaded again for the next node.
    void send_columns(std::size_t node);
    [[nodiscard]] BitsPtr returned(const BitsPtr& rows);

    const std::vector<PlanNode>& nodes_;
    const TableData& table_;
    Columns& columns_;
    Log& log_;
    Execution execution_;
    std::vector<State> states_;
};

// Measures of an engine. Each measure is taken only once.
class EngineMeasures : public Measures {
  public:
    EngineMeasures(const TableData& table, Columns& columns, BitsPtr rows)
        : table_(table), columns_(columns), rows_(std::move(rows)) {}
    // Measures a node's rows. Makes no bits if only their number is needed.
    EngineMeasures(RowsRun& run, std::size_t node) : table_(run.table()), columns_(run.columns()), of_({&run, node}) {}

    [[nodiscard]] std::uint64_t rows() override;
    [[nodiscard]] std::uint64_t count(const ColumnPlace& place) override;
    [[nodiscard]] Sum sum(const ColumnPlace& place) override;
    [[nodiscard]] std::pair<Key, Key> extremes(const ColumnPlace& place) override;
    [[nodiscard]] Key kth(const ColumnPlace& place, std::uint64_t k) override;

    [[nodiscard]] const Bits& bits();
    // The rows where the column is not NULL.
    [[nodiscard]] const Bits& bits(const ColumnPlace& place) { return *of(place).rows; }

  private:
    struct Column {
        BitsPtr rows;
        std::optional<std::uint64_t> count{};
        std::optional<Sum> sum{};
        std::optional<std::pair<Key, Key>> extremes{};
    };
    [[nodiscard]] Column& of(const ColumnPlace& place);

    const TableData& table_;
    Columns& columns_;
    BitsPtr rows_;
    std::pair<RowsRun*, std::size_t> of_{nullptr, 0};
    std::optional<std::uint64_t> count_;
    std::map<std::size_t, Column> by_column_;
};

// Finds groups with an engine one by one, in the order of their values: each has the smallest key above the previous
// one. Pre: all columns are in table 0.
struct EngineGroup {
    std::vector<Value> by;
    BitsPtr rows;
};
// Max number of groups, from the columns' min and max keys.
[[nodiscard]] std::uint64_t max_groups(const TableData& table, const std::vector<ColumnPlace>& by);
[[nodiscard]] std::vector<EngineGroup> engine_groups(Columns& columns, const TableData& table,
                                                     const std::vector<ColumnPlace>& by, const BitsPtr& rows);

}  // namespace quadmill::detail::query
