#include "sort/merge/passes.hpp"

#include <algorithm>
#include <string>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "sort/merge/register_network.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

// `pairs` counts pairs of blocks of 32 words.
pass::Banked shape_of(std::size_t pairs, int color_targets) {
    const int layers = color_targets < pass::Banked::max_layers ? 4 : pass::Banked::max_layers;
    return pass::Banked::of_pairs(pairs * static_cast<std::size_t>(pass::Banked::max_layers / layers), layers);
}

std::size_t texels_in_memory(const KeyForm& form, std::size_t pairs) {
    return pairs * form.pair_keys() * static_cast<std::size_t>(form.source_words()) / 4;
}

}  // namespace

MergeTextures::MergeTextures(gl::Device& device, const KeyForm& form, std::size_t pairs)
    : made_for(form), shape(shape_of(pairs, device.features.color_targets)), quads_(device) {
    // The longest row that the driver allows, but not longer than a row of pairs needs.
    const auto max = pass::log2_ceil(static_cast<std::size_t>(device.info.max_texture_size) + 1) - 1;
    const auto width = 1 << std::min(shape.row_log2 + pass::log2_ceil(texels_in_memory(form, 1)), max);
    const auto texels = texels_in_memory(form, shape.pairs() / blocks_per_32_words());
    const auto rows = (texels + static_cast<std::size_t>(width) - 1) / static_cast<std::size_t>(width);
    source = pass::Target(device, form.source_format(), width, static_cast<int>(rows));
    keys = pass::PingPong(device, form.format(), shape.width(), shape.height(), shape.layers);
    const auto largest = form.format() == gl::Format::Rgba16ui ? 0xffffU : 0xffffffffU;
    for (const auto* texture : {&keys.now.texture, &keys.next.texture}) {
        gl::clear_texels(device, *texture, 0, 2 * shape.half_height, 1, 1, 0);
        gl::clear_texels(device, *texture, 1, 2 * shape.half_height, 1, 1, largest);
    }
}

std::size_t MergeTextures::max_keys(const gl::Device& device, const KeyForm& form) {
    const auto max = static_cast<std::size_t>(device.info.max_texture_size);
    auto pairs = max_pairs;
    const auto is_too_large = [&] {
        const auto banked = shape_of(pairs, device.features.color_targets);
        return static_cast<std::size_t>(std::max(banked.width(), banked.height())) > max ||
               texels_in_memory(form, pairs) > max * max;
    };
    while (is_too_large()) pairs /= 2;
    return pairs * form.pair_keys();
}

std::size_t MergeTextures::bytes(const KeyForm& form, std::size_t pairs) {
    const auto shape = pass::Banked::of_pairs(pairs, pass::Banked::max_layers);
    const auto texel = gl::info(form.format()).bytes;
    const auto keys = static_cast<std::size_t>(shape.width()) * static_cast<std::size_t>(shape.height()) *
                      pass::Banked::max_layers * texel;
    const auto source = texels_in_memory(form, shape.pairs()) * gl::info(form.source_format()).bytes;
    // The table of segments and the cuts, with a few spare rows.
    const auto of_pairs = shape.pairs() * 8 + shape.pairs() * 5 + static_cast<std::size_t>(shape.width()) * 32;
    return 2 * keys + source + of_pairs;
}

std::size_t MergeTextures::staging_bytes(const KeyForm& form, std::size_t pairs) {
    const auto of_pair = texels_in_memory(form, 1) * gl::info(form.source_format()).bytes +
                         std::size_t{2} * pass::Banked::max_layers * gl::info(form.format()).bytes;
    return pass::Banked::of_pairs(pairs, pass::Banked::max_layers).pairs() * of_pair;
}

bool MergeTextures::fits(const KeyForm& form, std::size_t pairs) const {
    // Whole rows of tiles are drawn and read back. If they are much longer than necessary, a small sort loses more time
    // than new textures cost.
    const auto blocks = pairs * blocks_per_32_words();
    const bool near = shape.row_log2 <= pass::Banked::of_pairs(blocks, shape.layers).row_log2 + 2;
    return made_for.key_bytes() == form.key_bytes() && made_for.indexed == form.indexed && shape.pairs() >= blocks &&
           near;
}

std::size_t MergeTextures::source_rows(std::size_t pairs) const {
    const auto width = static_cast<std::size_t>(source.texture.width());
    return (texels_in_memory(made_for, pairs) + width - 1) / width;
}

