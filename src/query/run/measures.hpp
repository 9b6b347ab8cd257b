// Aggregates, measured by an engine or by adding rows one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/plan.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/plan.hpp"
#include "query/table/cells.hpp"

namespace quadmill::detail::query {

// Tables of a run. A ColumnPlace here has the index of a column in its table.
struct Tables {
    std::array<std::shared_ptr<const TableData>, 2> data;
    [[nodiscard]] const ColumnData& operator[](const ColumnPlace& place) const {
        return *data.at(place.table)->columns.at(place.column);
    }
    [[nodiscard]] Cells cells(const ColumnPlace& place) const { return {*data.at(place.table), place.column}; }
};

// An aggregate and its column.
struct Wanted {
    QueryAggregate what;
    ColumnPlace place;
};

// Aggregates rows or pairs. NULLs are ignored.
class Measures {
  public:
    virtual ~Measures() = default;
    [[nodiscard]] virtual std::uint64_t rows() = 0;
    [[nodiscard]] virtual std::uint64_t count(const ColumnPlace& place) = 0;
    [[nodiscard]] virtual Sum sum(const ColumnPlace& place) = 0;
    // Pre of both functions: there is at least one value, and more than k.
    [[nodiscard]] virtual std::pair<Key, Key> extremes(const ColumnPlace& place) = 0;
    [[nodiscard]] virtual Key kth(const ColumnPlace& place, std::uint64_t k) = 0;
};

// Throws InvalidArgument if a sum of integers does not fit into 64 bits.
[[nodiscard]] Value answer(const Wanted& wanted, const Tables& tables, Measures& measures);

// Whether it is a quantile or a k-th value.
[[nodiscard]] inline bool is_rank(QueryAggregate::Kind kind) {
    return kind >= QueryAggregate::Kind::Quantile;
}
// The rank, from 0, of the value that an aggregate of n values returns. Nothing if the aggregate is not one of its
// values.
[[nodiscard]] std::optional<std::uint64_t> rank_in(const QueryAggregate& what, std::uint64_t n);

// Groups rows or pairs by their values and measures each group. Without group columns there is one group. Groups are
// numbered in the order in which they are found.
class Groups {
  public:
    // `tables` outlives this object.
    Groups(const Tables& tables, std::vector<ColumnPlace> by, std::span<const Wanted> wanted);
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    void add(std::span<const RowPair> pairs);
    // Adds rows of which only the number is wanted. Pre: there are no group columns.
    void add_rows(std::uint64_t rows) { rows_[0] += rows; }
    // Adds the groups of `other`, which has the same tables and measures. The result is as if this object had taken its
    // own rows and then the other's, except for the last bits of sums of floats.
    void add(Groups&& other);
    [[nodiscard]] std::uint64_t size() const { return rows_.size(); }
    // Calls `take` for the first `max` groups in the order of their values, NULLs first. It gets the values of the
    // group columns and the group's measures.
    void each(std::uint64_t max, const std::function<void(const std::vector<Value>&, Measures&)>& take);

  private:
    friend class GroupMeasures;
    // Measures of a column's values in a group.
    struct State {
        std::uint64_t count = 0;
        SumInteger integer = 0;  // the sum of integers, or
        CompensatedSum sum{};    // of floats
        Key min = ~Key{0}, max = 0;

        void add(const State& other);
    };
    struct Measured {
        ColumnPlace place;
        bool sum = false, order = false;  // whether its sum is wanted, and a k-th value
        std::vector<State> states{};      // by group
        std::vector<std::vector<Key>> keys{};
    };

    void measure(const Wanted& wanted);
    void label(std::span<const RowPair> pairs);
    void find_groups(std::size_t n);
    [[nodiscard]] std::size_t group_of(const Key* label);
    [[nodiscard]] std::size_t dense_place(const Key* label) const { return label[0] == 0 ? 0 : label[1] - *dense_ + 1; }
    [[nodiscard]] std::size_t add_group(const Key* label);
    void make_space();
    void add_values(Measured& of, std::span<const RowPair> pairs);
    [[nodiscard]] std::vector<std::size_t> ordered(std::uint64_t max) const;
    [[nodiscard]] Measured& measured(const ColumnPlace& place);

    const Tables& tables_;
    std::vector<ColumnPlace> by_;
    std::vector<Measured> measured_;
    std::size_t width_;                // words per label: for each group column, whether it has a value, and its key
    std::vector<Key> labels_;          // all labels, one after the other
    std::vector<std::uint64_t> rows_;  // by group
    std::vector<std::size_t> slots_;   // group + 1; 0: free. The size is a power of two, unless keys are dense
    std::optional<Key> dense_;         // the min key of a single column with few keys: slot 0 is NULL, slot 1 this key
    std::size_t copied_ = 0;           // keys of other groups since freed memory was given back
    // The labels and groups of the pairs being added.
    std::vector<Key> new_labels_;
    std::vector<std::size_t> groups_;
};

}  // namespace quadmill::detail::query
