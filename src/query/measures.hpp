// Aggregates, from what is measured of rows by an engine or by taking rows one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/cells.hpp"
#include "query/engine.hpp"
#include "query/plan.hpp"

namespace quadmill::detail::query {

// Tables of a run; a Place is here of a column as it lies in the table.
struct Tables {
    std::array<std::shared_ptr<const TableData>, 2> data;
    [[nodiscard]] const ColumnData& operator[](const Place& place) const {
        return *data.at(place.table)->columns.at(place.column);
    }
    [[nodiscard]] Cells cells(const Place& place) const { return {*data.at(place.table), place.column}; }
};

// An aggregate and where its column is.
struct Wanted {
    QueryAggregate what;
    Place place;
};

// Of some rows or pairs. Those of a column are of its values that are not NULL.
class Measures {
  public:
    virtual ~Measures() = default;
    [[nodiscard]] virtual std::uint64_t rows() = 0;
    [[nodiscard]] virtual std::uint64_t count(const Place& place) = 0;
    [[nodiscard]] virtual Sum sum(const Place& place) = 0;
    // Pre of both: there is one at least, and more than k.
    [[nodiscard]] virtual std::pair<Key, Key> extremes(const Place& place) = 0;
    [[nodiscard]] virtual Key kth(const Place& place, std::uint64_t k) = 0;
};

// Throws InvalidArgument for a sum of integers beyond 64 bits.
[[nodiscard]] Value answer(const Wanted& wanted, const Tables& tables, Measures& measures);

// Measures that grow row by row.
class Tally : public Measures {
  public:
    struct Column {
        Place place;
        bool sum = false, order = false;  // whether its sum is asked for, and the k-th of its values
    };
    // Each column that these need.
    [[nodiscard]] static std::vector<Column> columns(std::span<const Wanted> wanted);

    // `columns` and `cells` are one another's, and outlive this.
    Tally(const std::vector<Column>& columns, const std::vector<Cells>& cells);
    void add(const RowPair& pair);

    [[nodiscard]] std::uint64_t rows() override { return rows_; }
    [[nodiscard]] std::uint64_t count(const Place& place) override { return of(place).count; }
    [[nodiscard]] Sum sum(const Place& place) override;
    [[nodiscard]] std::pair<Key, Key> extremes(const Place& place) override;
    [[nodiscard]] Key kth(const Place& place, std::uint64_t k) override;

  private:
    struct State {
        std::uint64_t count = 0;
        Sum sum{};
        double lost = 0;  // what rounding took from sum.value so far
        Key least = ~Key{0}, most = 0;
        std::vector<Key> values{};
    };
    [[nodiscard]] State& of(const Place& place);

    const std::vector<Column>* columns_;
    const std::vector<Cells>* cells_;
    std::uint64_t rows_ = 0;
    std::vector<State> states_;
};

// Deals rows or pairs out to groups by their values; all are one group where there is nothing to group by.
class Groups {
  public:
    Groups(const Tables& tables, std::vector<Place> by, std::span<const Wanted> wanted);
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    // Throws InvalidArgument when there are too many groups.
    void add(const RowPair& pair);

    struct Group {
        std::vector<Value> by;
        Tally* measures;
    };
    // In the order of their values, NULLs first.
    [[nodiscard]] std::vector<Group> groups();

  private:
    // For each column whether it has a value, and its key.
    using Label = std::vector<Key>;
    struct Hash {
        std::size_t operator()(const Label& label) const noexcept;
    };

    const Tables& tables_;
    std::vector<Place> by_;
    std::vector<Cells> by_cells_;
    std::vector<Key> nan_;
    std::vector<Tally::Column> columns_;
    std::vector<Cells> cells_;
    std::unordered_map<Label, std::unique_ptr<Tally>, Hash> groups_;
    Label label_;
};

[[noreturn]] void too_many_groups();

}  // namespace quadmill::detail::query
