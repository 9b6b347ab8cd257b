// The merge engine as passes of subgroups (shaders/sort/tile_*.frag): runs of a tile, then levels that merge four runs
// at a time. Needs gl::has_lanes_in_boxes().
#pragma once

#include <cstddef>
#include <string>

#include "pass/programs.hpp"
#include "sort/merge/tiles.hpp"

namespace quadmill::detail::sort {

// Keys of a tile.
[[nodiscard]] std::size_t tile_keys(const KeyForm& form);
// Distance of two segments of that many keys in the source: a power of two within a tile, or whole tiles.
[[nodiscard]] std::size_t segment_places(const KeyForm& form, std::size_t keys);
// Tiles of the keys in the source.
[[nodiscard]] std::size_t tiles_of(const KeyForm& form, const EqualSegments& keys);
// Max tiles of a sort between its passes.
[[nodiscard]] std::size_t most_tiles(const KeyForm& form, const EqualSegments& keys);

struct SortedTiles {
    TileContent content;
    std::size_t tiles = 0;
    DrawTiles last{};  // the last pass's rows, in textures.keys.now; empty where they are drawn
};

// Macros that shaders/sort/tiles.glsl needs.
[[nodiscard]] std::string tiles_prelude(const TileContent& input);

class SubgroupPasses {
  public:
    explicit SubgroupPasses(gl::Device& device) : device_(device) {}

    // Whether keys in that form can be sorted.
    [[nodiscard]] static bool can(const KeyForm& form) { return form.words() <= 2; }

    // Issues the passes that sort textures.source, each segment by itself; the result, as bits of the type, is in
    // textures.keys.now. With one segment and `wanted` > 0, only its first `wanted` keys are there. Pre: can(); the
    // textures has most_tiles().
    SortedTiles sort(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, std::size_t wanted = 0);
    // sort() in two steps: the first pass, for rows of tiles as their keys arrive; then the levels except for the last
    // pass, which the caller draws before the next sort.
    void sort_rows(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, int first, int end);
    SortedTiles merge(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, std::size_t wanted = 0);

  private:
    enum class Kind { Sort, Cuts, Merge };
    // What a program is compiled for.
    struct Variant {
        Kind kind;
        int words, source_words;
        bool indexed = false;
        int run_lanes = 0;       // of Kind::Sort, as a logarithm
        std::size_t head, step;  // of the tiles that the others read
        bool exact = false, wide = false;
        auto operator<=>(const Variant&) const = default;
    };
    const gl::Program& program(const Variant& variant);
    [[nodiscard]] gl::Program compile(const Variant& variant);

    gl::Device& device_;
    pass::ProgramVariants<Variant> programs_;
};

}  // namespace quadmill::detail::sort
