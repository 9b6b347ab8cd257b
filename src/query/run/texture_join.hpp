// Joins rows that a GPU engine has selected: selections, keys and rows stay on the GPU, and the list of pairs is read
// back.
// Source: Tsakalozos, Tsangaris, Delis, MDS'09, sections 3.2 and 3.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "gl/objects.hpp"
#include "quadmill/query.hpp"
#include "query/cpu/join.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

class Matcher;

// A table, its joined column, and the rows that a GPU engine has selected; null: all rows.
struct SelectedSide {
    std::shared_ptr<const TableData> table;
    std::size_t column;
    BitsPtr rows;
};

struct TextureJoinTools {
    Engine* engine = nullptr;
    // Whether those columns fit on the engine.
    std::function<bool(const std::vector<TableColumns>& tables)> has_room{};
    Matcher* matcher = nullptr;  // null: there are no nested loops on the GPU
    Execution execution = Execution::Pipelined;
};

// Whether JoinMethod::Auto compares every row with every row on the GPU.
[[nodiscard]] bool loops_on_gpu_win(std::uint64_t left, std::uint64_t right, const Tuning& tuning);

// Like join() in cpu/join.hpp. Nothing if another way is faster, or this one is not exact or not available: for bands,
// for tables in parts, and for integers beyond 2^53 compared with floats.
[[nodiscard]] std::optional<std::uint64_t> join_textures(const SelectedSide& left, const SelectedSide& right,
                                                         const Join& on, const JoinTools& tools,
                                                         const TextureJoinTools& textures,
                                                         const std::function<Next(std::span<const RowPair>)>& take);

}  // namespace quadmill::detail::query
