#include "query/plan/schema.hpp"

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
            own_[(*this)[place].name].push_back(place);
            if (joined_) with_table_[name(place)].push_back(place);
        }
    }
}

ColumnPlace Schema::find(const std::string& where, const std::string& name) const {
    for (const auto* names : {&with_table_, &own_}) {
        const auto found = names->find(name);
        if (found == names->end()) continue;
        const auto& places = found->second;
        if (places.size() == 1) return places.front();
        const auto words = [&](const ColumnPlace& place) {
            if (!joined_) return "column " + std::to_string(place.column);
            return names == &own_ ? this->name(place) : "'" + (*this)[place].name + "' of " + names_.at(place.table);
        };
        throw InvalidArgument(where + ": '" + name + "' may be " + words(places[0]) + " or " + words(places[1]));
    }
    throw InvalidArgument(where + ": there is no column '" + name + "'");
}

ColumnPlace Schema::find_in(std::size_t table, const std::string& where, const std::string& name) const {
    for (const auto* names : {&own_, &with_table_}) {
        const auto found = names->find(name);
        if (found == names->end()) continue;
        for (const auto& place : found->second) {
            if (place.table == table) return place;
        }
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
