// Queries for JavaScript (web/package/table.js): a table whose columns are in textures, with the bitmap engine of
// src/query. A module serves one table in one context. A question is begun, JavaScript polls, then its answer is read.
#include "query/table/table.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "gl/web/page.hpp"
#include "pass/transfer.hpp"
#include "quadmill/context.hpp"
#include "quadmill/plan.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/key_range.hpp"
#include "query/run/rows_run.hpp"
#include "query/run/value_later.hpp"
#include "query/table/key.hpp"
#include "web/call.hpp"

namespace quadmill::detail::web {

namespace {

using namespace query;  // NOLINT(google-build-using-namespace): this file is a front door of that room

constexpr const char* function = "Table";

// Words of an answer: rows, counts of bins, or a value (its kind, then its bits).
using Answer = std::vector<std::uint32_t>;
enum class Kind : std::uint32_t { Null, Integer, Double };

class Question {
  public:
    Question() = default;
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    virtual ~Question() = default;
    [[nodiscard]] virtual bool ready() = 0;
    virtual void read(Answer& to) = 0;
};

void put(Answer& to, Kind kind, std::uint64_t bits) {
    to = {static_cast<std::uint32_t>(kind), low(bits), high(bits)};
}

class CountQuestion final : public Question {
  public:
    explicit CountQuestion(Counting of) : of_(std::move(of)) {}
    [[nodiscard]] bool ready() override { return of_.ready(); }
    void read(Answer& to) override { put(to, Kind::Integer, of_.result()); }

  private:
    Counting of_;
};

class ValueQuestion final : public Question {
  public:
    explicit ValueQuestion(Later<Value> of) : of_(std::move(of)) {}
    [[nodiscard]] bool ready() override { return of_.ready(); }
    void read(Answer& to) override {
        const auto value = of_.result();
        if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            put(to, Kind::Integer, static_cast<std::uint64_t>(*integer));
        } else if (const auto* number = std::get_if<double>(&value)) {
            put(to, Kind::Double, std::bit_cast<std::uint64_t>(*number));
        } else {
            put(to, Kind::Null, 0);
        }
    }

  private:
    Later<Value> of_;
};

// All texels of a texture of 32-bit words, which `take` turns into the answer.
template <class Take>
class TexelQuestion final : public Question {
  public:
    TexelQuestion(gl::Device& device, const gl::Texture& texture, Take take) : take_(std::move(take)) {
        back_.request(device, texture);
    }
    [[nodiscard]] bool ready() override { return back_.ready(); }
    void read(Answer& to) override {
        const auto bytes = back_.wait();
        std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
        std::memcpy(words.data(), bytes.data(), bytes.size());
        take_(words, to);
    }

  private:
    pass::ReadBack back_;
    Take take_;
};

// Made in this order, and destroyed in the reverse one.
struct Page {
    Context context = Context::adopt(gl::page_function);
    gl::Device& device = *Access::of(context);
    GpuTables tables{device, 1};
    std::shared_ptr<TableData> data = std::make_shared<TableData>();
    std::shared_ptr<ColumnData> column;  // the next one
    std::shared_ptr<BitmapColumns> columns;
    std::vector<Predicate> conditions;  // a stack
    std::map<int, std::unique_ptr<Question>> questions;
    int last = 0;
    Answer answer;
};
std::unique_ptr<Page> page;

ColumnType type_of(int type) {
    constexpr std::array types{ColumnType::F32, ColumnType::F64, ColumnType::I32, ColumnType::U32};
    if (type < 1 || type > static_cast<int>(types.size()))
        throw InvalidArgument("columns of a table are f32, f64, i32 or u32");
    return types[static_cast<std::size_t>(type - 1)];
}

// Bounds of the keys, which save passes of ranks.
void find_bounds(ColumnData& column) {
    std::visit(
        [&]<class V>(const V& values) {
            if constexpr (!std::is_same_v<V, HostObjects>) {
                if (values.empty()) return;
                column.min = ~Key{0};
                column.max = 0;
                for (const auto value : values) {
                    const Key key = KeyOf<typename V::value_type>::key(value);
                    column.min = std::min(column.min, key);
                    column.max = std::max(column.max, key);
                }
            }
        },
        column.values);
}

Predicate taken() {
    auto top = std::move(page->conditions.back());
    page->conditions.pop_back();
    return top;
}
ColumnName named(std::size_t column) {
    return quadmill::column(page->data->columns.at(column)->name);
}

// The rows that satisfy the condition on the stack.
BitsPtr selected() {
    const auto where = taken();
    check(function, Access::of(where), page->data->infos);
    return select_at_once(*page->columns, bind(function, Access::of(where), *page->data));
}

// Begins a question in a session: `make(rows)` draws and returns it.
template <class Make>
int begin(const Make& make) {
    return call([&] {
        const gl::Scope scope(page->device, function);
        page->questions[++page->last] = make(selected());
        gl::flush(page->device);
        scope.check();
    });
}

template <class Take>
std::unique_ptr<Question> texels(const gl::Texture& texture, Take take) {
    return std::make_unique<TexelQuestion<Take>>(page->device, texture, std::move(take));
}

void rows_of(const std::vector<std::uint32_t>& words, Answer& to) {
    to.clear();
    for (std::size_t w = 0; w < words.size(); ++w) {
        for (auto word = words[w]; word != 0; word &= word - 1)
            to.push_back(static_cast<std::uint32_t>(w * Shape::rows_a_word) +
                         static_cast<std::uint32_t>(std::countr_zero(word)));
    }
}

}  // namespace

