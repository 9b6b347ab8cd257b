#include "sql/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "query/plan/describe.hpp"
#include "query/plan/expression.hpp"
#include "query/table/cells.hpp"
#include "query/table/order.hpp"
#include "sql/binder.hpp"
#include "sql/order.hpp"
#include "sql/plans.hpp"
#include "sql/table_maker.hpp"

namespace quadmill::detail::sql {

namespace {

using Form = SqlAggregate::Form;
using query::TableData;

// ---- Parts of a statement

// Whether the keys or arguments of groups need this column.
bool needs(const SqlQuery& query, const std::string& name) {
    const auto uses = [&](const auto& all) {
        return std::ranges::any_of(all, [&](const auto& one) {
            return std::ranges::find(one.steps, name, &SqlStep::leaf) != one.steps.end();
        });
    };
    const auto takes = [&](const SqlAggregate& one) { return !one.argument.empty() && leaf_of(one.argument) == name; };
    return uses(query.group_by) || std::ranges::any_of(query.aggregates, takes);
}

bool in_condition(const std::optional<Predicate>& condition, const std::string& name) {
    if (!condition) return false;
    const auto names = query::columns_of(detail::Access::of(*condition));
    return std::ranges::find(names, name) != names.end();
}

// How a column has its values: as they are, as query::PrintedTexts, or as query::ordered_text().
enum class Spelling { Plain, Printed, Wide };

std::vector<Spelling> spellings(const SqlQuery& query) {
    std::unordered_map<std::string_view, const SqlColumn*> columns;
    for (const auto& column : query.columns) columns.try_emplace(column.leaf, &column);
    std::vector<Spelling> all;
    for (const auto& output : query.outputs) {
        auto& how = all.emplace_back(Spelling::Plain);
        if (!is_leaf(output.steps) || output.is_key) continue;
        const auto found = columns.find(leaf_of(output.steps));
        const auto* const column = found == columns.end() ? nullptr : found->second;
        if (column ? column->wide : query.is_wide(leaf_of(output.steps))) how = Spelling::Wide;
        if (column && column->printed) how = Spelling::Printed;
    }
    return all;
}

// ---- Aggregates that the library does not have

Numbers distinct_counts(const TableData& table, const RowList& rows, std::size_t column, const GroupNumbers& groups,
                        std::vector<std::size_t> by, unsigned threads) {
    const auto& data = *table.columns[column];
    if (by.empty() && data.max - data.min < 64 * rows.size()) {
        // A bit per key between the smallest and the largest one, all NaNs together.
        const query::Cells cells(table, column);
        std::vector<bool> seen(data.max - data.min + 1);
        std::int64_t count = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!cells.has_value(rows[i])) continue;
            auto bit = seen[std::min(cells.key(rows[i]), std::max(data.min, query::first_nan(data.type))) - data.min];
            count += bit ? 0 : 1;
            bit = true;
        }
        return {.integers = {count}, .valid = {true}};
    }
    // Groups of the keys and the value: each is counted at the first of its rows.
    by.push_back(column);
    const auto finer = group_numbers(table, rows, by, threads);
    Numbers counts{.integers = std::vector<std::int64_t>(groups.groups), .valid = std::vector(groups.groups, true)};
    std::vector<bool> seen(finer.groups);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (seen[finer[i]] || !query::has_value(data, rows[i])) continue;
        seen[finer[i]] = true;
        ++counts.integers[groups[i]];
    }
    return counts;
}

// By Welford's method: the mean and the sum of squares of deviations from it are updated with each value.
Numbers variances(const TableData& table, const RowList& rows, std::size_t column, const GroupNumbers& groups,
                  const SqlAggregate& what) {
    struct State {
        double n = 0, mean = 0, squares = 0;
    };
    std::vector<State> states(groups.groups);
    const query::Cells cells(table, column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!cells.has_value(rows[i])) continue;
        auto& [n, mean, squares] = states[groups[i]];
        const auto value = cells.visit(rows[i], [](auto v) { return static_cast<double>(v); });
        const double before = value - mean;
        mean += before / ++n;
        squares += before * (value - mean);
    }
    Numbers found{.are_integers = false};
    for (const auto& [n, mean, squares] : states) {
        const double over = what.population ? n : n - 1;
        found.valid.push_back(over > 0);
        const auto value = over > 0 ? squares / over : 0;
        found.doubles.push_back(what.root ? std::sqrt(value) : value);
    }
    return found;
}

// ---- The run

class Run {
  public:
    Run(const SqlQuery& query, const std::vector<Table>& tables, QueryProcessor& processor, const RunOptions& options,
        const TakeRow& take)
        : query_(query), given_(tables), tables_(tables), processor_(processor), options_(options), take_(take) {}

