#include <algorithm>
#include <string>
#include <type_traits>

#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

namespace quadmill {

namespace {

constexpr const char* call = "QueryResult::column: ";

template <class T>
constexpr const char* type_words = std::is_same_v<T, std::int64_t> ? "integers"
                                   : std::is_same_v<T, double>     ? "numbers"
                                                                   : "text";

// Whether the cell is a T.
template <class T>
bool take(const Value& cell, T& value) {
    if (const auto* same = std::get_if<T>(&cell)) {
        value = *same;
        return true;
    }
    if constexpr (std::is_same_v<T, double>) {
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
            value = static_cast<double>(*integer);
            return true;
        }
    }
    return false;
}

}  // namespace

template <class T>
ResultColumn<T> QueryResult::column(std::size_t number) const {
    if (number >= columns.size())
        throw InvalidArgument(std::string(call) + "there is no column number " + std::to_string(number) + ", but " +
                              std::to_string(columns.size()) + " columns, counted from 0");
    ResultColumn<T> column{.values = std::vector<T>(rows.size()), .valid = std::vector<bool>(rows.size())};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& cell = rows[i].at(number);
        if (std::holds_alternative<std::monostate>(cell)) continue;
        if (!take(cell, column.values[i]))
            throw InvalidArgument(std::string(call) + "'" + columns[number] + "' is not of " + type_words<T> +
                                  " (row " + std::to_string(i) + ")");
        column.valid[i] = true;
    }
    return column;
}

template <class T>
ResultColumn<T> QueryResult::column(std::string_view name) const {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end())
        throw InvalidArgument(std::string(call) + "there is no column '" + std::string(name) + "'");
    if (std::find(found + 1, columns.end(), name) != columns.end())
        throw InvalidArgument(std::string(call) + "several columns are called '" + std::string(name) +
                              "'; ask by number");
    return column<T>(static_cast<std::size_t>(found - columns.begin()));
}

template QUADMILL_API ResultColumn<std::int64_t> QueryResult::column(std::size_t) const;
template QUADMILL_API ResultColumn<double> QueryResult::column(std::size_t) const;
template QUADMILL_API ResultColumn<std::string> QueryResult::column(std::size_t) const;
template QUADMILL_API ResultColumn<std::int64_t> QueryResult::column(std::string_view) const;
template QUADMILL_API ResultColumn<double> QueryResult::column(std::string_view) const;
template QUADMILL_API ResultColumn<std::string> QueryResult::column(std::string_view) const;

}  // namespace quadmill
