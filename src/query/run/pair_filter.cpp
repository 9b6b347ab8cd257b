#include "query/run/pair_filter.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "query/run/rows_run.hpp"

namespace quadmill::detail::query {

PairFilter::PairFilter(const Predicate& condition, std::vector<Column> columns, const Tables& tables, Engine& engine)
    : condition_(condition), columns_(std::move(columns)), tables_(tables), engine_(engine) {
    merge_dictionaries();
}

void PairFilter::merge_dictionaries() {
    TableData::Dictionary all;
    const auto& left = *tables_.data[0]->dictionary;
    const auto& right = *tables_.data[1]->dictionary;
    std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(all));
    places_ = {places_in(left, all), places_in(right, all)};
    dictionary_ = std::make_shared<const TableData::Dictionary>(std::move(all));
}

std::shared_ptr<const ColumnData> PairFilter::gathered(const Column& column, std::span<const RowPair> pairs) const {
    const auto& from = tables_[column.place];
    const bool right = column.place.table == 1, text = from.type == ColumnType::Text;
    auto to = std::make_shared<ColumnData>();
    to->name = column.name;
    to->type = from.type;
    to->min = text ? 0 : from.min;
    to->max = text ? std::max<std::size_t>(dictionary_->size(), 1) - 1 : from.max;
    const auto row = [&](std::size_t i) { return static_cast<std::size_t>(right ? pairs[i].right : pairs[i].left); };
    visit_column_type(from.type, [&]<class T>(const T* /*type*/) {
        const auto& values = std::get<std::vector<T>>(from.values);
        std::vector<T> chosen(pairs.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) chosen[i] = values[row(i)];
        if constexpr (std::is_same_v<T, std::uint32_t>) {
            const auto& places = places_.at(column.place.table);
            if (text && !places.empty()) {
                for (auto& value : chosen) value = places[value];
            }
        }
        to->values = std::move(chosen);
    });
    if (!from.valid.empty()) {
        to->valid.resize((pairs.size() + 31) / 32);
        for (std::size_t i = 0; i < pairs.size(); ++i)
            to->valid[i / 32] |= std::uint32_t{has_value(from, row(i))} << (i % 32);
    }
    return to;
}

std::vector<RowPair> PairFilter::operator()(std::span<const RowPair> pairs) {
    auto table = std::make_shared<TableData>();
    table->rows = pairs.size();
    table->dictionary = dictionary_;
    for (const auto& column : columns_) {
        table->columns.push_back(gathered(column, pairs));
        table->infos.push_back({column.name, table->columns.back()->type});
        table->places.emplace(column.name, table->places.size());
    }
    std::vector<std::size_t> all(columns_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto columns = engine_.open(table, all);
    // The binding depends on types, ranges of values and the dictionary, which are the same for all chunks.
    if (!bound_) bound_ = bind("QueryProcessor::run", detail::Access::of(condition_), *table);
    std::vector<RowPair> kept;
    for (const auto row : columns->rows(*select_at_once(*columns, *bound_))) kept.push_back(pairs[row]);
    return kept;
}

}  // namespace quadmill::detail::query
