#include <optional>
#include <utility>

#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "query/index/indexes.hpp"
#include "query/processor_state.hpp"
#include "query/table/order.hpp"

namespace quadmill {

using namespace detail::query;  // NOLINT(google-build-using-namespace): this file is the front door of the room
namespace gl = detail::gl;

namespace {

QueryCrossings crossings_for(const std::optional<Context>& context, const QueryOptions& options) {
    if (!context) return {};
    if (options.crossings) return *options.crossings;
    if (context->info().software) return {};
    return {.rows = Tuning{}.gpu_rows, .rank_rows = Tuning{}.gpu_rank_rows, .join_comparisons = gpu_comparisons_a_row};
}

}  // namespace

QueryProcessor::State::State(std::optional<Context> with, const QueryOptions& wanted)
    : context(std::move(with)), options(wanted), crossings(crossings_for(context, wanted)), engines(context, wanted) {
    tuning.gpu_rows = crossings.rows;
    tuning.gpu_rank_rows = crossings.rank_rows;
}

// Opens the columns that the condition names.
Opened QueryProcessor::State::open(const char* function, const Table& table, const Predicate& where) {
    detail::query::check(function, detail::Access::of(where), table.columns());
    const Schema schema(table.columns());
    std::vector<std::size_t> columns;
    for (const auto& name : columns_of(detail::Access::of(where)))
        columns.push_back(schema.find(function, name).column);
    sort_unique(columns);
    return open(detail::Access::of(table), columns, {.linear_columns = max_linear_columns(detail::Access::of(where))});
}

JoinTools QueryProcessor::State::join_tools(const char* function, QueryEngine engine) {
    const auto sort_with_index = [this](Keys keys, std::span<std::uint32_t> index) {
        if (!context || options.engine == QueryEngine::Cpu) {
            sort_with_index_on_cpu(keys, index, Order::Ascending, options.threads);
        } else {
            if (!sorter) sorter.emplace(*context, SortOptions{.threads = options.threads});
            sorter->sort_with_index(keys, index);
        }
    };
    auto with = tuning;
    with.engine_groups = engine == QueryEngine::Cpu ? 0 : gpu_engine_groups;
    with.gpu_comparisons_a_row = crossings.join_comparisons;
    return {.function = function, .sort_with_index = sort_with_index, .tuning = with};
}

TextureJoinTools QueryProcessor::State::texture_join_tools(QueryEngine engine) {
    TextureJoinTools tools{.engine = &engines.get(engine), .execution = options.paper.execution};
    if (engine == QueryEngine::Cpu || !loops_on_gpu()) return tools;
    tools.has_room = [this, engine](const std::vector<TableColumns>& tables) {
        return engines.has_room(engine, tables);
    };
    if (!matcher) matcher.emplace(*detail::Access::of(*context));
    tools.matcher = &*matcher;
    return tools;
}

template <class Work>
auto QueryProcessor::State::with_tools(const char* function, const QueryPlan& plan,
                                       const std::array<std::shared_ptr<const TableData>, 2>& tables,
                                       const TakeRows& take, const Work& work) {
    std::array<std::vector<std::size_t>, 2> needed;
    std::vector<Engines::TableWork> all;
    for (std::size_t i = 0; i < 2 && tables.at(i); ++i) {
        needed.at(i) = needed_columns(detail::Access::of(plan), i, *tables.at(i));
        all.push_back({{*tables.at(i), needed.at(i)}, work_of(detail::Access::of(plan), i)});
    }
    const auto engine = engines.choose(all, tuning);
    const RunTools tools{
        .engine = engines.get(engine),
        .cpu = engines.cpu(),
        .join = join_tools(function, engine),
        .texture_join = texture_join_tools(engine),
        .statistics = options.statistics,
        .execution = options.paper.execution,
        .threads = options.threads,
        .in_memory = [this](const auto& table,
                            std::span<const std::size_t> columns) { return in_memory(context, table, columns); },
        .take = take};
    return work(engine, tools);
}

QueryResult QueryProcessor::State::run(const QueryPlan& plan,
                                       const std::array<std::shared_ptr<const TableData>, 2>& tables,
                                       const TakeRows& take) {
    const detail::cpu::Stopwatch time;
    return with_tools("QueryProcessor::run", plan, tables, take, [&](QueryEngine engine, const RunTools& tools) {
        auto result = execute(detail::Access::of(plan), tables, tools);
        result.engine = engine;
        result.ms = time.ms();
        return result;
    });
}

void QueryProcessor::State::check(const char* function, const Table& table, const Selection* selection) const {
    if (!selection) return;
    const auto& state = detail::Access::of(*selection);
    if (state.processor.get() != this)
        throw InvalidArgument(std::string(function) + ": the selection belongs to another processor");
    if (state.opened.table->rows != table.rows())
        throw InvalidArgument(std::string(function) + ": the selection is of " +
                              std::to_string(state.opened.table->rows) + " rows, the table has " +
                              std::to_string(table.rows()));
}

BitsPtr QueryProcessor::State::gpu_bits(QueryEngine engine, const Table& table, const Selection& rows) {
    const auto& state = detail::Access::of(rows);
    if (state.opened.engine != QueryEngine::Cpu) return state.bits();
    return engines.get(engine).open(detail::Access::of(table), {})->bits_of(state.opened.columns->words(*state.bits()));
}

// ---- QueryProcessor

QueryProcessor::QueryProcessor(const Context& context, const QueryOptions& options)
    : state_(std::make_shared<State>(context, options)) {}
QueryProcessor::QueryProcessor(const QueryOptions& options) : state_(std::make_shared<State>(std::nullopt, options)) {}
QueryProcessor::QueryProcessor(QueryProcessor&&) noexcept = default;
QueryProcessor& QueryProcessor::operator=(QueryProcessor&&) noexcept = default;
QueryProcessor::~QueryProcessor() = default;

QueryResult QueryProcessor::run(const QueryPlan& plan, const Table& table, const TakeRows& take) {
    constexpr const char* function = "QueryProcessor::run";
    if (detail::Access::of(plan).schema.joined())
        throw InvalidArgument(std::string(function) + ": a plan with a join runs on two tables, not one");
    return state_->within(function, [&] { return state_->run(plan, {detail::Access::of(table), nullptr}, take); });
}

QueryResult QueryProcessor::run(const QueryPlan& plan, const Table& left, const Table& right, const TakeRows& take) {
    constexpr const char* function = "QueryProcessor::run";
    if (!detail::Access::of(plan).schema.joined())
        throw InvalidArgument(std::string(function) + ": a plan without a join runs on one table, not two");
    return state_->within(function, [&] {
        return state_->run(plan, {detail::Access::of(left), detail::Access::of(right)}, take);
    });
}

QueryResult QueryProcessor::run(const Query& query, const Table& table) {
    return run(QueryPlan(query, table.columns()), table);
}

std::string QueryProcessor::explain(const QueryPlan& plan, const Table& table) {
    constexpr const char* function = "QueryProcessor::explain";
    if (detail::Access::of(plan).schema.joined())
        throw InvalidArgument(std::string(function) + ": a plan with a join does not use indexes");
    return state_->within(function, [&] {
        const auto& data = detail::Access::of(table);
        return state_->with_tools(function, plan, {data, nullptr}, {}, [&](QueryEngine engine, const RunTools& tools) {
            return engine == QueryEngine::Cpu ? std::string("the CPU engine uses no index\n")
                                              : uses_of_indexes(detail::Access::of(plan), data, tools);
        });
    });
}

std::uint64_t QueryProcessor::count(const Table& table, const Predicate& where) {
    constexpr const char* function = "QueryProcessor::count";
    return state_->within(function, [&] {
        const auto opened = state_->open(function, table, where);
        return count_at_once(*opened.columns, bind(function, detail::Access::of(where), *opened.table));
    });
}

PendingCount QueryProcessor::count_async(const Table& table, const Predicate& where) {
    constexpr const char* function = "QueryProcessor::count_async";
    return state_->within(function, [&] {
        const auto opened = state_->open(function, table, where);
        auto counting = count_later(*opened.columns, bind(function, detail::Access::of(where), *opened.table));
        if (opened.engine != QueryEngine::Cpu) gl::flush(*detail::Access::of(*state_->context));
        return detail::Access::make<PendingCount>(std::make_unique<PendingCount::State>(
            PendingCount::State{{.processor = state_, .later = std::move(counting), .engine = opened.engine}}));
    });
}

void QueryProcessor::index(const Table& table, const std::vector<std::string>& columns) {
    constexpr const char* function = "QueryProcessor::index";
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(std::string(function) + ": " + why); };
    if (!state_->context || state_->options.engine == QueryEngine::Cpu)
        refuse(
            "an index is used by engines of the GPU; make the processor with a context, and not with "
            "QueryEngine::Cpu");
    if (columns.empty() || columns.size() > 2 || (columns.size() == 2 && columns[0] == columns[1]))
        refuse("an index has one or two different columns; " + std::to_string(columns.size()) + " were given" +
               (columns.size() == 2 ? ", both '" + columns[0] + "'" : ""));
    const auto& data = detail::Access::of(table);
    const Schema schema(table.columns());
    std::vector<std::size_t> on;
    for (const auto& name : columns) {
        on.push_back(schema.find(function, name).column);
        if (std::holds_alternative<HostObjects>(data->columns[on.back()]->values))
            refuse("column '" + name + "' is an object of OpenGL, whose values may change; read it into memory");
    }
    state_->within(function, [&] {
        auto& engines = state_->engines;
        if (!engines.has_room(QueryEngine::Bitmap, {{*data, on}}))
            refuse("the columns of " + std::to_string(data->rows) + " rows have no room in the GPU's memory");
        const auto opened = engines.get(QueryEngine::Bitmap).open(data, on);
        auto& textures = state_->textures_of(function, {data, QueryEngine::Bitmap, opened});
        Indexes::of(textures.tables(), state_->options.index_overhead).add(textures, on);
        return 0;
    });
}

