// SQLite as an oracle: tables and answers in quadmill's types, and exact aggregates that SQLite itself rounds.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "quadmill/query.hpp"

namespace quadmill::test {

// A piece of SQL and the values of its question marks.
struct Sql {
    std::string text;
    std::vector<Value> values{};

    Sql& operator+=(const Sql& other) {
        text += other.text;
        values.insert(values.end(), other.values.begin(), other.values.end());
        return *this;
    }
    friend Sql operator+(Sql a, const Sql& b) { return a += b; }
    friend Sql operator+(Sql a, const std::string& b) { return a += Sql{b}; }
};

// The values of a group, for the functions below.
struct Gathered {
    std::vector<Value> values;
    Value argument;  // the second one

    static Value value_of(sqlite3_value* value) {
        switch (sqlite3_value_type(value)) {
            case SQLITE_INTEGER:
                return static_cast<std::int64_t>(sqlite3_value_int64(value));
            case SQLITE_FLOAT:
                return sqlite3_value_double(value);
            case SQLITE_TEXT: {
                const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
                return std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
            }
            default:
                return {};
        }
    }
    static void step(sqlite3_context* context, int n, sqlite3_value** values) {
        auto*& self = *static_cast<Gathered**>(sqlite3_aggregate_context(context, sizeof(Gathered*)));
        if (!self) self = new Gathered;
        auto value = value_of(values[0]);
        if (n > 1) self->argument = value_of(values[1]);
        if (value.index() != 0) self->values.push_back(std::move(value));
    }
    static Gathered take(sqlite3_context* context) {
        auto* self = static_cast<Gathered**>(sqlite3_aggregate_context(context, 0));
        if (!self) return {};
        Gathered result = std::move(**self);
        delete *self;
        *self = nullptr;
        return result;
    }
};

inline void give(sqlite3_context* context, const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        sqlite3_result_int64(context, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
        sqlite3_result_double(context, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        sqlite3_result_text64(context, text->data(), text->size(), reinterpret_cast<sqlite3_destructor_type>(-1),
                              SQLITE_UTF8);
    } else {
        sqlite3_result_null(context);
    }
}

__extension__ using Integer = __int128;

inline Integer integer_sum(const Gathered& gathered) {
    Integer sum = 0;
    for (const auto& value : gathered.values) sum += std::get<std::int64_t>(value);
    return sum;
}

// SQLite's sum() fails if an intermediate sum overflows. This one fails only if the final one does.
inline void exact_sum(sqlite3_context* context) {
    const auto gathered = Gathered::take(context);
    if (gathered.values.empty()) return give(context, {});
    const auto sum = integer_sum(gathered);
    if (sum != static_cast<std::int64_t>(sum)) return sqlite3_result_error(context, "integer overflow", -1);
    give(context, static_cast<std::int64_t>(sum));
}

inline void exact_average(sqlite3_context* context) {
    const auto gathered = Gathered::take(context);
    if (gathered.values.empty()) return give(context, {});
    give(context, static_cast<double>(integer_sum(gathered)) / static_cast<double>(gathered.values.size()));
}

// Sums floats with 64 bits of mantissa, and the rounding errors separately.
inline void close_sum(sqlite3_context* context) {
    const auto gathered = Gathered::take(context);
    if (gathered.values.empty()) return give(context, {});
    long double sum = 0, lost = 0;
    for (const auto& value : gathered.values) {
        const long double x = std::get<double>(value), next = sum + x;
        lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    give(context, static_cast<double>(sum + lost));
}

// kth(x, k): the k-th smallest, counted from 1; from -1, the largest.
inline void kth(sqlite3_context* context) {
    auto gathered = Gathered::take(context);
    auto& values = gathered.values;
    std::sort(values.begin(), values.end());
    const auto k = values.empty() ? 1 : std::get<std::int64_t>(gathered.argument);
    const auto n = static_cast<std::int64_t>(values.size());
    const auto at = k > 0 ? k - 1 : n + k;
    give(context, at >= 0 && at < n ? values[static_cast<std::size_t>(at)] : Value());
}

inline void quantile(sqlite3_context* context) {
    auto gathered = Gathered::take(context);
    auto& values = gathered.values;
    if (values.empty()) return give(context, {});
    std::sort(values.begin(), values.end());
    // In eighths, so that the product is exact.
    const double rank = std::ceil(std::get<double>(gathered.argument) * static_cast<double>(values.size()));
    give(context, values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
}

class Sqlite {
  public:
    Sqlite() {
        must(sqlite3_open(":memory:", &db_));
        add("exact_sum", 1, exact_sum);
        add("exact_average", 1, exact_average);
        add("close_sum", 1, close_sum);
        add("kth", 2, kth);
        add("quantile", 2, quantile);
    }
    Sqlite(const Sqlite&) = delete;
    Sqlite& operator=(const Sqlite&) = delete;
    ~Sqlite() { sqlite3_close(db_); }

    // Throws std::runtime_error with SQLite's message.
    std::vector<std::vector<Value>> run(const Sql& sql) {
        sqlite3_stmt* statement = nullptr;
        must(sqlite3_prepare_v2(db_, sql.text.c_str(), -1, &statement, nullptr), sql.text);
        std::vector<std::vector<Value>> rows;
        bind(statement, sql.values);
        int state = 0;
        while ((state = sqlite3_step(statement)) == SQLITE_ROW) {
            auto& row = rows.emplace_back();
            for (int i = 0; i < sqlite3_column_count(statement); ++i)
                row.push_back(Gathered::value_of(sqlite3_column_value(statement, i)));
        }
        sqlite3_finalize(statement);
        if (state != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
        return rows;
    }

    // columns[c][row]. The columns have no types, so values are not converted.
    void make_table(const std::string& name, const std::vector<std::string>& names,
                    const std::vector<std::vector<Value>>& columns) {
        std::string list, marks;
        for (const auto& column : names) {
            list += (list.empty() ? "" : ", ") + column;
            marks += marks.empty() ? "?" : ", ?";
        }
        run({"DROP TABLE IF EXISTS " + name});
        run({"CREATE TABLE " + name + " (" + list + ")"});
        const auto insert = "INSERT INTO " + name + " VALUES (" + marks + ")";
        sqlite3_stmt* statement = nullptr;
        must(sqlite3_prepare_v2(db_, insert.c_str(), -1, &statement, nullptr), insert);
        run({"BEGIN"});
        for (std::size_t row = 0; row < columns.front().size(); ++row) {
            std::vector<Value> values;
            for (const auto& column : columns) values.push_back(column[row]);
            bind(statement, values);
            if (sqlite3_step(statement) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
            sqlite3_reset(statement);
        }
        sqlite3_finalize(statement);
        run({"COMMIT"});
    }

  private:
    void must(int code, const std::string& what = {}) const {
        if (code != SQLITE_OK) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(db_) + " " + what);
    }
    void add(const char* name, int arguments, void (*final)(sqlite3_context*)) {
        must(sqlite3_create_function(db_, name, arguments, SQLITE_UTF8, nullptr, nullptr, Gathered::step, final));
    }
    static void bind(sqlite3_stmt* statement, const std::vector<Value>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int place = static_cast<int>(i) + 1;
            if (const auto* integer = std::get_if<std::int64_t>(&values[i])) {
                sqlite3_bind_int64(statement, place, *integer);
            } else if (const auto* real = std::get_if<double>(&values[i])) {
                sqlite3_bind_double(statement, place, *real);
            } else if (const auto* text = std::get_if<std::string>(&values[i])) {
                sqlite3_bind_text64(statement, place, text->data(), text->size(), nullptr, SQLITE_UTF8);
            } else {
                sqlite3_bind_null(statement, place);
            }
        }
    }

    sqlite3* db_ = nullptr;
};

}  // namespace quadmill::test
