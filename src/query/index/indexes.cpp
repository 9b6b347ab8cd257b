#include "query/index/indexes.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace quadmill::detail::query {

namespace {

using ColumnPtr = std::shared_ptr<const ColumnData>;

struct RangeOfColumn {
    ColumnPtr column;
    KeyRange keys;
};

// Nothing if the condition has anything else than ranges, or is of a part of the table.
std::optional<std::vector<RangeOfColumn>> ranges_of(const Clauses& clauses, const BitmapColumns& columns) {
    std::vector<RangeOfColumn> all;
    for (const auto& clause : clauses) {
        const auto* range = clause.size() == 1 ? std::get_if<Range>(&clause.front()) : nullptr;
        if (!range || range->negate) return {};
        const auto& of = *columns.column(range->column);
        if (of.part.first != 0) return {};
        all.push_back({of.data.lock(), {range->low, range->high}});
    }
    return all;
}

// The range of that column; all keys if there is none and no row is NULL.
std::optional<KeyRange> range_of(const std::vector<RangeOfColumn>& ranges, const ColumnPtr& column) {
    std::optional<KeyRange> found;
    for (const auto& range : ranges) {
        if (range.column != column) continue;
        if (found) return {};
        found = range.keys;
    }
    if (!found && column->valid.empty()) return KeyRange{.low = 0, .high = ~Key{0}};
    return found;
}

}  // namespace

bool Indexes::Known::dead() const {
    return std::ranges::any_of(of, [](const auto& column) { return column.expired(); });
}

Indexes& Indexes::of(GpuTables& tables) {
    auto& indexes = tables.indexes();
    if (!indexes) indexes = std::make_shared<Indexes>();
    return dynamic_cast<Indexes&>(*indexes);
}

void Indexes::add(BitmapColumns& columns, std::span<const std::size_t> on) {
    forget_dead();
    std::vector<std::weak_ptr<const ColumnData>> of;
    for (const auto i : on) of.push_back(columns.column(i)->data);
    const auto is_same = [&](const auto& known) {
        return std::ranges::equal(
            known->of, of, {}, [](const auto& one) { return one.lock(); }, [](const auto& one) { return one.lock(); });
    };
    if (std::ranges::any_of(all_, is_same)) return;
    all_.push_back(std::unique_ptr<Known>(
        new Known{.of = std::move(of), .rows = columns.shape().rows, .index = CellIndex(columns, on)}));
    // An index of one column tests fewer rows than one of two, so it comes first.
    std::ranges::stable_sort(all_, {}, [](const auto& known) { return known->of.size(); });
}

std::unique_ptr<Counting> Indexes::count_later(const Clauses& clauses, const BitmapColumns& columns) {
    if (all_.empty() || clauses.empty()) return nullptr;
    const auto ranges = ranges_of(clauses, columns);
    if (!ranges) return nullptr;
    for (const auto& known : all_) {
        std::vector<KeyRange> wanted;
        std::size_t used = 0;
        for (const auto& weak : known->of) {
            const auto column = weak.lock();
            const auto range = column ? range_of(*ranges, column) : std::nullopt;
            if (!range) break;
            wanted.push_back(*range);
            if (std::ranges::find(*ranges, column, &RangeOfColumn::column) != ranges->end()) ++used;
        }
        const bool fits = wanted.size() == known->of.size() && used == ranges->size();
        if (fits && known->rows == columns.shape().rows) return known->index.count_later(wanted);
    }
    return nullptr;
}

std::size_t Indexes::bytes() const {
    std::size_t sum = 0;
    for (const auto& known : all_) sum += known->index.bytes();
    return sum;
}

void Indexes::forget_dead() {
    std::erase_if(all_, [](const auto& known) { return known->dead(); });
}

}  // namespace quadmill::detail::query
