#include "query/plan/schema.hpp"

#include <algorithm>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::query {

Schema::Schema(std::vector<ColumnInfo> columns) : tables_{std::move(columns)} {
    find_places();
}

Schema::Schema(std::vector<ColumnInfo> left, std::vector<ColumnInfo> right, const Join& join)
    : joined_(true), tables_{std::move(left), std::move(right)}, names_{join.left_name, join.right_name} {
    find_places();
}

void Schema::find_places() {
    for (std::size_t table = 0; table < (joined_ ? 2U : 1U); ++table) {
        for (std::size_t i = 0; i < tables_.at(table).size(); ++i) {
            const ColumnPlace place{table, i};
            places_[(*this)[place].name].push_back(place);
            if (joined_ && name(place) != (*this)[place].name) places_[name(place)].push_back(place);
        }
    }
    for (auto& [name, places] : places_) {
        std::sort(places.begin(), places.end(), [](const ColumnPlace& a, const ColumnPlace& b) {
            return std::pair(a.table, a.column) < std::pair(b.table, b.column);
        });
    }
}

std::vector<ColumnPlace> Schema::matches(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::vector<ColumnPlace>() : found->second;
}

ColumnPlace Schema::find(const std::string& where, const std::string& name) const {
    const auto found = matches(name);
    if (found.size() == 1) return found.front();
    if (found.empty()) throw InvalidArgument(where + ": there is no column '" + name + "'");
    throw InvalidArgument(where + ": '" + name + "' may be " + this->name(found[0]) + " or " + this->name(found[1]));
}

ColumnPlace Schema::find_in(std::size_t table, const std::string& where, const std::string& name) const {
    for (const auto& place : matches(name)) {
        if (place.table == table) return place;
    }
    throw InvalidArgument(where + ": there is no column '" + name + "'" +
                          (joined_ ? " in table '" + names_[table] + "'" : ""));
}

std::string Schema::name(const ColumnPlace& place) const {
    const auto& plain = (*this)[place].name;
    return joined_ ? names_[place.table] + "." + plain : plain;
}

std::vector<ColumnInfo> Schema::pair_columns() const {
    std::vector<ColumnInfo> all;
    for (std::size_t table = 0; table < 2; ++table) {
        for (const auto& info : tables_[table]) all.push_back({names_[table] + "." + info.name, info.type});
    }
    return all;
}

}  // namespace quadmill::detail::query
