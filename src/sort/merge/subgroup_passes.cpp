#include "sort/merge/subgroup_passes.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "gl/device.hpp"
#include "sort/merge/register_network.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

// A level writes whole tiles, but only this many granules of a tile belong to its block. The rest are keys before and
// after the block's cuts.
constexpr std::size_t head = 3, exact_step = Tiles::granules - 2 * head, lowest_step = Tiles::granules - head;

std::size_t granule_keys(const KeyForm& form) {
    return Tiles::granule_words / static_cast<std::size_t>(form.words());
}

std::size_t ceil_div(std::size_t n, std::size_t by) {
    return (n + by - 1) / by;
}

// A level merges four runs of a segment into one. Lengths are in granules.
struct Level {
    EqualSegments segments;
    std::size_t run, kept;               // keys of each run, and of a merged run
    std::size_t stride, segment_stride;  // distance between runs, and between segments
    bool exact;

    [[nodiscard]] std::size_t step() const { return exact ? exact_step : lowest_step; }
    [[nodiscard]] std::size_t group_blocks() const { return ceil_div(kept, step()); }
    [[nodiscard]] std::size_t blocks_of(std::size_t size) const {
        return size / (4 * run) * group_blocks() + ceil_div(std::min(size % (4 * run), kept), step());
    }
    [[nodiscard]] std::size_t segment_blocks() const { return blocks_of(segments.size); }
    [[nodiscard]] std::size_t blocks() const {
        return (segments.count - 1) * segment_blocks() + blocks_of(segments.last_size);
    }
    [[nodiscard]] std::size_t kept_of(std::size_t size) const {
        return size / (4 * run) * kept + std::min(size % (4 * run), kept);
    }
};

// Whether numbers have a spare bit, or can be converted to floats.
bool can_be_exact(const KeyForm& form) {
    return form.words() == 1 || form.indexed;
}

std::vector<Level> levels_of(const KeyForm& form, const EqualSegments& keys, std::size_t wanted) {
    const auto each = granule_keys(form);
    EqualSegments segments{keys.count, ceil_div(keys.size, each), ceil_div(keys.last_size, each)};
    wanted = ceil_div(wanted, each);
    std::vector<Level> levels;
    std::size_t run = Tiles::granules, stride = run;
    auto segment_stride = ceil_div(segments.size, run) * run;
    while (run < segments.size) {
        const auto kept = wanted > 0 ? std::min(4 * run, wanted) : 4 * run;
        const bool all = kept == 4 * run || kept >= segments.size;
        const auto& level =
            levels.emplace_back(Level{segments, run, kept, stride, segment_stride, all && can_be_exact(form)});
        stride = level.group_blocks() * level.step();
        segment_stride = level.segment_blocks() * level.step();
        segments = {segments.count, level.kept_of(segments.size), level.kept_of(segments.last_size)};
        run = kept;
    }
    return levels;
}

}  // namespace

std::size_t tile_keys(const KeyForm& form) {
    return Tiles::granules * granule_keys(form);
}

std::size_t segment_places(const KeyForm& form, std::size_t keys) {
    const auto tile = tile_keys(form);
    return keys > tile ? ceil_div(keys, tile) * tile : std::max(std::bit_ceil(keys), tile / Tiles::lanes);
}

std::size_t tiles_of(const KeyForm& form, const EqualSegments& keys) {
    return ceil_div(keys.count * segment_places(form, keys.size), tile_keys(form));
}

std::size_t max_tiles(const KeyForm& form, const EqualSegments& keys) {
    auto max = tiles_of(form, keys);
    for (const auto& level : levels_of(form, keys, 0)) max = std::max(max, level.blocks());
    return max;
}

std::string tiles_prelude(const TileContent& input) {
    return "#define INPUT_HEAD " + std::to_string(input.head) + "\n#define INPUT_STEP " + std::to_string(input.step) +
           "\n";
}

const gl::Program& SubgroupPasses::program(const Variant& variant) {
    return programs_.get(variant, [&] { return compile(variant); });
}

gl::Program SubgroupPasses::compile(const Variant& variant) {
    const int keys = 32 / variant.words;
    std::string prelude;
    const auto define = [&](bool when, const std::string& what) {
        if (when) prelude += "#define " + what + "\n";
    };
    const bool cuts = variant.kind == Kind::Cuts, sorts = variant.kind == Kind::Sort;
    if (!cuts) {
        prelude +=
            "#extension GL_KHR_shader_subgroup_basic : require\n"
            "#extension GL_KHR_shader_subgroup_shuffle : require\n";
    }
    define(true, "WORDS " + std::to_string(variant.words));
    define(true, "SOURCE_WORDS " + std::to_string(variant.source_words));
    define(variant.indexed, "INDEXED");
    prelude += tiles_prelude({variant.head, variant.step});
    define(true, "OUTPUT_STEP " + std::to_string(variant.exact ? exact_step : lowest_step));
    define(variant.exact, "EXACT");
    define(variant.wide, "WIDE");
    define(variant.last, "LAST");
    define(sorts, "RUN_LANES " + std::to_string(variant.run_lanes));
    if (sorts) prelude += as_macro("SORT_NETWORK", odd_even_merge_sort(keys));
    if (!cuts) {
        prelude += as_macro("BITONIC_NETWORK", bitonic_merge(keys));
        prelude += as_macro("DESCENDING_NETWORK", turned_round(bitonic_merge(keys)));
        prelude += as_macro("FLOAT_NETWORK", bitonic_merge(keys), "EXCHANGE_FLOATS");
    }
    prelude += std::string(shaders::sort_block_glsl) + shaders::sort_tiles_glsl;
    if (!cuts) {
        prelude += std::string(shaders::sort_lanes_glsl) + shaders::sort_key_order_glsl + shaders::sort_numbers_glsl;
    }
    if (!sorts) prelude += shaders::sort_tile_groups_glsl;
    switch (variant.kind) {
        case Kind::Sort:
            return {device_, "sort/tile_sort.frag", shaders::sort_tile_sort_frag, prelude};
        case Kind::Cuts:
            return {device_, "sort/tile_cuts.frag", shaders::sort_tile_cuts_frag, prelude};
        default:
            return {device_, "sort/tile_merge.frag", shaders::sort_tile_merge_frag, prelude};
    }
}

