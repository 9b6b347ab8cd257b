#include "sort/merge_passes.hpp"

#include <algorithm>

#include "array/layout.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill_shaders.hpp"
#include "sort/register_network.hpp"

namespace quadmill::detail::sort {

namespace {

gl::Quad rectangle(int width, int y0, int y1) {
    const gl::Quad::Corners corners{0, static_cast<float>(y0), static_cast<float>(width), static_cast<float>(y1)};
    return {corners, corners};
}

}  // namespace

int MergeSurface::source_log2(const gl::Device& device, const KeyForm& form, const array::Banked& shape) {
    const auto pair_texels = form.pair_keys() * static_cast<std::size_t>(form.source_words()) / 4;
    const auto most = array::log2_ceil(static_cast<std::size_t>(device.info.max_texture_size) + 1) - 1;
    return std::min(shape.row_log2 + array::log2_ceil(pair_texels), most);
}

MergeSurface::MergeSurface(gl::Device& device, const KeyForm& form, const array::Banked& with)
    : shape(with),
      keys(device, form.format(), with.width(), with.height(), array::Banked::layers),
      other(device, form.format(), with.width(), with.height(), array::Banked::layers),
      keys_target(device, keys),
      other_target(device, other),
      cuts(device, gl::Format::Rgba32ui, with.width(), with.half_height),
      cuts_target(device, cuts),
      quads(device, {rectangle(with.width(), 0, with.half_height),
                     rectangle(with.width(), with.half_height, 2 * with.half_height)}) {
    const auto width = 1 << source_log2(device, form, with);
    const auto texels = with.pairs() * form.pair_keys() * static_cast<std::size_t>(form.source_words()) / 4;
    const auto rows = (texels + static_cast<std::size_t>(width) - 1) / static_cast<std::size_t>(width);
    source = gl::Texture(device, form.source_format(), width, static_cast<int>(rows));
    const auto largest = form.format() == gl::Format::Rgba16ui ? 0xffffU : 0xffffffffU;
    for (const auto* texture : {&keys, &other}) {
        gl::clear_texels(device, *texture, 0, 2 * with.half_height, 1, 1, 0);
        gl::clear_texels(device, *texture, 1, 2 * with.half_height, 1, 1, largest);
    }
}

const gl::Program& MergePasses::program(const char* file, const std::string& defines) {
    const auto key = file + ("\n" + defines);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    const std::string name(file);
    auto prelude = defines + shaders::sort_banked_glsl;
    const char* source = shaders::sort_block_sort_frag;
    if (name != "sort/merge_split.frag") prelude += shaders::sort_key_order_glsl;
    if (name != "sort/block_sort.frag") {
        prelude += shaders::sort_runs_glsl;
        source = name == "sort/merge_split.frag" ? shaders::sort_merge_split_frag : shaders::sort_merge_runs_frag;
    }
    return programs_.emplace(key, gl::Program(device_, file, source, prelude)).first->second;
}

std::string MergePasses::defines(const Job& job, int ways) const {
    const int keys = static_cast<int>(job.form.pair_keys()) / 2;
    auto text = "#define WORDS " + std::to_string(job.form.words()) + "\n#define SOURCE_WORDS " +
                std::to_string(job.form.source_words()) + "\n";
    if (job.form.indexed) text += "#define INDEXED\n";
    if (ways == 0) text += as_macro("SORT_NETWORK", odd_even_merge_sort(keys));
    text += as_macro("BITONIC_NETWORK", bitonic_merge(keys));
    if (ways > 0) text += "#define WAYS " + std::to_string(ways) + "\n";
    if (ways > 0 && job.surface.segments) text += "#define SEGMENTS\n";
    return text;
}

Uniforms MergePasses::uniforms(const gl::Program& program, const Job& job) const {
    Uniforms uniforms(program);
    uniforms.set("row_log2", GLint{job.surface.shape.row_log2});
    uniforms.set("half_height", GLint{job.surface.shape.half_height});
    uniforms.set("blocks", static_cast<GLint>(2 * job.surface.shape.pairs()));
    return uniforms;
}

void MergePasses::sort_blocks(const Job& job) {
    auto& surface = job.surface;
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
        const auto& with = program("sort/block_sort.frag", (half ? "#define UPPER\n" : "") + defines(job, 0));
        draw(device_, {.name = "sort blocks",
                       .program = &with,
                       .inputs = {&surface.source},
                       .uniforms = uniforms(with, job)
                                       .set("source_log2",
                                            GLint{array::log2_ceil(static_cast<std::size_t>(surface.source.width()))})
                                       .set_order(job.form)
                                       .take(),
                       .target = &surface.keys_target,
                       .quads = &surface.quads,
                       .first = half,
                       .count = 1});
    }
}