QUADMILL_EXPORT(qm_open) int qm_open() {
    return call([] { page = std::make_unique<Page>(); });
}
QUADMILL_EXPORT(qm_close) void qm_close() {
    page.reset();
}

// Before the first column. Throws if textures cannot hold that many rows.
QUADMILL_EXPORT(qm_table_rows) int qm_table_rows(std::size_t rows) {
    return call([&] {
        const gl::Scope scope(page->device, function);
        const auto max = page->tables.max_rows(texels_a_word(ColumnType::F64));
        if (rows > max)
            throw InvalidArgument("a table has at most " + std::to_string(max) + " rows here, not " +
                                  std::to_string(rows));
        page->data->rows = rows;
        static_cast<void>(page->tables.open(*page->data, max, [](const RowPart&, auto pool) {
            return page->columns = std::make_shared<BitmapColumns>(page->tables, std::move(pool));
        }));
        scope.check();
    });
}

// A column in memory or, if `texture` is not 0, in that texture. Its values go to qm_table_values(), then
// qm_table_add() copies it to a texture of the table.
QUADMILL_EXPORT(qm_table_column)
int qm_table_column(const char* name, int type, std::uint32_t texture) {
    return call([&] {
        auto column = std::make_shared<ColumnData>();
        column->name = name;
        column->type = type_of(type);
        if (texture != 0) {
            column->values = HostObjects{std::vector{texture}};
        } else {
            visit_column_type(column->type,
                              [&]<class T>(const T* /*type*/) { column->values = std::vector<T>(page->data->rows); });
        }
        page->column = std::move(column);
    });
}
QUADMILL_EXPORT(qm_table_values) void* qm_table_values() {
    return std::visit(
        []<class V>(V& values) -> void* {
            if constexpr (std::is_same_v<V, HostObjects>) {
                return nullptr;
            } else {
                return values.data();
            }
        },
        page->column->values);
}
QUADMILL_EXPORT(qm_table_add) int qm_table_add() {
    return call([] {
        const gl::Scope scope(page->device, function);
        auto& data = *page->data;
        auto& column = *page->column;
        find_bounds(column);
        if (key_bits(column.type) == 32) column.max = std::min(column.max, Key{0xffffffffU});
        data.columns.push_back(page->column);
        data.infos.push_back({column.name, column.type});
        data.places[column.name] = data.columns.size() - 1;
        page->columns->add(data, {0, data.rows}, std::array{data.columns.size() - 1});
        column.values = std::vector<float>();  // it is in a texture now
        scope.check();
    });
}