// Null if there is no index, or a column may have changed when the selection's bits are made later.
static std::shared_ptr<Columns> few_rows(const Opened& opened, const Bound& condition) {
    auto* const textures = opened.columns->textures();
    if (!textures) return nullptr;
    for (const auto& [i, column] : textures->columns()) {
        if (std::holds_alternative<HostObjects>(opened.table->columns[i]->values)) return nullptr;
    }
    return near(*opened.columns, condition);
}

Selection QueryProcessor::select(const Table& table, const Predicate& where) {
    constexpr const char* function = "QueryProcessor::select";
    return state_->within(function, [&] {
        auto opened = state_->open(function, table, where);
        auto condition = bind(function, detail::Access::of(where), *opened.table);
        Selection::State made{.processor = state_, .opened = std::move(opened)};
        if (auto few = few_rows(made.opened, condition)) {
            auto bits = select_at_once(*few, condition);
            made.few = {.columns = std::move(few), .bits = std::move(bits), .condition = std::move(condition)};
        } else {
            made.made = select_at_once(*made.opened.columns, condition);
        }
        return detail::Access::make<Selection>(std::make_unique<Selection::State>(std::move(made)));
    });
}

// An aggregate that was asked for, with its table and rows.
struct AskedAggregate {
    Wanted wanted;
    Opened opened;
    EngineMeasures measures;
    [[nodiscard]] Tables tables() const { return {{opened.table, nullptr}}; }
    [[nodiscard]] Value answer() { return detail::query::answer(wanted, tables(), measures); }
    [[nodiscard]] bool has_column() const { return wanted.what.kind != QueryAggregate::Kind::CountRows; }
    [[nodiscard]] GpuMeasure measure(BitmapColumns& textures) {
        const auto& rows = has_column() ? measures.bits(wanted.place) : measures.bits();
        return textures.measure(wanted.what, wanted.place.column, rows);
    }
};

