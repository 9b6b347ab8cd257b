#include "bench/sqlite_rival.hpp"

#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "query/table/cells.hpp"
#ifdef QUADMILL_SQLITE
#include <dlfcn.h>
#include <sqlite3.h>
#endif

namespace quadmill::detail::bench {

namespace {

using query::Leaf;
using query::TableData;

// SQL, and the values for its question marks.
struct Statement {
    std::string sql;
    std::vector<Value> values;

    void mark(Value value) {
        sql += "?";
        values.push_back(std::move(value));
    }
};

void add(const TableData& table, const query::Range& range, Statement& to) {
    const auto& column = *table.columns[range.column];
    const auto bound = [&](const char* op, query::Key key) {
        to.sql += op;
        to.mark(query::value_of(table, range.column, key));
    };
    to.sql += column.name;
    if (range.low <= column.min) return bound(" <= ", range.high);
    if (range.high >= column.max) return bound(" >= ", range.low);
    bound(" BETWEEN ", range.low);
    bound(" AND ", range.high);
}

void add(const TableData& table, const query::Member& member, Statement& to) {
    to.sql += table.columns[member.column]->name + " IN (";
    for (std::size_t i = 0; i < member.keys.size(); ++i) {
        if (i > 0) to.sql += ", ";
        to.mark(query::value_of(table, member.column, member.keys[i]));
    }
    to.sql += ")";
}

void add(const TableData& table, const query::Linear& linear, Statement& to) {
    for (std::size_t i = 0; i < linear.columns.size(); ++i) {
        if (i > 0) to.sql += " + ";
        to.mark(linear.factors[i]);
        to.sql += " * " + table.columns[linear.columns[i]]->name;
    }
    to.sql += " <= ";
    to.mark(linear.constant);
}

void add(const TableData& table, const Leaf& leaf, Statement& to) {
    if (const auto* range = std::get_if<query::Range>(&leaf)) return add(table, *range, to);
    if (const auto* member = std::get_if<query::Member>(&leaf)) return add(table, *member, to);
    if (const auto* linear = std::get_if<query::Linear>(&leaf)) return add(table, *linear, to);
    if (const auto* pair = std::get_if<query::Pair>(&leaf)) {
        to.sql += table.columns[pair->a]->name + " <= " + table.columns[pair->b]->name;
        return;
    }
    to.sql += table.columns[std::get<query::IsNull>(leaf).column]->name + " IS NULL";
}

// Counts from the nearer end.
Statement ranked(const TableData& table, const QueryCase& which) {
    const auto& name = table.columns[which.column]->name;
    const auto above = table.rows - 1 - which.k;
    const bool from_top = above < which.k;
    Statement out{"SELECT " + name + " FROM t ORDER BY " + name + (from_top ? " DESC" : "") + " LIMIT 1 OFFSET ", {}};
    out.mark(static_cast<std::int64_t>(from_top ? above : which.k));
    return out;
}

Statement statement(const TableData& table, const QueryCase& which) {
    if (which.ask == QueryCase::Ask::Kth || which.ask == QueryCase::Ask::Min) return ranked(table, which);
    if (which.ask == QueryCase::Ask::Sum) return {"SELECT sum(" + table.columns[which.column]->name + ") FROM t", {}};
    if (which.ask == QueryCase::Ask::Groups)
        return {"SELECT sum(n * most) FROM (SELECT count(*) AS n, max(a) AS most FROM t GROUP BY " +
                    table.columns[which.column]->name + ")",
                {}};
    Statement out{"SELECT count(*) FROM t WHERE ", {}};
    for (std::size_t i = 0; i < which.where.size(); ++i) {
        out.sql += i > 0 ? " AND (" : "(";
        for (std::size_t j = 0; j < which.where[i].size(); ++j) {
            if (j > 0) out.sql += " OR ";
            add(table, which.where[i][j], out);
        }
        out.sql += ")";
    }
    return out;
}

#ifdef QUADMILL_SQLITE
// SQLite's functions. The library is opened when a bench needs it, so that the command does not depend on it.
#define QUADMILL_SQLITE_FUNCTION(name) \
    decltype(&sqlite3_##name) name = find<decltype(&sqlite3_##name)>("sqlite3_" #name)
struct Functions {
    void* library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    QUADMILL_SQLITE_FUNCTION(open);
    QUADMILL_SQLITE_FUNCTION(close);
    QUADMILL_SQLITE_FUNCTION(exec);
    QUADMILL_SQLITE_FUNCTION(errmsg);
    QUADMILL_SQLITE_FUNCTION(prepare_v2);
    QUADMILL_SQLITE_FUNCTION(bind_int64);
    QUADMILL_SQLITE_FUNCTION(bind_double);
    QUADMILL_SQLITE_FUNCTION(bind_null);
    QUADMILL_SQLITE_FUNCTION(step);
    QUADMILL_SQLITE_FUNCTION(column_int64);
    QUADMILL_SQLITE_FUNCTION(column_double);
    QUADMILL_SQLITE_FUNCTION(reset);
    QUADMILL_SQLITE_FUNCTION(finalize);

    template <class Function>
    [[nodiscard]] Function find(const char* name) const {
        return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
    }
};
#undef QUADMILL_SQLITE_FUNCTION
const Functions& sqlite() {
    static const Functions functions;
    return functions;
}

class Sqlite final : public SqliteTable {
  public:
    explicit Sqlite(std::shared_ptr<const TableData> table) : table_(std::move(table)) {
        check(sqlite().open(":memory:", &database_));
        load();
    }
    Sqlite(const Sqlite&) = delete;
    Sqlite& operator=(const Sqlite&) = delete;
    ~Sqlite() override {
        for (const auto& [sql, prepared] : statements_) sqlite().finalize(prepared);
        sqlite().close(database_);
    }

    [[nodiscard]] std::uint64_t answer(const QueryCase& which) override {
        const auto asked = statement(*table_, which);
        auto* prepared = get(asked.sql);
        for (std::size_t i = 0; i < asked.values.size(); ++i) bind(prepared, static_cast<int>(i + 1), asked.values[i]);
        if (sqlite().step(prepared) != SQLITE_ROW) fail();
        const auto found = result(prepared, which);
        check(sqlite().reset(prepared));
        return found;
    }

  private:
    [[noreturn]] void fail() const { throw Error(std::string("SQLite: ") + sqlite().errmsg(database_)); }
    void check(int status) const {
        if (status != SQLITE_OK) fail();
    }
    void execute(const char* sql) const { check(sqlite().exec(database_, sql, nullptr, nullptr, nullptr)); }
    sqlite3_stmt* get(const std::string& sql) {
        auto& prepared = statements_[sql];
        if (!prepared) check(sqlite().prepare_v2(database_, sql.c_str(), -1, &prepared, nullptr));
        return prepared;
    }
    void bind(sqlite3_stmt* prepared, int at, const Value& value) const {
        if (const auto* whole = std::get_if<std::int64_t>(&value)) {
            check(sqlite().bind_int64(prepared, at, *whole));
        } else if (const auto* real = std::get_if<double>(&value)) {
            check(sqlite().bind_double(prepared, at, *real));
        } else {
            check(sqlite().bind_null(prepared, at));
        }
    }
    [[nodiscard]] std::uint64_t result(sqlite3_stmt* prepared, const QueryCase& which) const {
        const auto whole = sqlite().column_int64(prepared, 0);
        if (which.ask != QueryCase::Ask::Kth && which.ask != QueryCase::Ask::Min)
            return static_cast<std::uint64_t>(whole);
        return query::visit_column_type(
            table_->columns[which.column]->type, [&]<class T>(const T* /*type*/) -> std::uint64_t {
                if constexpr (std::is_floating_point_v<T>)
                    return query::KeyOf<T>::key(static_cast<T>(sqlite().column_double(prepared, 0)));
                else
                    return query::KeyOf<T>::key(static_cast<T>(whole));
            });
    }
    [[nodiscard]] static Value value_at(const query::ColumnData& column, std::size_t row) {
        if (!query::has_value(column, row)) return {};
        return query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) -> Value {
            const auto value = std::get<std::vector<T>>(column.values)[row];
            if constexpr (std::is_floating_point_v<T>)
                return static_cast<double>(value);
            else
                return static_cast<std::int64_t>(value);
        });
    }
    void load() {
        std::string names, marks;
        for (const auto& column : table_->columns) {
            const bool real = column->type == ColumnType::F32 || column->type == ColumnType::F64;
            names += (names.empty() ? "" : ", ") + column->name + (real ? " REAL" : " INTEGER");
            marks += marks.empty() ? "?" : ", ?";
        }
        execute("PRAGMA journal_mode = OFF");
        execute(("CREATE TABLE t (" + names + ")").c_str());
        execute("BEGIN");
        auto* insert = get("INSERT INTO t VALUES (" + marks + ")");
        for (std::size_t row = 0; row < table_->rows; ++row) {
            for (std::size_t i = 0; i < table_->columns.size(); ++i)
                bind(insert, static_cast<int>(i + 1), value_at(*table_->columns[i], row));
            if (sqlite().step(insert) != SQLITE_DONE) fail();
            check(sqlite().reset(insert));
        }
        execute("COMMIT");
    }

    std::shared_ptr<const TableData> table_;
    sqlite3* database_ = nullptr;
    std::map<std::string, sqlite3_stmt*> statements_;
};
#endif

}  // namespace

std::string sql_of(const TableData& table, const QueryCase& which) {
    return statement(table, which).sql;
}

#ifdef QUADMILL_SQLITE
bool has_sqlite() {
    return sqlite().library != nullptr;
}
std::unique_ptr<SqliteTable> open_sqlite(const std::shared_ptr<const TableData>& table) {
    return has_sqlite() ? std::make_unique<Sqlite>(table) : nullptr;
}
#else
bool has_sqlite() {
    return false;
}
std::unique_ptr<SqliteTable> open_sqlite(const std::shared_ptr<const TableData>& /*table*/) {
    return nullptr;
}
#endif

}  // namespace quadmill::detail::bench
