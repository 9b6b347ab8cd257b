// The merge engine as passes of subgroups (shaders/sort/tile_*.frag): first they sort runs of a tile, then each level
// merges four runs into one. Needs gl::has_lanes_in_boxes().
#pragma once

#include <cstddef>
#include <string>

#include "pass/programs.hpp"
#include "sort/merge/tiles.hpp"

namespace quadmill::detail::sort {

// Keys per tile.
[[nodiscard]] std::size_t tile_keys(const KeyForm& form);
// Distance between segments of that many keys in the source: a power of two within a tile, or whole tiles.
[[nodiscard]] std::size_t segment_places(const KeyForm& form, std::size_t keys);
// Tiles that the keys fill in the source.
[[nodiscard]] std::size_t tiles_of(const KeyForm& form, const EqualSegments& keys);
// Max tiles of a sort between its passes.
[[nodiscard]] std::size_t max_tiles(const KeyForm& form, const EqualSegments& keys);

struct SortedTiles {
    TileContent content;
    std::size_t tiles = 0;
    DrawTiles last{};  // draws rows of the last pass in textures.keys.now; empty if they are drawn already
};

// Macros for shaders/sort/tiles.glsl.
[[nodiscard]] std::string tiles_prelude(const TileContent& input);

class SubgroupPasses {
  public:
    explicit SubgroupPasses(gl::Device& device) : device_(device) {}

    // Whether keys in that form can be sorted.
    [[nodiscard]] static bool can(const KeyForm& form) { return form.words() <= 2; }

    // Issues the passes that sort textures.source, each segment separately. The result, as bits of the type, is in
    // textures.keys.now. With one segment and `wanted` > 0, the result only has the first `wanted` keys. Pre: can();
    // the textures have max_tiles().
    SortedTiles sort(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, std::size_t wanted = 0);
    // sort() in two steps. The first step makes the first pass for rows of tiles when their keys have arrived. The
    // second makes the levels except for the last pass, which the caller draws before the next sort.
    void sort_rows(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, int first, int end);
    SortedTiles merge(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, std::size_t wanted = 0);

  private:
    enum class Kind { Sort, Cuts, Merge };
    // Options that a program is compiled with.
    struct Variant {
        Kind kind;
        int words, source_words;
        bool indexed = false;
        int run_lanes = 0;       // log2; for Kind::Sort
        std::size_t head, step;  // content of the tiles that the other kinds read
        bool exact = false, wide = false;
        bool last = false;  // writes keys as bits of their type
        auto operator<=>(const Variant&) const = default;
    };
    const gl::Program& program(const Variant& variant);
    [[nodiscard]] gl::Program compile(const Variant& variant);

    gl::Device& device_;
    pass::ProgramVariants<Variant> programs_;
};

}  // namespace quadmill::detail::sort
