#include "query/measures.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cpu/rank.hpp"
#include "quadmill/error.hpp"
#include "query/tuning.hpp"

namespace quadmill::detail::query {

namespace {

using Kind = QueryAggregate::Kind;

bool is_float(ColumnType type) {
    return type == ColumnType::F32 || type == ColumnType::F64;
}

bool fits(const Sum& sum) {
    return sum.high == (static_cast<std::int64_t>(sum.low) < 0 ? -1 : 0);
}

// The nearest double, up to a rounding of the lower half where the sum does not fit 64 bits.
double number(const Sum& sum) {
    if (fits(sum)) return static_cast<double>(static_cast<std::int64_t>(sum.low));
    return std::ldexp(static_cast<double>(sum.high), 64) + static_cast<double>(sum.low);
}

Value sum_of(const ColumnData& column, const Sum& sum) {
    if (is_float(column.type)) return sum.value;
    if (fits(sum)) return static_cast<std::int64_t>(sum.low);
    throw InvalidArgument("QueryProcessor: the sum of column '" + column.name +
                          "' does not fit 64 bits; its average does");
}

void add(Sum& sum, std::int64_t value) {
    const auto before = sum.low;
    sum.low += static_cast<std::uint64_t>(value);
    sum.high += (value < 0 ? -1 : 0) + (sum.low < before ? 1 : 0);
}

}  // namespace

Value answer(const Wanted& wanted, const Tables& tables, Measures& measures) {
    const auto& [what, place] = wanted;
    if (what.kind == Kind::CountRows) return static_cast<std::int64_t>(measures.rows());
    const auto n = measures.count(place);
    if (what.kind == Kind::Count) return static_cast<std::int64_t>(n);
    if (n == 0) return {};
    const auto value = [&](Key key) { return value_of(*tables.data.at(place.table), place.column, key); };
    const auto& column = tables[place];
    switch (what.kind) {
        case Kind::Sum:
            return sum_of(column, measures.sum(place));
        case Kind::Average: {
            const auto sum = measures.sum(place);
            return (is_float(column.type) ? sum.value : number(sum)) / static_cast<double>(n);
        }
        case Kind::Min:
            return value(measures.extremes(place).first);
        case Kind::Max:
            return value(measures.extremes(place).second);
        case Kind::Quantile:
            return value(measures.kth(place, cpu::rank_of(what.phi, n) - 1));
        case Kind::KthSmallest:
            return what.k > n ? Value() : value(measures.kth(place, what.k - 1));
        default:
            return what.k > n ? Value() : value(measures.kth(place, n - what.k));
    }
}

// ---- Tally

std::vector<Tally::Column> Tally::columns(std::span<const Wanted> wanted) {
    std::vector<Column> columns;
    for (const auto& [what, place] : wanted) {
        if (what.kind == Kind::CountRows) continue;
        const auto same = [&, &at = place](const Column& column) { return column.place == at; };
        auto found = std::find_if(columns.begin(), columns.end(), same);
        if (found == columns.end()) found = columns.insert(found, Column{.place = place});
        found->sum = found->sum || what.kind == Kind::Sum || what.kind == Kind::Average;
        found->order = found->order || what.kind == Kind::Quantile || what.kind == Kind::KthLargest ||
                       what.kind == Kind::KthSmallest;
    }
    return columns;
}

Tally::Tally(const std::vector<Column>& columns, const std::vector<Cells>& cells)
    : columns_(&columns), cells_(&cells), states_(columns.size()) {}

void Tally::add(const RowPair& pair) {
    ++rows_;
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const auto& column = (*columns_)[i];
        const auto& cells = (*cells_)[i];
        const auto row = static_cast<std::size_t>(column.place.table == 0 ? pair.left : pair.right);
        if (!cells.has_value(row)) continue;
        auto& state = states_[i];
        ++state.count;
        cells.visit(row, [&]<class T>(T value) {
            const Key key = KeyOf<T>::key(value);
            state.least = std::min(state.least, key);
            state.most = std::max(state.most, key);
            if (column.order) state.values.push_back(key);
            if (!column.sum) return;
            if constexpr (std::is_floating_point_v<T>) {
                // Neumaier's: what each addition loses is summed beside it.
                const double x = value, before = state.sum.value, after = before + x;
                state.sum.value = after;
                state.lost += std::abs(before) >= std::abs(x) ? (before - after) + x : (x - after) + before;
            } else {
                query::add(state.sum, static_cast<std::int64_t>(value));
            }
        });
    }
}

Tally::State& Tally::of(const Place& place) {
    const auto same = [&](const Column& column) { return column.place == place; };
    const auto found = std::find_if(columns_->begin(), columns_->end(), same);
    return states_.at(static_cast<std::size_t>(found - columns_->begin()));
}

Sum Tally::sum(const Place& place) {
    const auto& state = of(place);
    auto sum = state.sum;
    if (std::isfinite(sum.value)) sum.value += state.lost;  // else what was lost is no number
    return sum;
}

std::pair<Key, Key> Tally::extremes(const Place& place) {
    const auto& state = of(place);
    return {state.least, state.most};
}

Key Tally::kth(const Place& place, std::uint64_t k) {
    auto& values = of(place).values;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// ---- Groups

void too_many_groups() {
    throw InvalidArgument("QueryProcessor: GROUP BY makes at most " + std::to_string(most_groups) +
                          " groups, and there are more");
}

std::size_t Groups::Hash::operator()(const Label& label) const noexcept {
    std::uint64_t hash = 0;
    for (const auto word : label) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29U;
    }
    return static_cast<std::size_t>(hash);
}

Groups::Groups(const Tables& tables, std::vector<Place> by, std::span<const Wanted> wanted)
    : tables_(tables), by_(std::move(by)), columns_(Tally::columns(wanted)), label_(2 * by_.size()) {
    for (const auto& place : by_) {
        by_cells_.push_back(tables.cells(place));
        nan_.push_back(first_nan(tables[place].type));
    }
    for (const auto& column : columns_) cells_.push_back(tables.cells(column.place));
    if (by_.empty()) groups_.emplace(label_, std::make_unique<Tally>(columns_, cells_));
}

void Groups::add(const RowPair& pair) {
    for (std::size_t i = 0; i < by_.size(); ++i) {
        const auto row = static_cast<std::size_t>(by_[i].table == 0 ? pair.left : pair.right);
        const bool valid = by_cells_[i].has_value(row);
        label_[2 * i] = valid ? 1 : 0;
        label_[2 * i + 1] = valid ? std::min(by_cells_[i].key(row), nan_[i]) : 0;
    }
    auto& tally = groups_[label_];
    if (!tally) {
        if (groups_.size() > most_groups) too_many_groups();
        tally = std::make_unique<Tally>(columns_, cells_);
    }
    tally->add(pair);
}

std::vector<Groups::Group> Groups::groups() {
    std::vector<std::pair<Label, Tally*>> all;
    for (const auto& [label, tally] : groups_) all.emplace_back(label, tally.get());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Group> result;
    for (const auto& [label, tally] : all) {
        Group group{.by = {}, .measures = tally};
        for (std::size_t i = 0; i < by_.size(); ++i) {
            const auto& place = by_[i];
            group.by.push_back(
                label[2 * i] == 0 ? Value() : value_of(*tables_.data.at(place.table), place.column, label[2 * i + 1]));
        }
        result.push_back(std::move(group));
    }
    return result;
}

}  // namespace quadmill::detail::query
