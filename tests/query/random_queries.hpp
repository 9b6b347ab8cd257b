// Random tables and random queries, each for quadmill and as SQL. Runs both and compares the answers.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/sqlite.hpp"
#include "sql/binder.hpp"
#include "sql/parser.hpp"

namespace quadmill::test {

// What can be done with a column: SQLite rounds or rejects some operations that quadmill does exactly.
struct ColumnTraits {
    const char* name;
    ColumnType type;
    bool nulls;
    bool wild;  // has extremes of its type, infinities, denormals
    enum class Values { Usual, Tenths, Beyond53 } values = Values::Usual;  // tenths: sums of them are rounded
};

inline const std::vector<ColumnTraits>& all_columns() {
    static const std::vector<ColumnTraits> columns{{"a", ColumnType::I32, false, false},
                                                   {"b", ColumnType::I32, true, true},
                                                   {"u", ColumnType::U32, true, false},
                                                   {"v", ColumnType::U32, false, true},
                                                   {"l", ColumnType::I64, false, true},
                                                   {"m", ColumnType::I64, true, false},
                                                   {"f", ColumnType::F32, false, false},
                                                   {"g", ColumnType::F32, true, true},
                                                   {"d", ColumnType::F64, true, false},
                                                   {"e", ColumnType::F64, false, true},
                                                   {"t", ColumnType::Text, false, false},
                                                   {"s", ColumnType::Text, true, false},
                                                   {"h", ColumnType::F64, true, false, ColumnTraits::Values::Tenths},
                                                   {"n", ColumnType::I64, true, true, ColumnTraits::Values::Beyond53}};
    return columns;
}

inline bool is_float(ColumnType type) {
    return type == ColumnType::F32 || type == ColumnType::F64;
}

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class List>
    const auto& of(const List& list) {
        return list[static_cast<std::size_t>(below(list.size()))];
    }

    template <class T>
    T number(bool wild) {
        if constexpr (std::is_floating_point_v<T>) {
            using Limits = std::numeric_limits<T>;
            static const std::vector<T> hard{-T{0},         Limits::infinity(), -Limits::infinity(),
                                             Limits::max(), Limits::lowest(),   Limits::denorm_min(),
                                             T{1} / T{10},  T{1} / T{3}};
            if (wild && one_in(3)) return of(hard);
            return static_cast<T>(static_cast<std::int64_t>(below(33)) - 16) / 4;
        } else {
            using Limits = std::numeric_limits<T>;
            static const std::vector<T> hard{Limits::min(), Limits::max(), static_cast<T>(Limits::min() + 1),
                                             static_cast<T>(Limits::max() - 1), static_cast<T>(Limits::max() / 2)};
            if (wild && one_in(3)) return of(hard);
            return static_cast<T>(static_cast<std::int64_t>(below(9)) - (std::is_signed_v<T> ? 4 : 0));
        }
    }
    template <class T>
    T value(const ColumnTraits& column) {
        using Values = ColumnTraits::Values;
        const auto small = static_cast<std::int64_t>(below(9)) - 4;
        if (column.values == Values::Tenths) return static_cast<T>(static_cast<double>(small) / 10);
        if (column.values == Values::Beyond53)
            return static_cast<T>((std::int64_t{1} << (one_in(2) ? 53U : 57U)) * (one_in(2) ? 1 : -1) + small);
        return number<T>(column.wild);
    }
    std::string text() {
        static const std::vector<std::string> texts{"", "a", "b", "ab", "B", "a b", "it's", "\xc3\xa9", "z"};
        return of(texts);
    }
    // A constant for a comparison with a column.
    Value constant(const ColumnTraits& column) {
        if (column.type == ColumnType::Text) return text();
        switch (below(4)) {
            case 0:
                return number<std::int64_t>(column.wild);
            case 1:
                return static_cast<double>(number<float>(column.wild));
            case 2:
                return number<double>(column.wild);
            default:
                return static_cast<std::int64_t>(number<std::int32_t>(column.wild));
        }
    }

  private:
    std::mt19937_64 random_;
};

