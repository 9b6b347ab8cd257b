// The only place where engines are made and chosen.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/query.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/tuning.hpp"

namespace quadmill::detail::query {

// What the choice of an engine depends on.
struct QueryWork {
    std::size_t linear_columns = 0;  // max_linear_columns() of its conditions
    bool ranks = false;              // quantiles or k-th values
};

// The engines of a processor. Each is made on first use.
class Engines {
  public:
    // Throws InvalidArgument for a GPU engine without a context.
    Engines(std::optional<Context> context, const QueryOptions& options);

    // One engine for all of these tables; never Auto. Throws InvalidArgument if the requested engine has no room for
    // them.
    struct TableWork {
        TableColumns asked;
        QueryWork work;
    };
    [[nodiscard]] QueryEngine choose(const std::vector<TableWork>& tables, const Tuning& tuning);
    [[nodiscard]] Engine& get(QueryEngine which);
    // Frees memory if that is needed.
    [[nodiscard]] bool has_room(QueryEngine which, const std::vector<TableColumns>& tables);
    [[nodiscard]] Engine& cpu() { return get(QueryEngine::Cpu); }

  private:
    std::optional<Context> context_;
    QueryOptions options_;
    std::unique_ptr<Engine> cpu_, gpu_;
};

// The table, with columns in the application's textures read into memory. The same table if it has none. Pre: a session
// is open. Throws InvalidArgument if there is no context, or a texture is invalid.
[[nodiscard]] std::shared_ptr<const TableData> in_memory(const std::optional<Context>& context,
                                                         const std::shared_ptr<const TableData>& table,
                                                         std::span<const std::size_t> columns);

}  // namespace quadmill::detail::query
