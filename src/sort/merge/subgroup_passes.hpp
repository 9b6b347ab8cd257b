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
// Keys between the beginnings of two segments of that many keys in the source: a power of two within a tile, or tiles.
[[nodiscard]] std::size_t segment_places(const KeyForm& form, std::size_t keys);
// Tiles that the keys fill in the source.
[[nodiscard]] std::size_t tiles_of(const KeyForm& form, const EqualSegments& keys);
// Tiles that a sort fills at most, between its passes.
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
    // textures.keys.now. Of one segment, only the first `wanted` keys are there, when not 0. Pre: can(); the textures
    // has most_tiles().
    SortedTiles sort(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, std::size_t wanted = 0);
    // The same in two steps: the first pass, for rows of tiles as their keys come in; the levels, except for the last
    // pass, which is left to the caller until another sort.
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