// A table in quadmill, and the same table in SQLite under a name.
class TableInBoth {
  public:
    TableInBoth(Sqlite& sqlite, std::string name, std::size_t rows, Dice& dice) : name_(std::move(name)) {
        std::vector<std::string> names;
        for (const auto& column : all_columns()) {
            names.emplace_back(column.name);
            std::vector<bool> valid(rows, true);
            if (column.nulls) {
                for (std::size_t i = 0; i < rows; ++i) valid[i] = !dice.one_in(4);
            }
            switch (column.type) {
                case ColumnType::I32:
                    add<std::int32_t>(column, std::move(valid), dice);
                    break;
                case ColumnType::U32:
                    add<std::uint32_t>(column, std::move(valid), dice);
                    break;
                case ColumnType::I64:
                    add<std::int64_t>(column, std::move(valid), dice);
                    break;
                case ColumnType::F32:
                    add<float>(column, std::move(valid), dice);
                    break;
                case ColumnType::F64:
                    add<double>(column, std::move(valid), dice);
                    break;
                case ColumnType::Text:
                    add_text(column, std::move(valid), dice);
                    break;
            }
        }
        sqlite.make_table(name_, names, cells_);
    }

    [[nodiscard]] const Table& table() const { return table_; }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    template <class T>
    void add(const ColumnTraits& column, std::vector<bool> valid, Dice& dice) {
        using Stored = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
        std::vector<T> values;
        auto& cells = cells_.emplace_back();
        for (const bool is_valid : valid) {
            values.push_back(dice.value<T>(column));
            cells.push_back(is_valid ? Value(static_cast<Stored>(values.back())) : Value());
        }
        table_.add(column.name, std::move(values), std::move(valid));
    }
    void add_text(const ColumnTraits& column, std::vector<bool> valid, Dice& dice) {
        std::vector<std::string> values;
        auto& cells = cells_.emplace_back();
        for (const bool is_valid : valid) {
            values.push_back(dice.text());
            cells.push_back(is_valid ? Value(values.back()) : Value());
        }
        table_.add(column.name, values, std::move(valid));
    }

    std::string name_;
    Table table_;
    std::vector<std::vector<Value>> cells_;
};

// A column of one of a query's tables, with the name that both sides use.
struct Named {
    std::string name;
    ColumnTraits traits;
};

struct Condition {
    Predicate predicate;
    Sql sql;
};

// Both forms of an output. A sum of floats takes three columns of SQL: the sum, the sum of absolute values, and the
// count.
struct Wanted {
    Output output;
    Sql sql;
    bool close = false, average = false;
};

inline const char* sql_of(Comparison op) {
    constexpr std::array<const char*, 6> words{"<", "<=", "=", "<>", ">=", ">"};
    return words.at(static_cast<std::size_t>(op));
}

class RandomQuery {
  public:
    RandomQuery(Dice& dice, std::vector<Named> columns) : dice_(dice), columns_(std::move(columns)) {}

    Condition condition(int depth) {
        if (depth == 0 || dice_.one_in(4)) return leaf();
        auto a = condition(depth - 1);
        if (dice_.one_in(4)) return {!a.predicate, Sql{"NOT ("} + a.sql + ")"};
        const auto b = condition(depth - 1);
        if (dice_.one_in(2)) return {a.predicate && b.predicate, Sql{"("} + a.sql + " AND " + b.sql + ")"};
        return {a.predicate || b.predicate, Sql{"("} + a.sql + " OR " + b.sql + ")"};
    }

