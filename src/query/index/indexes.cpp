#include "query/index/indexes.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "gl/device.hpp"
#include "query/index/cell_index.hpp"

namespace quadmill::detail::query {

namespace {

using ColumnPtr = std::shared_ptr<const ColumnData>;

// On an H100, copying a row at random takes about as long as testing that many rows in order.
constexpr std::uint64_t rows_for_one = 64;

// The other passes of an answer from copied rows take about as long as copying that many: 0.5 ms on an H100, 2 ms on
// llvmpipe. There the answers from an index of two columns are faster from 2^23 and 2^18 rows on.
std::uint64_t usual_overhead(const gl::Device& device) {
    return std::uint64_t{1} << (device.info.software ? 12U : 17U);
}

struct RangeOfColumn {
    ColumnPtr column;
    KeyRange keys;
};

// The ranges among the clauses of the condition. Nothing if it is of a part of the table.
std::optional<std::vector<RangeOfColumn>> ranges_of(const Clauses& clauses, const BitmapColumns& columns) {
    std::vector<RangeOfColumn> all;
    for (const auto& clause : clauses) {
        const auto* range = clause.size() == 1 ? std::get_if<Range>(&clause.front()) : nullptr;
        if (!range || range->negate) continue;
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

Indexes& Indexes::of(GpuTables& tables, std::optional<std::uint64_t> overhead) {
    auto& indexes = tables.indexes();
    if (!indexes) indexes = std::make_shared<Indexes>(overhead ? *overhead : usual_overhead(tables.device()));
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
}

// The index that reads the fewest rows.
std::optional<Indexes::Fit> Indexes::fit(IndexUse::Does does, const Clauses& clauses,
                                         const BitmapColumns& columns) const {
    if (all_.empty() || clauses.empty()) return {};
    const auto ranges = ranges_of(clauses, columns);
    if (!ranges || ranges->empty()) return {};
    const bool counts = does == IndexUse::Does::Count;
    if (counts && ranges->size() < clauses.size()) return {};
    std::optional<Fit> best;
    const std::uint64_t all_rows = columns.shape().rows, copied = all_rows / rows_for_one;
    if (!counts && copied < overhead_) return {};
    const auto max_rows = counts ? all_rows : copied - overhead_;
    for (const auto& known : all_) {
        Fit fit{.known = known.get()};
        std::size_t used = 0;
        for (const auto& weak : known->of) {
            const auto column = weak.lock();
            const auto range = column ? range_of(*ranges, column) : std::nullopt;
            if (!range) break;
            fit.ranges.push_back(*range);
            if (std::ranges::find(*ranges, column, &RangeOfColumn::column) != ranges->end()) ++used;
        }
        const bool fits = fit.ranges.size() == known->of.size() && known->rows == columns.shape().rows &&
                          (counts ? used == ranges->size() : used > 0);
        if (!fits) continue;
        fit.rows = counts ? known->index.rows_on_edge(fit.ranges) : known->index.rows_near(fit.ranges);
        if (fit.rows <= max_rows && (!best || fit.rows < best->rows)) best = std::move(fit);
    }
    return best;
}

Counting Indexes::count_later(const Clauses& clauses, const BitmapColumns& columns) {
    const auto found = fit(IndexUse::Does::Count, clauses, columns);
    return found ? found->known->index.count_later(found->ranges) : Counting();
}

std::shared_ptr<BitmapColumns> Indexes::near(const Clauses& clauses, BitmapColumns& columns) {
    const auto found = fit(IndexUse::Does::FindRows, clauses, columns);
    if (!found) return nullptr;
    std::vector<std::size_t> on;
    for (const auto& [i, column] : columns.columns()) {
        const auto data = column->data.lock();
        if (std::ranges::any_of(found->known->of, [&](const auto& weak) { return weak.lock() == data; }))
            on.push_back(i);
    }
    return near_rows(columns, found->known->index, on, found->ranges);
}

std::optional<IndexUse> Indexes::use(IndexUse::Does does, const Clauses& clauses, const BitmapColumns& columns) const {
    const auto found = fit(does, clauses, columns);
    if (!found) return {};
    IndexUse use{.does = does, .rows = found->rows};
    for (const auto& weak : found->known->of) use.columns.push_back(weak.lock()->name);
    return use;
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