template <class Work>
auto QueryProcessor::State::with_aggregate(const char* function, const Table& table, const QueryAggregate& what,
                                           const Selection* of, const Work& work) {
    // Only made for its checks.
    const QueryPlan plan(Query{.outputs = {{.what = what, .name = "value"}}}, table.columns());
    check(function, table, of);
    return within(function, [&] {
        const auto& schema = detail::Access::of(plan).schema;
        const bool rows = what.kind == QueryAggregate::Kind::CountRows;
        const auto place = rows ? ColumnPlace{} : schema.find(function, what.column);
        const auto opened =
            open(detail::Access::of(table), rows ? std::vector<std::size_t>{} : std::vector{place.column},
                 {.ranks = is_rank(what.kind)});
        const auto bits = of ? detail::Access::of(*of).bits_for(opened) : opened.columns->leaf(Always{true});
        AskedAggregate question{{what, place}, opened, EngineMeasures(*opened.table, *opened.columns, bits)};
        return work(question);
    });
}

Value QueryProcessor::aggregate(const Table& table, const QueryAggregate& what, const Selection* of) {
    return state_->with_aggregate("QueryProcessor::aggregate", table, what, of,
                                  [](AskedAggregate& asked) { return asked.answer(); });
}

PendingValue QueryProcessor::aggregate_async(const Table& table, const QueryAggregate& what, const Selection* of) {
    return state_->with_aggregate("QueryProcessor::aggregate_async", table, what, of, [&](AskedAggregate& asked) {
        auto* const textures = asked.opened.columns->textures();
        Later<Value> value;
        if (textures) {
            auto& device = *detail::Access::of(*state_->context);
            value = read_later(device, asked.measure(*textures), asked.wanted, asked.tables());
            gl::flush(device);
        } else {
            value = known(asked.answer());
        }
        return detail::Access::make<PendingValue>(std::make_unique<PendingValue::State>(
            PendingValue::State{{.processor = state_, .later = std::move(value), .engine = asked.opened.engine}}));
    });
}

