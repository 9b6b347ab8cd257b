// The one place where engines are made and chosen.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "quadmill/context.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/tuning.hpp"

namespace quadmill::detail::query {

// Engines of a processor, each made when it is first needed.
class Engines {
  public:
    // Throws InvalidArgument for an engine of the GPU without a context.
    Engines(std::optional<Context> context, const QueryOptions& options);

    // For a table, the columns of it that will be asked for, and how many of them a linear condition has at most; never
    // Auto.
    // Throws InvalidArgument where the engine that was asked for has no room.
    [[nodiscard]] QueryEngine choose(const TableData& table, std::span<const std::size_t> columns,
                                     std::size_t linear_columns, const Tuning& tuning);
    [[nodiscard]] Engine& get(QueryEngine which);
    [[nodiscard]] Engine& cpu() { return get(QueryEngine::Cpu); }

  private:
    [[nodiscard]] bool has_room(QueryEngine which, const TableData& table, std::span<const std::size_t> columns);

    std::optional<Context> context_;
    QueryOptions options_;
    std::unique_ptr<Engine> cpu_, depth_, bitmap_;
};

// The table with those columns in memory that are textures of the host, read in the context. The same table where none
// is. Pre: a session is open.
// Throws InvalidArgument without a context, or when it is no such texture.
[[nodiscard]] std::shared_ptr<const TableData> in_memory(const std::optional<Context>& context,
                                                         const std::shared_ptr<const TableData>& table,
                                                         std::span<const std::size_t> columns);

}  // namespace quadmill::detail::query