SortedTiles SubgroupPasses::sort(TileTextures& textures, const KeyForm& form, const EqualSegments& keys,
                                 std::size_t wanted) {
    sort_rows(textures, form, keys, 0, textures.shape.rows_for(tiles_of(form, keys)));
    auto sorted = merge(textures, form, keys, wanted);
    if (sorted.last) std::exchange(sorted.last, {})(0, textures.shape.rows_for(sorted.tiles));
    return sorted;
}

void SubgroupPasses::sort_rows(TileTextures& textures, const KeyForm& form, const EqualSegments& keys, int first,
                               int end) {
    const auto positions = segment_places(form, keys.size), tile = tile_keys(form);
    const Variant variant{.kind = Kind::Sort,
                          .words = form.words(),
                          .source_words = form.source_words(),
                          .indexed = form.indexed,
                          .run_lanes = std::countr_zero(std::min(positions, tile) / (tile / Tiles::lanes)),
                          .head = 0,
                          .step = Tiles::granules,
                          .last = keys.size <= tile};
    const auto source_width = static_cast<unsigned>(textures.source.texture.width());
    draw(device_, {.name = "sort tiles",
                   .program = &program(variant),
                   .inputs = {&textures.source.texture},
                   .uniforms = gl::Uniforms{{"row_log2", textures.shape.row_log2},
                                            {"source_log2", std::countr_zero(source_width)}}
                                   .set(order_uniforms(form)),
                   .target = &textures.keys.now.framebuffer,
                   .quads = &textures.rows_of(first, end)});
}

SortedTiles SubgroupPasses::merge(TileTextures& textures, const KeyForm& form, const EqualSegments& keys,
                                  std::size_t wanted) {
    const auto tiles = tiles_of(form, keys);
    SortedTiles sorted{{0, Tiles::granules, ceil_div(segment_places(form, keys.size), tile_keys(form))}, tiles};
    int index = 0;
    const auto levels = levels_of(form, keys, wanted);
    for (const auto& level : levels) {
        if (sorted.last) sorted.last(0, textures.shape.rows_for(sorted.tiles));
        ++index;
        gl::Uniforms uniforms{{"row_log2", textures.shape.row_log2}};
        const auto set = [&](const char* name, std::size_t value) { uniforms.set(name, static_cast<int>(value)); };
        set("run", level.run);
        set("blocks", level.blocks());
        set("segments", level.segments.count);
        set("segment_size", level.segments.size);
        set("last_size", level.segments.last_size);
        set("segment_blocks", level.segment_blocks());
        set("group_blocks", level.group_blocks());
        set("stride", level.stride);
        set("segment_stride", level.segment_stride);
        Variant variant{.kind = Kind::Cuts,
                        .words = form.words(),
                        .source_words = form.source_words(),
                        .indexed = form.indexed,
                        .head = sorted.content.head,
                        .step = sorted.content.step,
                        .exact = level.exact};
        draw(device_, {.name = "cuts",
                       .stage = index,
                       .program = &program(variant),
                       .inputs = {&textures.keys.now.texture},
                       .uniforms = uniforms,
                       .target = &textures.cuts.framebuffer,
                       .quads = &textures.cuts_of(level.blocks())});
        variant.kind = Kind::Merge;
        variant.wide = level.exact && form.words() == 1 && form.key_bytes() == 4;
        variant.last = &level == &levels.back();
        uniforms.set("fill_row", textures.shape.fill_row());
        if (variant.last) uniforms.set(order_uniforms(form));
        textures.keys.swap();
        sorted = {{head, level.step(), level.segment_blocks()},
                  level.blocks(),
                  [this, &textures, index, uniforms, merge = &program(variant)](int first, int end) {
                      draw(device_, {.name = "merge tiles",
                                     .stage = index,
                                     .program = merge,
                                     .inputs = {&textures.keys.next.texture, &textures.cuts.texture},
                                     .uniforms = uniforms,
                                     .target = &textures.keys.now.framebuffer,
                                     .quads = &textures.rows_of(first, end)});
                  }};
    }
    return sorted;
}

}  // namespace quadmill::detail::sort
