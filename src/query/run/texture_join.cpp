#include "query/run/texture_join.hpp"

#include <algorithm>
#include <array>

#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/matcher.hpp"
#include "query/plan/bind.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

// Max entries that a texture of list_width holds on every device.
constexpr std::size_t max_listed = std::size_t{list_width} << 14U;

std::uint64_t rows_of(const SelectedSide& side, Engine& engine) {
    return side.rows ? engine.open(side.table, {})->count(*side.rows) : side.table->rows;
}

// A side whose column is on the GPU.
struct JoinedSide {
    std::shared_ptr<Columns> columns;
    BitsPtr rows;
    std::size_t count = 0;

    JoinedSide(const SelectedSide& side, const TextureJoinTools& tools)
        : columns(tools.engine->open(side.table, std::array{side.column})) {
        auto* textures = columns->textures();
        if (!textures) return;
        if (tools.execution == Execution::OneOperation) columns->gpu()->send_again(std::array{side.column});
        const auto& valid = textures->column(side.column)->valid;
        rows = !side.rows                 ? valid
               : valid == textures->all() ? side.rows
                                          : textures->combine(BoolOp::And, *side.rows, *valid);
        count = static_cast<std::size_t>(textures->count(*rows));
    }
    [[nodiscard]] TextureSide side(std::size_t column) const {
        auto& textures = *columns->textures();
        return {.column = *textures.column(column),
                .shape = textures.shape(),
                .rows = count < textures.shape().rows ? &BitmapColumns::texture(*rows) : nullptr,
                .count = count};
    }
};

}  // namespace

bool loops_on_gpu_win(std::uint64_t left, std::uint64_t right, const Tuning& tuning) {
    return !are_few(left, right, tuning) && left + right >= tuning.gpu_join_rows && right <= tuning.gpu_join_keys &&
           left * right / (left + right) < tuning.gpu_comparisons_a_row;
}

std::optional<std::uint64_t> join_textures(const SelectedSide& left, const SelectedSide& right, const Join& on,
                                           const JoinTools& tools, const TextureJoinTools& textures,
                                           const std::function<Next(std::span<const RowPair>)>& take) {
    if (!textures.matcher || on.band > 0 || on.method == JoinMethod::SortMerge) return {};
    const auto &a = *left.table->columns[left.column], &b = *right.table->columns[right.column];
    const auto as = comparison_of(a, b);
    if (!as) return {};
    // These may include NULLs, whose number is not known yet.
    const auto max_l = rows_of(left, *textures.engine), max_r = rows_of(right, *textures.engine);
    if (max_l == 0 || max_r == 0) return 0;
    if (on.method != JoinMethod::NestedLoops && !loops_on_gpu_win(max_l, max_r, tools.tuning)) return {};
    const auto key_of = [](const SelectedSide& side) { return TableColumns{*side.table, std::span(&side.column, 1)}; };
    if (!textures.has_room({key_of(left), key_of(right)})) return {};
    const JoinedSide l(left, textures), r(right, textures);
    if (!l.columns->textures() || !r.columns->textures()) return {};
    if (l.count == 0 || r.count == 0) return 0;
    if (l.count > max_listed || r.count > max_listed || left.table->dictionary->size() > max_listed) return {};
    gl::Texture places;
    if (a.type == ColumnType::Text && left.table->dictionary != right.table->dictionary) {
        auto list = places_in(*left.table->dictionary, *right.table->dictionary);
        list.resize(std::max<std::size_t>(list.size(), 1), no_place);
        places = l.columns->textures()->send_list(gl::Format::R32ui, std::as_bytes(std::span(list)));
    }
    PairChunk chunk(tools.tuning.chunk, take);
    const auto take_matches = [&](std::span<const Match> matches) {
        for (std::size_t i = 0; i < matches.size() && !chunk.enough(); ++i)
            chunk.add(matches[i].left, matches[i].right);
        return chunk.enough() ? Next::Enough : Next::More;
    };
    const auto found = (*textures.matcher)(l.side(left.column), r.side(right.column), *as, places ? &places : nullptr,
                                           on.block_rows, take_matches);
    chunk.flush();
    return found;
}

}  // namespace quadmill::detail::query