MergePasses::Coarse& MergePasses::coarse(const Job& job, int log2) {
    const auto& shape = job.surface.shape;
    const std::tuple key(shape.row_log2, shape.half_height, log2);
    if (const auto found = coarse_.find(key); found != coarse_.end()) return found->second;
    constexpr std::size_t most = 32;
    if (coarse_.size() >= most) coarse_.clear();
    const int width = shape.width() >> log2;
    Coarse fresh{gl::Texture(device_, gl::Format::Rgba32ui, width, shape.half_height),
                 {},
                 gl::QuadList(device_, {rectangle(width, 0, shape.half_height)})};
    fresh.target = gl::Framebuffer(device_, fresh.cuts);
    return coarse_.emplace(key, std::move(fresh)).first->second;
}

void MergePasses::search(const Job& job, int ways, int run, int level, int stride_log2, const Coarse* before,
                         int before_log2) {
    auto& surface = job.surface;
    const auto* here = stride_log2 > 0 ? &coarse(job, stride_log2) : nullptr;
    const auto& with = program("sort/merge_split.frag", (before ? "#define COARSE\n" : "") + defines(job, ways));
    draw(device_,
         {.name = here ? "coarse cuts" : "cuts",
          .stage = level,
          .program = &with,
          .inputs = {&surface.keys, before ? &before->cuts : nullptr, surface.segments ? &surface.segments : nullptr},
          .uniforms = uniforms(with, job)
                          .set("run", GLint{run})
                          .set("stride_log2", GLint{stride_log2})
                          .set("coarse_log2", GLint{before_log2})
                          .set("split_row_log2", GLint{surface.shape.row_log2 - stride_log2})
                          .set("coarse_row_log2", GLint{surface.shape.row_log2 - before_log2})
                          .take(),
          .target = here ? &here->target : &surface.cuts_target,
          .quads = here ? &here->quads : &surface.quads,
          .first = 0,
          .count = 1});
}

void MergePasses::find_cuts(const Job& job, int ways, int run, int level) {
    const Coarse* before = nullptr;
    int before_log2 = 0;
    for (const int log2 : job.plan.coarse_log2) {
        // Worth a pass only where a group of runs has several such cuts.
        if (log2 > job.surface.shape.row_log2 || (2 << log2) * 2 > ways * run) continue;
        search(job, ways, run, level, log2, before, before_log2);
        before = &coarse(job, log2);
        before_log2 = log2;
    }
    search(job, ways, run, level, 0, before, before_log2);
}

void MergePasses::merge(const Job& job, int ways, int run, int level, bool last) {
    auto& surface = job.surface;
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
        const auto& with = program("sort/merge_runs.frag", (half ? "#define UPPER\n" : "") + defines(job, ways));
        draw(
            device_,
            {.name = ways == 4 ? "merge four" : "merge two",
             .stage = level,
             .program = &with,
             .inputs = {&surface.keys, &surface.cuts, surface.segments ? &surface.segments : nullptr},
             .uniforms =
                 uniforms(with, job).set("run", GLint{run}).set("last", GLint{last ? 1 : 0}).set_order(job.form).take(),
             .target = &surface.other_target,
             .quads = &surface.quads,
             .first = half,
             .count = 1});
    }
    std::swap(surface.keys, surface.other);
    std::swap(surface.keys_target, surface.other_target);
}

void MergePasses::sort(MergeSurface& surface, const KeyForm& form, std::size_t longest_pairs, const MergePlan& plan) {
    const Job job{surface, form, plan};
    sort_blocks(job);
    const auto most = 2 * longest_pairs;  // blocks
    int run = 2, level = 0;
    do {  // at least once, because the last pass turns numbers into bits
        const int levels =
            std::max(array::log2_ceil((most + static_cast<std::size_t>(run) - 1) / static_cast<std::size_t>(run)), 1);
        const int ways = plan.ways == 2 || levels % 2 == 1 ? 2 : 4;
        find_cuts(job, ways, run, ++level);
        const bool last = static_cast<std::size_t>(run) * static_cast<std::size_t>(ways) >= most;
        merge(job, ways, run, level, last);
        run *= ways;
    } while (static_cast<std::size_t>(run) < most);
}

}  // namespace quadmill::detail::sort