    Wanted aggregate() {
        using Kind = QueryAggregate::Kind;
        static const std::vector<Kind> kinds{Kind::CountRows, Kind::Count,      Kind::Sum,
                                             Kind::Average,   Kind::Min,        Kind::Max,
                                             Kind::Quantile,  Kind::KthLargest, Kind::KthSmallest};
        const auto& column = dice_.of(columns_);
        const auto& [name, traits] = column;
        QueryAggregate what{.kind = dice_.of(kinds), .column = name};
        if (what.kind == Kind::Sum || what.kind == Kind::Average) return sum(what, column);
        what.phi = static_cast<double>(dice_.below(9)) / 8;
        what.k = dice_.below(5) + 1;
        const auto k = static_cast<std::int64_t>(what.k);
        const auto made = [&](Sql sql) { return Wanted{{what, ""}, std::move(sql)}; };
        switch (what.kind) {
            case Kind::CountRows:
                return made({"COUNT(*)"});
            case Kind::Count:
                return made({"COUNT(" + name + ")"});
            case Kind::Min:
                return made({"MIN(" + name + ")"});
            case Kind::Max:
                return made({"MAX(" + name + ")"});
            case Kind::Quantile:
                return made({"quantile(" + name + ", ?)", {what.phi}});
            case Kind::KthLargest:
                return made({"kth(" + name + ", ?)", {-k}});
            default:
                return made({"kth(" + name + ", ?)", {k}});
        }
    }

    Wanted plain() {
        const auto& name = dice_.of(columns_).name;
        return {{name, ""}, {name}};
    }
    const Named& column() { return dice_.of(columns_); }

  private:
    // SQLite's own sums of extreme integers are rounded, or overflow on the way.
    Wanted sum(QueryAggregate what, const Named& column) {
        const auto& [name, traits] = column;
        const bool average = what.kind == QueryAggregate::Kind::Average;
        if (traits.type == ColumnType::Text || (is_float(traits.type) && traits.wild))
            return {{QueryAggregate{}, ""}, {"COUNT(*)"}};
        if (is_float(traits.type)) {
            const auto text = "close_sum(" + name + "), total(abs(" + name + ")), COUNT(" + name + ")";
            return {{what, ""}, {text}, true, average};
        }
        const std::string function = traits.wild ? (average ? "exact_average(" : "exact_sum(")
                                     : average   ? "AVG("
                                                 : "SUM(";
        return {{what, ""}, {function + name + ")"}};
    }

    Condition leaf() {
        const auto& column = dice_.of(columns_);
        const auto c = quadmill::column(column.name);
        const auto op = static_cast<Comparison>(dice_.below(6));
        switch (dice_.below(10)) {
            case 8:
            case 9:
                return formula(op);
            case 0:
                return {c.is_null(), {column.name + " IS NULL"}};
            case 1: {
                const auto low = dice_.constant(column.traits), high = dice_.constant(column.traits);
                return {c.between(low, high), {column.name + " BETWEEN ? AND ?", {low, high}}};
            }
            case 2:
                return in_list(column);
            case 3:
                return columns(column, op);
            case 4:
                return linear(op);
            default: {
                const auto constant = dice_.constant(column.traits);
                return {c.compare(op, constant), {column.name + " " + sql_of(op) + " ?", {constant}}};
            }
        }
    }

    Condition in_list(const Named& column) {
        std::vector<Value> list;
        std::string marks;
        for (auto n = dice_.below(4) + 1; n > 0; --n) {
            list.push_back(dice_.constant(column.traits));
            marks += marks.empty() ? "?" : ", ?";
        }
        return {quadmill::column(column.name).in(list), {column.name + " IN (" + marks + ")", list}};
    }

    // Integers that doubles do not represent are not compared with floats.
    Condition columns(const Named& a, Comparison op) {
        const auto can = [&](const Named& b) {
            const auto x = a.traits, y = b.traits;
            if (x.type == ColumnType::Text || y.type == ColumnType::Text) return x.type == y.type;
            const bool mixed = is_float(x.type) != is_float(y.type);
            const bool large = (x.type == ColumnType::I64 && x.wild) || (y.type == ColumnType::I64 && y.wild);
            return !(mixed && large);
        };
        const Named* b = &dice_.of(columns_);
        while (!can(*b)) b = &dice_.of(columns_);
        return {quadmill::column(a.name).compare(op, quadmill::column(b->name)),
                {a.name + " " + sql_of(op) + " " + b->name}};
    }

    Condition linear(Comparison op) {
        std::vector<Predicate::Term> terms;
        Sql sql{"(0.0"};
        while (terms.size() < 3) {
            const auto& [name, traits] = dice_.of(columns_);
            if (traits.type == ColumnType::Text || traits.wild) continue;
            terms.push_back({dice_.number<double>(false) / 3, name});
            sql += Sql{" + ? * " + name, {terms.back().factor}};
        }
        const double constant = dice_.number<double>(false);
        sql += Sql{std::string(") ") + sql_of(op) + " ?", {constant}};
        return {Predicate::linear(terms, op, constant), sql};
    }

