// What a query processor, its selections and its pending numbers hold.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gl/device.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/host_answers.hpp"
#include "query/gpu/matcher.hpp"
#include "query/run/engines.hpp"
#include "query/run/executor.hpp"
#include "query/run/rows_run.hpp"
#include "query/run/value_later.hpp"

namespace quadmill {

using detail::query::BitmapColumns;
using detail::query::Bits;
using detail::query::BitsPtr;
using detail::query::Bound;
using detail::query::Columns;
using detail::query::Counting;
using detail::query::Engines;
using detail::query::HostNumbers;
using detail::query::HostRows;
using detail::query::JoinTools;
using detail::query::Later;
using detail::query::Matcher;
using detail::query::QueryWork;
using detail::query::TableData;
using detail::query::TextureJoinTools;
using detail::query::Tuning;

// A table that an engine has opened.
struct Opened {
    std::shared_ptr<const TableData> table;
    QueryEngine engine{};
    std::shared_ptr<Columns> columns;
};

struct QueryProcessor::State : std::enable_shared_from_this<QueryProcessor::State> {
    State(std::optional<Context> with, const QueryOptions& wanted);

    // Runs the body of a public call, in a session if there is a context.
    template <class Work>
    auto within(const char* function, const Work& work) {
        if (!context) return work();
        const detail::gl::Scope scope(*detail::Access::of(*context), function);
        auto result = work();
        scope.check();
        return result;
    }

    [[nodiscard]] Opened open(std::shared_ptr<const TableData> table, const std::vector<std::size_t>& wanted,
                              const QueryWork& work) {
        const auto which = engines.choose({{{*table, wanted}, work}}, tuning);
        if (which == QueryEngine::Cpu) table = in_memory(context, table, wanted);
        auto columns = engines.get(which).open(table, wanted);
        return {.table = std::move(table), .engine = which, .columns = std::move(columns)};
    }
    [[nodiscard]] Opened open(const char* function, const Table& table, const Predicate& where);
    // Runs work(asked) on the rows of an aggregate.
    template <class Work>
    auto with_aggregate(const char* function, const Table& table, const QueryAggregate& what, const Selection* of,
                        const Work& work);
    // Calls write(numbers, place) to write a number to the application's object.
    template <class Write>
    void write_number(const char* function, const NumberPlace& to, const Write& write);
    [[nodiscard]] BitmapColumns& textures_of(const char* function, const Opened& opened) const;
    [[nodiscard]] JoinTools join_tools(const char* function, QueryEngine engine);
    [[nodiscard]] TextureJoinTools texture_join_tools(QueryEngine engine);
    [[nodiscard]] bool loops_on_gpu() const {
        if (options.engine != QueryEngine::Auto) return options.engine != QueryEngine::Cpu;
        return crossings.join_comparisons > 0 && context;
    }
    // Calls work(engine, tools) with the engine that is chosen for the plan.
    template <class Work>
    auto with_tools(const char* function, const QueryPlan& plan,
                    const std::array<std::shared_ptr<const TableData>, 2>& tables, const TakeRows& take,
                    const Work& work);
    [[nodiscard]] QueryResult run(const QueryPlan& plan, const std::array<std::shared_ptr<const TableData>, 2>& tables,
                                  const TakeRows& take);
    void check(const char* function, const Table& table, const Selection* selection) const;
    // A selection's bits on the GPU.
    [[nodiscard]] BitsPtr gpu_bits(QueryEngine engine, const Table& table, const Selection& rows);
    std::uint64_t join(const Table& left, const Table& right, const Join& on,
                       const std::function<void(std::span<const RowPair>)>& take, const Selection* left_rows,
                       const Selection* right_rows);

    std::optional<Context> context;
    QueryOptions options;
    QueryCrossings crossings;
    Tuning tuning;
    Engines engines;
    std::optional<Sorter> sorter;
    std::optional<Matcher> matcher;
    std::optional<HostRows> host_rows;
    std::optional<HostNumbers> host_numbers;
};

// An answer in flight.
template <class T>
struct Pending {
    std::shared_ptr<QueryProcessor::State> processor;
    Later<T> later;
    QueryEngine engine{};

    [[nodiscard]] bool ready(const char* function) const {
        return processor->within(function, [this] { return later.ready(); });
    }
    [[nodiscard]] T get(const char* function) const {
        return processor->within(function, [this] { return later.result(); });
    }
};
struct PendingCount::State : Pending<std::uint64_t> {};
struct PendingValue::State : Pending<Value> {};

// The few rows among which an index found all of a selection, and which of them are in it.
struct FewRows {
    std::shared_ptr<Columns> columns;
    BitsPtr bits;
    Bound condition;
};

struct Selection::State {
    std::shared_ptr<QueryProcessor::State> processor;
    Opened opened;
    mutable BitsPtr made{};  // null until they are needed, if there are few
    std::optional<FewRows> few{};

    // A bit for each row of the table.
    [[nodiscard]] const BitsPtr& bits() const {
        if (!made) made = select_at_once(*opened.columns, few->condition);
        return made;
    }
    // Its bits for the engine of that table. Both GPU engines have the same textures of bits.
    [[nodiscard]] BitsPtr bits_for(const Opened& other) const;
    // Where its rows can be counted or listed, with their bits.
    [[nodiscard]] std::pair<Columns&, const Bits&> rows() const {
        if (few) return {*few->columns, *few->bits};
        return {*opened.columns, *bits()};
    }
};

}  // namespace quadmill