template <class Write>
void QueryProcessor::State::write_number(const char* function, const NumberPlace& to, const Write& write) {
    if (!context)
        throw InvalidArgument(std::string(function) +
                              ": this processor has no context; make it with the one that the object is of");
    within(function, [&] {
        auto& device = *detail::Access::of(*context);
        const CheckedPlace place(device, function, to);
        if (!host_numbers) host_numbers.emplace(device);
        write(*host_numbers, place);
        return 0;
    });
}

BitmapColumns& QueryProcessor::State::textures_of(const char* function, const Opened& opened) const {
    if (auto* const textures = opened.columns->textures()) return *textures;
    throw InvalidArgument(std::string(function) + ": " + std::to_string(opened.table->rows) +
                          " rows are more than a texture holds; ask for parts of the table");
}

void QueryProcessor::write_aggregate(const Table& table, const QueryAggregate& what, const NumberPlace& to,
                                     const Selection* of) {
    constexpr const char* function = "QueryProcessor::write_aggregate";
    state_->write_number(function, to, [&](HostNumbers& numbers, const CheckedPlace& place) {
        state_->with_aggregate(function, table, what, of, [&](AskedAggregate& asked) {
            const auto type = asked.has_column() ? asked.tables()[asked.wanted.place].type : ColumnType::U32;
            if (type == ColumnType::Text && what.kind != QueryAggregate::Kind::Count)
                throw InvalidArgument(std::string(function) + ": column '" + what.column +
                                      "' holds texts, not numbers");
            if (asked.opened.engine == QueryEngine::Cpu) {
                auto& measures = asked.measures;
                const auto& of_column = asked.wanted.place;
                const bool of_integers = what.kind == QueryAggregate::Kind::Sum && !is_float(type);
                if (of_integers && measures.count(of_column) > 0) {
                    numbers.write_integer(measures.sum(of_column), place);  // even beyond 64 bits
                } else {
                    numbers.write(asked.answer(), place);
                }
            } else {
                numbers.write(asked.measure(state_->textures_of(function, asked.opened)), what, type, place);
            }
            return 0;
        });
    });
}