    // A comparison of sums as people write them: of integers of up to 60 bits, or of small integers with floats and
    // fractions.
    Condition formula(Comparison op) {
        static const std::vector<std::string> fractions{"0.1", "0.2", "0.3", "0.4", "0.5", "0.7", "1.5", "2", "3"},
            integers{"0", "1", "2", "3", "-1"},
            large{"0", "9007199254740992", "9007199254740993", "-9007199254740993", "18014398509481984"};
        const bool floats = dice_.one_in(2);
        const auto column = [&]() -> const std::string& {
            for (;;) {
                const auto& [name, traits] = dice_.of(columns_);
                const bool beyond = traits.values == ColumnTraits::Values::Beyond53;
                if (traits.type == ColumnType::Text || (traits.wild && !beyond)) continue;
                if (floats ? !beyond : !is_float(traits.type)) return name;
            }
        };
        const auto constant = [&] { return dice_.of(floats ? fractions : integers); };
        const auto term = [&] {
            if (dice_.one_in(4)) return constant();
            return dice_.one_in(3) ? constant() + " * " + column() : dice_.one_in(4) ? "-" + column() : column();
        };
        auto text = column();
        for (auto n = dice_.below(3) + (floats ? 0 : 1); n > 0; --n) text += (dice_.one_in(2) ? " + " : " - ") + term();
        if (dice_.one_in(4)) text = constant() + " * (" + text + ")";
        text += std::string(" ") + sql_of(op) + " ";
        text += dice_.one_in(3)             ? column() + " + " + constant()
                : floats || dice_.one_in(2) ? constant()
                                            : dice_.of(large);
        const bool joined = columns_.front().name.find('.') != std::string::npos;
        const auto parsed = detail::sql::bind(detail::sql::parse_sql(
            std::string("SELECT COUNT(*) FROM x") + (joined ? " JOIN y ON x.a = y.a" : "") + " WHERE " + text));
        return {*parsed.where, {text}};
    }

    Dice& dice_;
    std::vector<Named> columns_;
};

inline std::string shown(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
    if (value.index() == 0) return "NULL";
    std::array<char, 40> out{};
    std::snprintf(out.data(), out.size(), "%.17g", std::get<double>(value));
    return out.data();
}

inline bool is_close(const Value& answer, const std::vector<Value>& row, std::size_t at, bool average) {
    if (row[at].index() == 0) return answer.index() == 0;
    const auto n = static_cast<double>(std::get<std::int64_t>(row[at + 2]));
    const auto whole = average ? n : 1;
    const auto bound = (std::log2(n) + 8) * 0x1p-53 * std::get<double>(row[at + 1]) / whole;
    return std::abs(std::get<double>(answer) - std::get<double>(row[at]) / whole) <= bound;
}

inline bool same_row(const std::vector<Value>& answer, const std::vector<Value>& row,
                     const std::vector<Wanted>& wanted) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const bool good = wanted[i].close ? is_close(answer[i], row, at, wanted[i].average) : answer[i] == row[at];
        if (!good) {
            MESSAGE("column " << i << ": " << shown(answer[i]) << " instead of " << shown(row[at]));
            return false;
        }
        at += wanted[i].close ? 3U : 1U;
    }
    return true;
}

// Amount of work: for a small table, a software renderer takes a thousand times as long as the CPU.
struct Effort {
    int tables = 1;
    int queries = 4;  // of each table
    std::size_t rows = 200;
    std::uint64_t seed = 1;
};

class AgainstSqlite {
  public:
    AgainstSqlite(QueryProcessor& processor, const Effort& effort)
        : processor_(processor), effort_(effort), dice_(effort.seed) {}