const Cuts& MergeTextures::cuts(gl::Device& device, int stride_log2) {
    if (const auto found = cuts_.find(stride_log2); found != cuts_.end()) return found->second;
    const auto max = ((shape.pairs() - 1) >> static_cast<unsigned>(stride_log2)) + 1;
    Cuts fresh{stride_log2,
               pass::Target(device, gl::Format::R32ui, shape.width(), pass::Banked::rows_for(max, shape.row_log2))};
    return cuts_.emplace(stride_log2, std::move(fresh)).first->second;
}

const gl::QuadList& MergeTextures::halves(std::size_t first, std::size_t pairs) {
    const auto tile_row = static_cast<std::size_t>(shape.width()) * pass::Banked::tile_height;
    const auto begin = static_cast<int>(first / tile_row) * pass::Banked::tile_height;
    return quads_.rows_twice(shape.width(), begin, pass::Banked::rows_for(first + pairs, shape.row_log2),
                             shape.half_height);
}

const gl::Program& MergePasses::program(const Variant& variant) {
    return programs_.get(variant, [&] { return compile(variant); });
}

gl::Program MergePasses::compile(const Variant& variant) {
    const bool blocks = variant.kind == Kind::SortBlocks, search = variant.kind == Kind::Search;
    const int keys = 4 * variant.layers / variant.words;
    std::string prelude;
    const auto define = [&](bool when, const std::string& what) {
        if (when) prelude += "#define " + what + "\n";
    };
    define(true, "LAYERS " + std::to_string(variant.layers));
    define(true, "WORDS " + std::to_string(variant.words));
    define(true, "SOURCE_WORDS " + std::to_string(variant.source_words));
    define(variant.words > variant.source_words, "INDEXED");
    define(variant.half == Half::Upper, "UPPER");
    define(variant.half == Half::Both, "BOTH");
    define(variant.search, "SEARCH");
    define(variant.segments, "SEGMENTS");
    define(variant.coarse, "COARSE");
    if (blocks) prelude += as_macro("SORT_NETWORK", odd_even_merge_sort(keys));
    if (!search) prelude += as_macro("BITONIC_NETWORK", bitonic_merge(keys));
    prelude += std::string(shaders::sort_block_glsl) + shaders::sort_banked_glsl;
    if (!search) prelude += std::string(shaders::sort_key_order_glsl) + shaders::sort_numbers_glsl;
    if (!blocks) prelude += shaders::sort_runs_glsl;
    const auto* name = blocks ? "sort/block_sort.frag" : search ? "sort/merge_split.frag" : "sort/merge_runs.frag";
    const auto* source = blocks   ? shaders::sort_block_sort_frag
                         : search ? shaders::sort_merge_split_frag
                                  : shaders::sort_merge_runs_frag;
    return {device_, name, source, prelude};
}

MergePasses::Variant MergePasses::variant(const Job& job, Kind kind) {
    return {.kind = kind,
            .layers = job.textures.shape.layers,
            .words = job.form.words(),
            .source_words = job.form.source_words(),
            .segments = kind != Kind::SortBlocks && job.textures.segmented};
}

MergePasses::Inputs MergePasses::inputs(const Job& job, const Cuts* cuts) {
    return {&job.textures.keys.now.texture, cuts ? &cuts->target.texture : nullptr,
            job.textures.segmented ? &job.textures.segments : nullptr};
}

gl::Uniforms MergePasses::uniforms(const Job& job) {
    return {{"row_log2", job.textures.shape.row_log2}, {"half_height", job.textures.shape.half_height}};
}

void MergePasses::draw_halves(const Job& job, const Slice& slice, Variant with, SortNote::Texels texels,
                              gl::Pass pass) {
    pass.quads = &job.textures.halves(slice.first, slice.count);
    const auto draw_half = [&](Half half, const SortNote& note) {
        with.half = half;
        pass.program = &program(with);
        pass.note = &note;
        draw(device_, pass);
    };
    if (job.both_halves) return draw_half(Half::Both, {SortNote::Act::Exchange, texels});
    pass.count = 1;
    draw_half(Half::Lower, {SortNote::Act::KeepLower, texels, SortNote::Step::GoesOn});
    pass.first = 1;
    draw_half(Half::Upper, {SortNote::Act::KeepUpper, texels, SortNote::Step::Ends});
}

void MergePasses::sort_blocks(const Job& job, const Slice& slice) {
    auto& textures = job.textures;
    const auto width = static_cast<std::size_t>(textures.source.texture.width());
    draw_halves(job, slice, variant(job, Kind::SortBlocks), SortNote::Texels::Numbers,
                {.name = "sort blocks",
                 .inputs = {&textures.source.texture},
                 .uniforms = uniforms(job).set("source_log2", pass::log2_ceil(width)).set(order_uniforms(job.form)),
                 .target = &textures.keys.now.framebuffer});
}