void QueryProcessor::write_count(const Table& table, const Predicate& where, const NumberPlace& to) {
    constexpr const char* function = "QueryProcessor::write_count";
    state_->write_number(function, to, [&](HostNumbers& numbers, const CheckedPlace& place) {
        const auto opened = state_->open(function, table, where);
        const auto condition = bind(function, detail::Access::of(where), *opened.table);
        if (opened.engine == QueryEngine::Cpu) {
            numbers.write(static_cast<std::int64_t>(count_at_once(*opened.columns, condition)), place);
        } else {
            auto& textures = state_->textures_of(function, opened);
            const auto bits = select_at_once(*opened.columns, condition);
            numbers.write(textures.measure({}, 0, *bits), {}, ColumnType::U32, place);
        }
    });
}

std::uint64_t QueryProcessor::join(const Table& left, const Table& right, const Join& on,
                                   const std::function<void(std::span<const RowPair>)>& take,
                                   const Selection* left_rows, const Selection* right_rows) {
    constexpr const char* function = "QueryProcessor::join";
    state_->check(function, left, left_rows);
    state_->check(function, right, right_rows);
    return state_->within(function, [&] { return state_->join(left, right, on, take, left_rows, right_rows); });
}

std::uint64_t QueryProcessor::State::join(const Table& left, const Table& right, const Join& on,
                                          const std::function<void(std::span<const RowPair>)>& take,
                                          const Selection* left_rows, const Selection* right_rows) {
    constexpr const char* function = "QueryProcessor::join";
    // Only made for its checks.
    const QueryPlan plan(Query{.outputs = {{.what = QueryAggregate{}, .name = "pairs"}}, .join = on}, left.columns(),
                         right.columns());
    const auto& schema = detail::Access::of(plan).schema;
    const auto a = schema.find_in(0, function, on.left).column, b = schema.find_in(1, function, on.right).column;
    const std::function<Next(std::span<const RowPair>)> take_more = [&](std::span<const RowPair> pairs) {
        take(pairs);
        return Next::More;
    };
    const auto tools = join_tools(function, QueryEngine::Cpu);
    if (loops_on_gpu()) {
        const auto engine = options.engine == QueryEngine::Depth ? QueryEngine::Depth : QueryEngine::Bitmap;
        const auto side_of = [&](const Table& table, std::size_t column, const Selection* rows) {
            return SelectedSide{detail::Access::of(table), column, rows ? gpu_bits(engine, table, *rows) : nullptr};
        };
        const auto found = join_textures(side_of(left, a, left_rows), side_of(right, b, right_rows), on, tools,
                                         texture_join_tools(engine), take_more);
        if (found) return *found;
    }
    const auto table_of = [&](const Table& table, std::size_t column) {
        return in_memory(context, detail::Access::of(table), std::array{column});
    };
    const auto words_of = [](const Selection* rows) -> std::optional<std::vector<std::uint32_t>> {
        if (!rows) return {};
        const auto& state = detail::Access::of(*rows);
        return state.opened.columns->words(*state.bits());
    };
    const auto left_table = table_of(left, a), right_table = table_of(right, b);
    const auto left_words = words_of(left_rows), right_words = words_of(right_rows);
    return detail::query::join({*left_table, a, left_words ? &*left_words : nullptr},
                               {*right_table, b, right_words ? &*right_words : nullptr}, on, tools, take_more);
}

// ---- PendingCount

PendingCount::PendingCount(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingCount::PendingCount(PendingCount&&) noexcept = default;
PendingCount& PendingCount::operator=(PendingCount&&) noexcept = default;
PendingCount::~PendingCount() = default;

bool PendingCount::ready() const {
    return state_->ready("PendingCount::ready");
}

std::uint64_t PendingCount::get() const {
    return state_->get("PendingCount::get");
}

QueryEngine PendingCount::engine() const noexcept {
    return state_->engine;
}

// ---- PendingValue

PendingValue::PendingValue(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingValue::PendingValue(PendingValue&&) noexcept = default;
PendingValue& PendingValue::operator=(PendingValue&&) noexcept = default;
PendingValue::~PendingValue() = default;

bool PendingValue::ready() const {
    return state_->ready("PendingValue::ready");
}

Value PendingValue::get() const {
    return state_->get("PendingValue::get");
}

QueryEngine PendingValue::engine() const noexcept {
    return state_->engine;
}

}  // namespace quadmill