    // Queries on one table.
    void tables() {
        for (int i = 0; i < effort_.tables; ++i) {
            const TableInBoth pair(sqlite_, "x", rows(), dice_);
            std::vector<Named> columns;
            for (const auto& traits : all_columns()) columns.push_back({traits.name, traits});
            RandomQuery random(dice_, columns);
            for (int q = 0; q < effort_.queries; ++q) {
                one_query(random, {"x"}, {}, pair.table(), nullptr);
                selections(random, pair.table());
            }
        }
    }

    // Joins of two tables.
    void joins() {
        for (int i = 0; i < effort_.tables; ++i) {
            const TableInBoth x(sqlite_, "x", rows() / 4, dice_), y(sqlite_, "y", rows() / 4, dice_);
            std::vector<Named> columns;
            for (const auto* table : {"x", "y"}) {
                for (const auto& traits : all_columns())
                    columns.push_back({std::string(table) + "." + traits.name, traits});
            }
            RandomQuery random(dice_, columns);
            for (int q = 0; q < effort_.queries; ++q) {
                const auto [join, sql] = random_join();
                one_query(random, sql, join, x.table(), &y.table());
            }
        }
    }

  private:
    std::size_t rows() {
        return static_cast<std::size_t>(dice_.one_in(2) ? dice_.below(4) : dice_.below(effort_.rows));
    }

    std::pair<Join, Sql> random_join() {
        const auto& a = dice_.of(all_columns());
        const auto* b = &dice_.of(all_columns());
        const bool text = a.type == ColumnType::Text, large = a.type == ColumnType::I64 && a.wild;
        const auto can = [&](const ColumnTraits& c) {
            if (text || c.type == ColumnType::Text) return text && c.type == ColumnType::Text;
            return is_float(a.type) == is_float(c.type) || !(large || (c.type == ColumnType::I64 && c.wild));
        };
        while (!can(*b)) b = &dice_.of(all_columns());
        Join join{.left = a.name, .right = b->name, .left_name = "x", .right_name = "y"};
        join.method = static_cast<JoinMethod>(dice_.below(3));
        const auto x = std::string("x.") + a.name, y = std::string("y.") + b->name;
        const bool tenths = a.values == ColumnTraits::Values::Tenths || b->values == ColumnTraits::Values::Tenths;
        if (text || a.wild || b->wild || tenths || dice_.one_in(2)) return {join, {"x JOIN y ON " + x + " = " + y}};
        join.band = static_cast<double>(dice_.below(12)) / 4;
        return {join, {"x JOIN y ON abs(" + x + " - " + y + ") <= ?", {join.band}}};
    }

    void one_query(RandomQuery& random, const Sql& from, const std::optional<Join>& join, const Table& left,
                   const Table* right) {
        Query query{.outputs = {}, .join = join};
        Sql rest = Sql{" FROM "} + from;
        if (!dice_.one_in(8)) {
            const auto where = random.condition(4);
            query.where = where.predicate;
            rest += Sql{" WHERE "} + where.sql;
        }
        const auto all = rest;
        std::vector<Wanted> wanted;
        const auto kind = dice_.below(3);
        if (kind == 2) rest += Sql{group_by(random, query, wanted)};
        for (auto n = dice_.below(4) + 1; n > 0; --n) wanted.push_back(kind == 1 ? random.plain() : random.aggregate());
        if (kind == 1) rest += Sql{join ? " ORDER BY x.rowid, y.rowid" : " ORDER BY rowid"};
        if (dice_.one_in(3)) {
            query.limit = dice_.below(20);
            rest += Sql{" LIMIT ?", {static_cast<std::int64_t>(*query.limit)}};
        }
        Sql list{""};
        for (const auto& want : wanted) {
            query.outputs.push_back(want.output);
            list += Sql{list.text.empty() ? "" : ", "} + want.sql;
        }
        compare(query, Sql{"SELECT "} + list + rest.text, Sql{"SELECT COUNT(*)"} + all, rest.values, wanted, left,
                right);
    }

    std::string group_by(RandomQuery& random, Query& query, std::vector<Wanted>& wanted) {
        std::string names;
        for (auto n = dice_.below(2) + 1; n > 0; --n) {
            const auto& name = random.column().name;
            query.group_by.push_back(name);
            names += (names.empty() ? "" : ", ") + name;
            if (dice_.one_in(2)) wanted.push_back({{name, ""}, {name}});
        }
        return " GROUP BY " + names + " ORDER BY " + names;
    }