    SqlAnswer operator()() {
        where_ = query_.where;
        if (query_.join && !joins_in_plan(query_)) {
            join();
        } else if (query_.join && !query_.groups()) {
            stream(plain_rows(query_));
            return std::move(answer_);
        }
        if (tables_.size() == 1) compute_rows();
        if (!query_.groups()) {
            const auto rows = selected(tables_[0], where_);
            answer_.matched = rows.size();
            out(tables_[0], rows);
            return std::move(answer_);
        }
        if (groups_are_rows()) {
            stream(grouping(query_));
            return std::move(answer_);
        }
        auto grouped = group();
        for (const auto& one : query_.computed) {
            if (one.of_groups) add_computed(grouped, one, RowList(grouped.rows()));
        }
        const auto rows = selected(grouped, query_.having);
        out(grouped, query_.distinct ? distinct(grouped, rows) : rows);
        return std::move(answer_);
    }

  private:
    void note(const std::string& node, std::uint64_t rows, const cpu::Stopwatch& time) {
        answer_.nodes.push_back({node, rows, time.ms()});
    }
    // Also keeps what the library noted.
    void take(QueryResult result) {
        answer_.matched = result.matched;
        for (auto& node : result.nodes) answer_.nodes.push_back(std::move(node));
    }

    [[nodiscard]] RowList selected(const Table& table, const std::optional<Predicate>& where) {
        if (!where) return RowList(table.rows());
        const cpu::Stopwatch time;
        auto rows = RowList(processor_.select(table, *where).rows());
        note(query::describe(detail::Access::of(*where)), rows.size(), time);
        return rows;
    }

