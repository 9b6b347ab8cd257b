#include "sort/bitonic/passes.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "pass/layout.hpp"
#include "quadmill_shaders.hpp"
#include "sort/bitonic/quads.hpp"
#include "sort/pbsn/quads.hpp"

namespace quadmill::detail::sort {

namespace {

gl::Texture linear_texture(gl::Device& device, gl::Format format, std::size_t bytes) {
    const auto shape = pass::FourArray::of_blocks(0, (bytes - 1) / gl::info(format).bytes + 1);
    return {device, format, shape.width, shape.height};
}

gl::Quad whole(const gl::Texture& texture) {
    return copy_quad(texture.width(), texture.height());
}

std::string define(const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

// For shaders between memory and planes.
std::string prelude_of_places(const BitonicJob& job) {
    auto text = define("PLANES", job.planes()) + define("SOURCE_WORDS", job.form.source_words());
    if (job.form.indexed) text += "#define INDEXED\n";
    if (job.shape.representation == Representation::FourArray) text += "#define FOUR_ARRAY\n";
    return text + shaders::sort_key_order_glsl + shaders::sort_bitonic_places_glsl;
}

std::vector<gl::Uniform> uniforms_of_places(const gl::Program& program, const BitonicJob& job,
                                            const gl::Texture& memory) {
    return Uniforms(program)
        .set("memory_log2", GLint{pass::log2_ceil(static_cast<std::size_t>(memory.width()))})
        .set("width_log2", GLint{job.shape.width_log2})
        .set("texels", static_cast<GLint>(job.shape.texels()))
        .set("window", static_cast<GLint>(job.window))
        .set("window_log2", GLint{job.shape.k})
        .set("count", static_cast<GLint>(job.count))
        .set_order(job.form)
        .take();
}

}  // namespace

BitonicSurface::BitonicSurface(gl::Device& device, const BitonicJob& job)
    : made_for(job),
      memory(linear_texture(device, job.form.source_format(), job.count * job.form.key_bytes())),
      memory_target(device, memory),
      planes(device, job.form.format(), job.shape.width(), job.shape.height, job.planes()),
      other(device, job.form.format(), job.shape.width(), job.shape.height, job.planes()),
      planes_target(device, planes),
      other_target(device, other) {
    std::vector<gl::Quad> all{whole(planes), whole(memory)};
    if (job.form.indexed) {
        index = linear_texture(device, gl::Format::Rgba32ui, job.count * sizeof(std::uint32_t));
        index_target = gl::Framebuffer(device, index);
        all.push_back(whole(index));
    }
    quads = gl::QuadList(device, std::move(all));
}

bool BitonicSurface::fits(const BitonicJob& job) const {
    return made_for.shape == job.shape && made_for.count == job.count && made_for.form.indexed == job.form.indexed &&
           made_for.form.key_bytes() == job.form.key_bytes();
}

const BitonicPasses::Plan& BitonicPasses::plan(const BitonicJob& job) {
    const auto& shape = job.shape;
    const auto found = std::ranges::find_if(plans_, [&](const Plan& plan) {
        return plan.shape == shape && plan.block == job.block && plan.steps_per_pass == job.steps_per_pass;
    });
    if (found != plans_.end()) return *found;
    constexpr std::size_t most = 16;
    if (plans_.size() >= most) plans_.clear();

    Plan plan{shape, job.block, job.steps_per_pass, bitonic_passes(shape, job.steps_per_pass), {}, {}};
    std::vector<gl::Quad> all;
    std::map<std::tuple<int, int, int>, Quads> made;  // passes that differ in `turn_row` alone have the same quads
    const auto block = static_cast<int>(std::min(job.block, std::bit_ceil(shape.texels())));
    for (const auto& pass : plan.passes) {
        const auto drawn = bitonic_quads(shape, pass, block);
        const std::tuple key(pass.steps, pass.low, drawn.turn_row != 0 ? -1 : pass.turn);
        auto range = made.try_emplace(key, Quads{all.size(), drawn.quads.size(), 0, 0});
        if (range.second) all.insert(all.end(), drawn.quads.begin(), drawn.quads.end());
        plan.quads_of.push_back({range.first->second.first, drawn.quads.size(), drawn.turn_row, drawn.columns});
    }
    plan.quads = gl::QuadList(device_, std::move(all));
    plans_.push_back(std::move(plan));
    return plans_.back();
}

const gl::Program& BitonicPasses::program(const char* name, const char* source, const std::string& prelude) {
    const auto key = name + ("\n" + prelude);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    return programs_.emplace(key, gl::Program(device_, name, source, prelude)).first->second;
}

void BitonicPasses::load(BitonicSurface& surface, const BitonicJob& job) {
    const auto& with = program("sort/bitonic_load.frag", shaders::sort_bitonic_load_frag, prelude_of_places(job));
    draw(device_, {.name = "load",
                   .program = &with,
                   .inputs = {&surface.memory},
                   .uniforms = uniforms_of_places(with, job, surface.memory),
                   .target = &surface.planes_target,
                   .quads = &surface.quads,
                   .first = 0,
                   .count = 1});
}

// With "#define STORE_INDEX", the places of keys.
void BitonicPasses::store(BitonicSurface& surface, const BitonicJob& job, const char* name,
                          const std::string& defines) {
    const bool index = !defines.empty();
    const auto& with =
        program("sort/bitonic_store.frag", shaders::sort_bitonic_store_frag, defines + prelude_of_places(job));
    draw(device_, {.name = name,
                   .program = &with,
                   .inputs = {&surface.planes},
                   .uniforms = uniforms_of_places(with, job, index ? surface.index : surface.memory),
                   .target = index ? &surface.index_target : &surface.memory_target,
                   .quads = &surface.quads,
                   .first = index ? 2U : 1U,
                   .count = 1});
}

void BitonicPasses::make_steps(BitonicSurface& surface, const BitonicJob& job, const Plan& plan, std::size_t i) {
    const auto& pass = plan.passes[i];
    const auto& quads = plan.quads_of[i];
    const auto& with = program("sort/bitonic_step.frag", shaders::sort_bitonic_step_frag,
                               define("PLANES", job.planes()) + define("STEPS", pass.steps));
    draw(device_, {.name = pass.steps == 0 ? "compare in texels" : "compare",
                   .stage = pass.stage,
                   .step = pass.step,
                   .program = &with,
                   .inputs = {&surface.planes},
                   .uniforms = Uniforms(with)
                                   .set("width_log2", GLint{job.shape.width_log2})
                                   .set("low_log2", GLint{pass.low})
                                   .set("columns", GLint{quads.columns})
                                   .set("turn_row", GLint{quads.turn_row})
                                   .set("turn_channel", GLint{pass.turn_channel})
                                   .set("pairs", GLint{pass.pairs})
                                   .set("fours", GLint{pass.fours})
                                   .take(),
                   .target = &surface.other_target,
                   .quads = &plan.quads,
                   .first = quads.first,
                   .count = quads.count});
    surface.swap();
}

void BitonicPasses::sort(BitonicSurface& surface, const BitonicJob& job) {
    const auto& plan = this->plan(job);
    load(surface, job);
    for (std::size_t i = 0; i < plan.passes.size(); ++i) make_steps(surface, job, plan, i);
    store(surface, job, "store", {});
    if (job.form.indexed) store(surface, job, "store index", "#define STORE_INDEX\n");
}

}  // namespace quadmill::detail::sort