    void compare(const Query& query, Sql sql, const Sql& count, const std::vector<Value>& values,
                 const std::vector<Wanted>& wanted, const Table& left, const Table* right) {
        sql.values.insert(sql.values.end(), values.begin(), values.end());
        std::string shown_sql = sql.text + " --";
        for (const auto& value : sql.values) shown_sql.append(1, ' ').append(shown(value));
        INFO("seed " << effort_.seed << ": " << shown_sql);
        const auto plan = right ? QueryPlan(query, left.columns(), right->columns()) : QueryPlan(query, left.columns());
        std::vector<std::vector<Value>> rows;
        try {
            rows = sqlite_.run(sql);
        } catch (const std::runtime_error& error) {
            REQUIRE(std::string(error.what()) == "integer overflow");
            CHECK_THROWS_AS(run(plan, left, right), InvalidArgument);
            return;
        }
        const auto result = run(plan, left, right);
        REQUIRE(result.rows.size() == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            INFO("row " << i);
            REQUIRE(same_row(result.rows[i], rows[i], wanted));
        }
        REQUIRE(Value(static_cast<std::int64_t>(result.matched)) == sqlite_.run(count).front().front());
    }

    QueryResult run(const QueryPlan& plan, const Table& left, const Table* right) {
        return right ? processor_.run(plan, left, *right) : processor_.run(plan, left);
    }

    // Rows of conditions, and of combined selections.
    void selections(RandomQuery& random, const Table& table) {
        const auto a = random.condition(2), b = random.condition(1);
        const auto numbers = [&](const Sql& where) {
            std::vector<std::uint64_t> rows;
            for (const auto& row : sqlite_.run(Sql{"SELECT rowid - 1 FROM x WHERE "} + where + " ORDER BY rowid"))
                rows.push_back(static_cast<std::uint64_t>(std::get<std::int64_t>(row[0])));
            return rows;
        };
        INFO("seed " << effort_.seed << ": " << a.sql.text << " ; " << b.sql.text);
        const auto x = processor_.select(table, a.predicate), y = processor_.select(table, b.predicate);
        const auto expected = numbers(a.sql);
        REQUIRE(x.rows() == expected);
        REQUIRE(x.count() == expected.size());
        REQUIRE(processor_.count(table, a.predicate) == expected.size());
        REQUIRE((x & ~y).rows() == numbers(Sql{"("} + a.sql + ") AND NOT coalesce(" + b.sql + ", 0)"));
        REQUIRE((x | y).rows() == numbers(Sql{"("} + a.sql + ") OR (" + b.sql + ")"));
        medians(random.column(), x, a.sql, table);
    }

    // As SQL without our functions computes them.
    void medians(const Named& column, const Selection& of, const Sql& where, const Table& table) {
        const auto& name = column.name;
        const auto from = Sql{" FROM x WHERE ("} + where + ") AND " + name + " IS NOT NULL";
        const auto n = std::get<std::int64_t>(sqlite_.run(Sql{"SELECT COUNT(*)"} + from).front().front());
        const auto at = [&](std::int64_t place, const char* order) {
            auto rows = sqlite_.run(Sql{"SELECT " + name} + from + " ORDER BY " + name + order + " LIMIT 1" +
                                    Sql{" OFFSET ?", {place}});
            return rows.empty() ? Value() : rows.front().front();
        };
        const QueryAggregate median{.kind = QueryAggregate::Kind::Quantile, .column = name};
        REQUIRE(processor_.aggregate(table, median, &of) == at(std::max<std::int64_t>(0, (n + 1) / 2 - 1), ""));
        const auto k = dice_.below(5) + 1;
        REQUIRE(processor_.kth_largest(table, name, k, &of) == at(static_cast<std::int64_t>(k) - 1, " DESC"));
    }

    QueryProcessor& processor_;
    Effort effort_;
    Dice dice_;
    Sqlite sqlite_;
};

}  // namespace quadmill::test