    static void add_computed(Table& table, const SqlComputed& one, const RowList& rows) {
        auto numbers = one.pattern ? matches(one, data_of(table), rows) : computed(one.steps, data_of(table), rows);
        if (rows.has_all(table.rows())) return add(table, one.leaf, std::move(numbers));
        // All other rows are NULL.
        numbers.visit([&]<class T>(const std::vector<T>& some) {
            std::vector<T> all(table.rows());
            std::vector<bool> valid(table.rows(), false);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                all[rows[i]] = some[i];
                valid[rows[i]] = numbers.valid[i];
            }
            table.add(one.leaf, std::move(all), std::move(valid));
        });
    }

    // Adds the computed columns that WHERE needs; then those of keys and arguments, only of selected rows.
    void compute_rows() {
        auto& table = tables_[0];
        const cpu::Stopwatch time;
        std::optional<RowList> rows;
        for (const bool first : {true, false}) {
            for (const auto& one : query_.computed) {
                if (one.of_groups || in_condition(where_, one.leaf) != first) continue;
                if (!first && !needs(query_, one.leaf)) continue;
                if (!first && !rows) rows = selected(table, where_);
                add_computed(table, one, first ? RowList(table.rows()) : *rows);
                note("compute " + one.leaf, table.rows(), time);
            }
        }
    }

    // Keeps the pairs of a join as one table.
    void join() {
        const cpu::Stopwatch time;
        // Conditions of an inner join that need no computed column select rows before the join.
        const bool outer = query_.join->outer;
        const auto names = where_ ? query::columns_of(detail::Access::of(*where_)) : std::vector<std::string>();
        const bool plain = std::ranges::none_of(names, [&](const std::string& name) {
            return std::ranges::find(query_.computed, name, &SqlComputed::leaf) != query_.computed.end();
        });
        auto numbered = tables_;
        std::string row_column = "row";  // of each table, to find the rows of a pair
        for (const auto& table : tables_) {
            while (data_of(table).places.contains(row_column)) row_column += '\'';
        }
        Query pairs{.outputs = {}, .join = join_of(query_, options_)};
        for (std::size_t i = 0; i < 2; ++i) {
            std::vector<std::int64_t> rows(numbered[i].rows());
            for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::int64_t>(k);
            numbered[i].add(row_column, std::move(rows));
            pairs.outputs.push_back({query_.sources[i].name + "." + row_column, std::to_string(i)});
        }
        if (!outer && plain) pairs.where = std::exchange(where_, {});
        std::array<std::vector<std::uint64_t>, 2> found;
        auto &left = found[0], &right = found[1];  // not a structured binding, which lambdas do not capture in clang 14
        std::uint64_t next = 0;                    // the first left row that has not been seen
        const auto up_to = [&](std::uint64_t row) {
            for (; outer && next < row; ++next) {
                left.push_back(next);
                right.push_back(no_row);
            }
            next = std::max(next, row + 1);
        };
        const auto plan = QueryPlan(pairs, numbered[0].columns(), numbered[1].columns());
        processor_.run(plan, numbered[0], numbered[1], [&](std::span<const std::vector<Value>> rows) {
            for (const auto& row : rows) {
                const auto a = static_cast<std::uint64_t>(std::get<std::int64_t>(row[0]));
                up_to(a);
                left.push_back(a);
                right.push_back(static_cast<std::uint64_t>(std::get<std::int64_t>(row[1])));
            }
            if (options_.before_bytes) options_.before_bytes(0);
        });
        if (outer) up_to(tables_[0].rows());
        const auto columns = tables_[0].columns().size() + tables_[1].columns().size();
        if (options_.before_bytes) options_.before_bytes(left.size() * columns * sizeof(std::int64_t));
        tables_ = {gathered(tables_, found, query_.sources)};
        note(std::string(outer ? "left " : "") + "join " + query_.sources[0].name + " and " + query_.sources[1].name,
             tables_[0].rows(), time);
    }

    // Whether the library's groups are the answer.
    [[nodiscard]] bool groups_are_rows() const {
        const auto plain = [](const SqlAggregate& one) { return one.form == Form::Plain; };
        return !query_.having && !query_.distinct && query_.order_by.empty() && all_leaves(query_.outputs) &&
               std::ranges::all_of(query_.aggregates, plain) &&
               std::ranges::none_of(query_.computed, &SqlComputed::of_groups);
    }

    QueryResult run(const Query& plan, const QueryProcessor::TakeRows& rows) {
        const auto planned = plan_of(plan, query_, tables_, options_);
        return tables_.size() == 1 ? processor_.run(planned, tables_[0], rows)
                                   : processor_.run(planned, tables_[0], tables_[1], rows);
    }

    // Pairs or groups as they come.
    void stream(Query plan) {
        plan.where = where_;
        if (query_.limit) plan.limit = rows_wanted(query_);
        std::vector<std::size_t> places;             // of the outputs in a row
        for (const auto& output : query_.outputs) {  // groups are called by their leaves, pairs are in order
            const auto of = std::ranges::find(plan.outputs, leaf_of(output.steps), &Output::name);
            const auto place = static_cast<std::size_t>(of - plan.outputs.begin());
            places.push_back(query_.groups() ? place : places.size());
        }
        std::uint64_t skip = query_.offset;
        std::vector<SqlCell> cells(places.size());
        const auto spelled = spellings(query_);
        take(run(plan, [&](std::span<const std::vector<Value>> rows) {
            for (const auto& row : rows.subspan(std::min<std::uint64_t>(skip, rows.size()))) {
                for (std::size_t k = 0; k < places.size(); ++k) cells[k] = to_cell(row[places[k]], spelled[k]);
                take_(cells);
            }
            skip -= std::min<std::uint64_t>(skip, rows.size());
        }));
    }
    static SqlCell to_cell(const Value& value, Spelling how) {
        const auto cell = std::visit([](const auto& v) -> SqlCell { return v; }, value);
        if (cell.index() == 0 || how == Spelling::Plain) return cell;
        return how == Spelling::Wide ? query::digits_of(std::get<std::string_view>(cell))
                                     : query::PrintedTexts::text(std::get<std::int64_t>(cell));
    }

    // The groups as a table.
    [[nodiscard]] Table group() {
        auto plan = grouping(query_);
        plan.where = where_;
        std::vector<ColumnInfo> infos;
        for (const auto& output : plan.outputs) {
            const bool rows = output.name == rows_of_all;
            infos.push_back({output.name, rows ? ColumnType::I64 : type_of(query_, given_, output.name)});
        }
        TableMaker maker(infos);
        take(run(plan, [&](std::span<const std::vector<Value>> rows) {
            for (const auto& row : rows) maker.add(row);
        }));
        auto made = maker.table();
        const auto special = [](const SqlAggregate& one) { return one.form != Form::Plain; };
        if (std::ranges::any_of(query_.aggregates, special)) add_special(made);
        return made;
    }
    void add_special(Table& made) {
        const cpu::Stopwatch time;
        const auto& data = data_of(tables_[0]);
        const auto rows = selected(tables_[0], where_);
        std::vector<std::size_t> by;
        for (const auto& key : query_.group_by) by.push_back(data.places.at(leaf_of(key.steps)));
        const auto groups = group_numbers(data, rows, by, options_.threads);
        for (const auto& one : query_.aggregates) {
            if (one.form == Form::Plain) continue;
            const auto column = data.places.at(leaf_of(one.argument));
            add(made, one.leaf,
                one.form == Form::Distinct ? distinct_counts(data, rows, column, groups, by, options_.threads)
                                           : variances(data, rows, column, groups, one));
            note(one.leaf, made.rows(), time);
        }
    }

    // DISTINCT of groups: the first of the rows with equal outputs, in the order of these.
    [[nodiscard]] RowList distinct(Table& grouped, const RowList& rows) const {
        std::vector<std::size_t> columns;
        for (const auto& output : query_.outputs) {
            if (!is_leaf(output.steps)) {
                auto name = text_of(output.steps);
                while (data_of(grouped).places.contains(name)) name += '\'';
                add_computed(grouped, {.steps = output.steps, .leaf = name}, rows);
                columns.push_back(data_of(grouped).places.at(name));
            } else {
                columns.push_back(data_of(grouped).places.at(leaf_of(output.steps)));
            }
        }
        for (const auto& by : query_.order_by) {
            if (std::ranges::find(query_.outputs, by.steps, &SqlOutput::steps) == query_.outputs.end())
                throw SqlError("with DISTINCT, ORDER BY takes outputs only", query_.text, by.offset);
        }
        const auto numbers = group_numbers(data_of(grouped), rows, columns, options_.threads);
        std::vector<std::uint64_t> first(numbers.groups, no_row);
        for (std::size_t i = 0; i < rows.size(); ++i) first[numbers[i]] = std::min(first[numbers[i]], rows[i]);
        return RowList(std::move(first));
    }

    // The answer: orders the rows, and computes the outputs.
    void out(const Table& table, const RowList& rows) {
        const auto& data = data_of(table);
        const cpu::Stopwatch time;
        const auto found = ordered(data, rows, query_.order_by, query_.offset,
                                   query_.limit.value_or(std::numeric_limits<std::uint64_t>::max()), options_.threads);
        if (!query_.order_by.empty()) note("order", found.size(), time);
        emit(data, found);
        note("result", found.size(), time);
    }
    void emit(const TableData& data, const RowList& rows) const;

    const SqlQuery& query_;
    const std::vector<Table>& given_;
    std::vector<Table> tables_;  // with computed columns, or the joined rows
    QueryProcessor& processor_;
    const RunOptions& options_;
    const TakeRow& take_;
    std::optional<Predicate> where_;
    SqlAnswer answer_;
};

