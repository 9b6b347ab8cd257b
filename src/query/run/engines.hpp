// The one place where engines are made and chosen.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "quadmill/context.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/tuning.hpp"
#include "query/run/work.hpp"

namespace quadmill::detail::query {

// Engines of a processor, each made when it is first needed.
class Engines {
  public:
    // Throws InvalidArgument for an engine of the GPU without a context.
    Engines(std::optional<Context> context, const QueryOptions& options);

    // For a table, the columns of it that will be asked for, and what will be; never Auto.
    // Throws InvalidArgument where the engine that was asked for has no room.
    [[nodiscard]] QueryEngine choose(const TableData& table, std::span<const std::size_t> columns, const Work& work,
                                     const Tuning& tuning);
    [[nodiscard]] Engine& get(QueryEngine which);
    // Makes room, if it must.
    [[nodiscard]] bool has_room(QueryEngine which, const TableData& table, std::span<const std::size_t> columns);
    [[nodiscard]] Engine& cpu() { return get(QueryEngine::Cpu); }

  private:
    [[nodiscard]] DepthEngine& depth();
    [[nodiscard]] bool make_space(QueryEngine which, const TableData& table, std::span<const std::size_t> columns,
                                  std::size_t limit);

    std::optional<Context> context_;
    QueryOptions options_;
    std::shared_ptr<GpuTables> tables_;  // of both engines of the GPU, so that Auto may take either
    std::unique_ptr<Engine> cpu_, bitmap_;
    std::unique_ptr<DepthEngine> depth_;
};

// The table with those columns in memory that are textures of the host, read in the context. The same table where none
// is. Pre: a session is open.
// Throws InvalidArgument without a context, or when it is no such texture.
[[nodiscard]] std::shared_ptr<const TableData> in_memory(const std::optional<Context>& context,
                                                         const std::shared_ptr<const TableData>& table,
                                                         std::span<const std::size_t> columns);

}  // namespace quadmill::detail::query
