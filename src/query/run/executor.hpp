// Runs a plan on tables with an engine.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quadmill/query.hpp"
#include "query/cpu/join.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/plan.hpp"
#include "query/run/engines.hpp"
#include "query/run/measures.hpp"
#include "query/run/texture_join.hpp"

namespace quadmill::detail::query {

struct RunTools {
    Engine& engine;  // for rows of the tables
    Engine& cpu;     // for chunks of pairs
    JoinTools join;
    TextureJoinTools texture_join{};
    Statistics statistics = Statistics::Off;
    Execution execution = Execution::Pipelined;
    unsigned threads = 0;  // threads that distribute rows to groups; 0: all
    // The table, with columns in the application's textures read into memory.
    std::function<std::shared_ptr<const TableData>(const std::shared_ptr<const TableData>& table,
                                                   std::span<const std::size_t> columns)>
        in_memory;
    // If set, receives the rows, some at a time, instead of the result.
    std::function<void(std::span<const std::vector<Value>>)> take{};
};

// The columns of a table that the plan's conditions and aggregates name, for Engine::open. Throws InvalidArgument if
// the table lacks one, or its type differs.
[[nodiscard]] std::vector<std::size_t> needed_columns(const QueryPlan::State& plan, std::size_t table,
                                                      const TableData& data);

// The work of those conditions and aggregates.
[[nodiscard]] QueryWork work_of(const QueryPlan::State& plan, std::size_t table);

// Pre: the plan has a join if and only if there are two tables.
[[nodiscard]] QueryResult execute(const QueryPlan::State& plan, std::array<std::shared_ptr<const TableData>, 2> tables,
                                  const RunTools& tools);

// What indexes do for the conditions of a plan without a join, one line each.
[[nodiscard]] std::string uses_of_indexes(const QueryPlan::State& plan, const std::shared_ptr<const TableData>& table,
                                          const RunTools& tools);

}  // namespace quadmill::detail::query