gl::Uniforms MergePasses::uniforms(const Job& job, const Level& level) {
    return uniforms(job).set("level", glm::ivec4(level.blocks, level.run, level.kept, level.pairs_out()));
}

void MergePasses::search(const Job& job, const Level& level, const Slice& slice, const Cuts& cuts, const Cuts* before) {
    auto with = variant(job, Kind::Search);
    with.coarse = before != nullptr;
    const auto& split = program(with);
    const auto stride = static_cast<unsigned>(cuts.stride_log2);
    draw(device_, {.name = cuts.stride_log2 > 0 ? "coarse cuts" : "cuts",
                   .stage = level.index,
                   .program = &split,
                   .inputs = inputs(job, before),
                   .uniforms = uniforms(job, level)
                                   .set("stride_log2", cuts.stride_log2)
                                   .set("coarse_log2", before ? before->stride_log2 : 0),
                   .target = &cuts.target.framebuffer,
                   .quads = &job.textures.halves(slice.first >> stride, ((slice.count - 1) >> stride) + 1),
                   .first = 0,
                   .count = 1});
}

const Cuts& MergePasses::find_cuts(const Job& job, const Level& level, const Slice& slice) {
    const Cuts* before = nullptr;
    for (const int log2 : job.plan.coarse_log2) {
        // The pass is only worth its cost if a group of runs has several such cuts.
        if ((std::size_t{2} << static_cast<unsigned>(log2)) > level.run) continue;
        const auto& cuts = job.textures.cuts(device_, log2);
        search(job, level, slice, cuts, before);
        before = &cuts;
    }
    const auto& cuts = job.textures.cuts(device_, 0);
    search(job, level, slice, cuts, before);
    return cuts;
}

void MergePasses::merge(const Job& job, const Level& level, const Slice& slice) {
    auto& textures = job.textures;
    auto with = variant(job, Kind::MergeRuns);
    with.search = job.one_pass;
    draw_halves(job, slice, with, level.last ? SortNote::Texels::Keys : SortNote::Texels::Numbers,
                {.name = "merge",
                 .stage = level.index,
                 .inputs = inputs(job, job.one_pass ? nullptr : &find_cuts(job, level, slice)),
                 .uniforms = uniforms(job, level).set(level.last ? order_uniforms(job.form) : number_uniforms()),
                 .target = &textures.keys.next.framebuffer});
    textures.keys.swap();
}

void MergePasses::sort(MergeTextures& textures, const KeyForm& form, Extent extent, const MergePlan& plan) {
    const auto blocks = textures.blocks_per_32_words();
    extent.pairs *= blocks;
    const bool one_pass = extent.pairs <= plan.one_pass_pairs;
    const Job job{textures, form, plan, one_pass, one_pass || plan.both_halves};
    extent.longest_pairs *= blocks;
    if (extent.sorted_pairs > 1) extent.sorted_pairs *= blocks;
    const auto pair_keys = textures.pair_keys(form);
    const Level first_level{.blocks = 2 * extent.pairs, .run = 2 * extent.sorted_pairs};
    auto level = first_level;
    const auto slice = plan.slice_pairs;
    if (slice > 0 && extent.pairs > slice && !textures.segmented && extent.wanted_keys == 0) {
        for (std::size_t first = 0; first < extent.pairs; first += slice) {
            if (level.index % 2 == 1) textures.keys.swap();  // so that each slice swaps the textures in the same way
            level = first_level;
            const Slice part{first, std::min(slice, extent.pairs - first)};
            sort_blocks(job, part);
            while (level.run < 2 * slice) {
                ++level.index;
                level.kept = 2 * level.run;
                merge(job, level, part);
                level.run *= 2;
            }
        }
    } else {
        sort_blocks(job, {0, extent.pairs});
    }
    auto longest = 2 * extent.longest_pairs;  // blocks of a segment
    const auto wanted = (2 * extent.wanted_keys + pair_keys - 1) / pair_keys;
    do {  // at least once: the last pass converts numbers to bits
        ++level.index;
        const bool half = extent.wanted_keys > 0 && level.run >= wanted;
        level.kept = half ? level.run : 2 * level.run;
        level.last = 2 * level.run >= longest;
        const Slice all{0, level.pairs_out()};
        merge(job, level, all);
        if (half) {
            longest = level.blocks = 2 * level.pairs_out();
        } else {
            level.run *= 2;
        }
    } while (!level.last);
}

}  // namespace quadmill::detail::sort