// Conditions are on a stack: the last ones are replaced by their combination.
QUADMILL_EXPORT(qm_where_compare) int qm_where_compare(std::size_t column, int op, double value) {
    return call([&] { page->conditions.push_back(named(column).compare(static_cast<Comparison>(op), value)); });
}
QUADMILL_EXPORT(qm_where_columns) int qm_where_columns(std::size_t column, int op, std::size_t other) {
    return call([&] { page->conditions.push_back(named(column).compare(static_cast<Comparison>(op), named(other))); });
}
QUADMILL_EXPORT(qm_where_in) int qm_where_in(std::size_t column, const double* values, std::size_t count) {
    return call([&] { page->conditions.push_back(named(column).in({values, values + count})); });
}
QUADMILL_EXPORT(qm_where_always) int qm_where_always(int value) {
    return call([&] { page->conditions.push_back(Predicate::always(value != 0)); });
}
QUADMILL_EXPORT(qm_where_join) int qm_where_join(int both) {
    return call([&] {
        const auto b = taken(), a = taken();
        page->conditions.push_back(both != 0 ? a && b : a || b);
    });
}
QUADMILL_EXPORT(qm_where_not) int qm_where_not() {
    return call([] { page->conditions.push_back(!taken()); });
}
// After an error between two parts of a condition.
QUADMILL_EXPORT(qm_where_clear) void qm_where_clear() {
    page->conditions.clear();
}

// Questions about the rows of the condition on the stack. The number of the question is qm_table_asked().
QUADMILL_EXPORT(qm_table_count) int qm_table_count() {
    return begin(
        [](const BitsPtr& rows) { return std::make_unique<CountQuestion>(page->columns->count_later(*rows)); });
}
QUADMILL_EXPORT(qm_table_select) int qm_table_select() {
    return begin([](const BitsPtr& rows) { return texels(BitmapColumns::texture(*rows), rows_of); });
}
// `kind` is of QueryAggregate.
QUADMILL_EXPORT(qm_table_aggregate)
int qm_table_aggregate(int kind, std::size_t column, double phi, double k) {
    return begin([&](const BitsPtr& rows) {
        const QueryAggregate what{.kind = static_cast<QueryAggregate::Kind>(kind),
                                  .column = page->data->columns.at(column)->name,
                                  .phi = phi,
                                  .k = static_cast<std::uint64_t>(k)};
        return std::make_unique<ValueQuestion>(read_later(page->device, page->columns->measure(what, column, *rows),
                                                          {what, {.table = 0, .column = column}},
                                                          {{page->data, nullptr}}));
    });
}
// Bin i has values from edge i to before edge i + 1; the last bin has the last edge, too. Pre: edges ascend.
QUADMILL_EXPORT(qm_table_histogram)
int qm_table_histogram(std::size_t column, const double* edges, std::size_t bins) {
    return begin([&](const BitsPtr& rows) {
        const auto& of = *page->data->columns.at(column);
        std::vector<query::KeyRange> ranges;
        std::vector<std::size_t> places;  // bins without any possible key are left out
        for (std::size_t i = 0; i < bins; ++i) {
            const auto before = i + 1 < bins ? Comparison::Less : Comparison::LessOrEqual;
            const auto keys = intersection(keys_of(*page->data, of, Comparison::GreaterOrEqual, edges[i]),
                                           keys_of(*page->data, of, before, edges[i + 1]));
            if (!keys) continue;
            ranges.push_back(*keys);
            places.push_back(i);
        }
        if (ranges.empty()) {
            ranges.push_back({0, 0});
            places.push_back(bins);
        }
        return texels(page->columns->histogram(column, ranges, *rows),
                      [places, bins](const std::vector<std::uint32_t>& counts, Answer& to) {
                          to.assign(bins + 1, 0);
                          for (std::size_t i = 0; i < places.size(); ++i) to[places[i]] = counts[i];
                          to.pop_back();
                      });
    });
}
QUADMILL_EXPORT(qm_table_asked) int qm_table_asked() {
    return page->last;
}
QUADMILL_EXPORT(qm_table_ready) int qm_table_ready(int question) {
    return page->questions.at(question)->ready() ? 1 : 0;
}
// The answer is at qm_table_answer(), qm_table_words() words.
QUADMILL_EXPORT(qm_table_read) int qm_table_read(int question) {
    return call([&] {
        const gl::Scope scope(page->device, function);
        const auto taken = page->questions.extract(question);
        taken.mapped()->read(page->answer);
        scope.check();
    });
}
QUADMILL_EXPORT(qm_table_answer) const std::uint32_t* qm_table_answer() {
    return page->answer.data();
}
QUADMILL_EXPORT(qm_table_words) std::size_t qm_table_words() {
    return page->answer.size();
}

}  // namespace quadmill::detail::web