SqlCell cell_of(const Numbers& numbers, std::size_t i) {
    if (!numbers.valid[i]) return {};
    return numbers.are_integers ? SqlCell(numbers.integers[i]) : SqlCell(numbers.doubles[i]);
}

// The cells of a column in rows [begin, begin + n) of a list, each `step` after the one before.
void put_cells(const TableData& table, const query::ColumnData& column, Spelling spelled, const RowList& rows,
               std::size_t begin, std::size_t n, SqlCell* to, std::size_t step) {
    query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
        const auto& values = std::get<std::vector<T>>(column.values);
        for (std::size_t i = 0; i < n; ++i, to += step) {
            const auto row = rows[begin + i];
            const auto value = values[row];
            if (!query::has_value(column, row)) {
                *to = {};
            } else if constexpr (std::is_floating_point_v<T>) {
                *to = static_cast<double>(value);
            } else if (std::is_same_v<T, std::uint32_t> && column.type == ColumnType::Text) {
                const std::string_view text = (*table.dictionary)[static_cast<std::uint32_t>(value)];
                *to = spelled == Spelling::Wide ? query::digits_of(text) : text;
            } else if (spelled == Spelling::Printed) {
                *to = query::PrintedTexts::text(value);
            } else {
                *to = static_cast<std::int64_t>(value);
            }
        }
    });
}

void Run::emit(const TableData& data, const RowList& rows) const {
    constexpr std::size_t at_once = 1024;
    const auto spelled = spellings(query_);
    const auto& outputs = query_.outputs;
    const auto width = outputs.size();
    std::vector<SqlCell> cells(std::min(at_once, rows.size()) * width);
    for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
        const auto n = std::min(at_once, rows.size() - begin);
        std::optional<RowList> some;
        for (std::size_t k = 0; k < width; ++k) {
            const auto& steps = outputs[k].steps;
            if (is_leaf(steps)) {
                const auto& column = *data.columns[data.places.at(leaf_of(steps))];
                put_cells(data, column, spelled[k], rows, begin, n, cells.data() + k, width);
                continue;
            }
            if (!some) some = rows.part(begin, n);
            const auto numbers = computed(steps, data, *some);
            for (std::size_t i = 0; i < n; ++i) cells[i * width + k] = cell_of(numbers, i);
        }
        for (std::size_t i = 0; i < n; ++i) take_(std::span(cells).subspan(i * width, width));
    }
}

}  // namespace

SqlAnswer run(const SqlQuery& query, const std::vector<Table>& tables, QueryProcessor& processor,
              const RunOptions& options, const TakeRow& take) {
    return Run(query, tables, processor, options, take)();
}

}  // namespace quadmill::detail::sql
