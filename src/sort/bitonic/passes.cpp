#include "sort/bitonic/passes.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "pass/layout.hpp"
#include "sort/bitonic/quads.hpp"
#include "sort/note.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

pass::Target linear_target(gl::Device& device, gl::Format format, std::size_t bytes) {
    const auto shape = pass::FourArray::of_blocks(0, (bytes - 1) / gl::info(format).bytes + 1);
    return {device, format, shape.width, shape.height};
}

std::string define(const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

// For shaders that convert between memory and planes.
std::string prelude_of_places(const BitonicJob& job) {
    auto text = define("PLANES", job.planes()) + define("SOURCE_WORDS", job.form.source_words());
    if (job.form.indexed) text += "#define INDEXED\n";
    if (job.shape.representation == Representation::FourArray) text += "#define FOUR_ARRAY\n";
    if (job.kind == BitonicJob::Kind::ArgsortTexture) text += "#define OF_TEXTURES\n";
    return text + shaders::sort_key_order_glsl + shaders::sort_bitonic_places_glsl + shaders::sort_bitonic_planes_glsl;
}

gl::Uniforms uniforms_of_places(const BitonicJob& job) {
    return gl::Uniforms{{"width_log2", job.shape.width_log2},
                        {"texels", static_cast<int>(job.shape.texels())},
                        {"window", static_cast<int>(job.window)},
                        {"window_log2", job.shape.k},
                        {"count", static_cast<int>(job.count)}}
        .set(order_uniforms(job.form));
}

gl::Uniforms uniforms_of_memory(const BitonicJob& job, const gl::Texture& memory) {
    return uniforms_of_places(job).set("memory_log2", pass::log2_ceil(static_cast<std::size_t>(memory.width())));
}

}  // namespace

BitonicTextures::BitonicTextures(gl::Device& device, const BitonicJob& job)
    : made_for(job), planes(device, job.form.format(), job.shape.width(), job.shape.height, job.planes()) {
    if (job.kind == BitonicJob::Kind::ArgsortTexture) return;
    memory = linear_target(device, job.form.source_format(), job.count * job.form.key_bytes());
    if (job.form.indexed) index = linear_target(device, gl::Format::Rgba32ui, job.count * sizeof(std::uint32_t));
}

bool BitonicTextures::fits(const BitonicJob& job) const {
    return made_for.shape == job.shape && made_for.count == job.count && made_for.form.indexed == job.form.indexed &&
           made_for.form.key_bytes() == job.form.key_bytes() &&
           (memory.texture || job.kind == BitonicJob::Kind::ArgsortTexture);
}

const BitonicPasses::Plan& BitonicPasses::plan(const BitonicJob& job) {
    const auto& shape = job.shape;
    const auto found = std::ranges::find_if(plans_, [&](const Plan& plan) {
        return plan.shape == shape && plan.block == job.block && plan.steps_per_pass == job.steps_per_pass;
    });
    if (found != plans_.end()) return *found;
    constexpr std::size_t max = 16;
    if (plans_.size() >= max) plans_.clear();

    Plan plan{shape, job.block, job.steps_per_pass, bitonic_passes(shape, job.steps_per_pass), {}, {}};
    std::vector<gl::Quad> all;
    std::map<std::tuple<int, int, int>, Quads> made;  // passes that only differ in `turn_row` have the same quads
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

void BitonicPasses::load(BitonicTextures& textures, const BitonicJob& job, const gl::Texture& from,
                         gl::Uniforms uniforms) {
    const SortNote placed{};
    draw(device_,
         {.name = "load",
          .note = &placed,
          .program = &programs_.get("sort/bitonic_load.frag", shaders::sort_bitonic_load_frag, prelude_of_places(job)),
          .inputs = {&from},
          .uniforms = std::move(uniforms),
          .target = &textures.planes.now.framebuffer,
          .quads = &textures.planes.now.whole});
}

// With "#define STORE_INDEX", stores the index of each key.
void BitonicPasses::store(BitonicTextures& textures, const BitonicJob& job, const char* name,
                          const std::string& defines) {
    const auto& to = defines.empty() ? textures.memory : textures.index;
    draw(device_, {.name = name,
                   .program = &programs_.get("sort/bitonic_store.frag", shaders::sort_bitonic_store_frag,
                                             defines + prelude_of_places(job)),
                   .inputs = {&textures.planes.now.texture},
                   .uniforms = uniforms_of_memory(job, to.texture),
                   .target = &to.framebuffer,
                   .quads = &to.whole});
}

void BitonicPasses::make_steps(BitonicTextures& textures, const BitonicJob& job, const Plan& plan, std::size_t i) {
    const auto& pass = plan.passes[i];
    const auto& quads = plan.quads_of[i];
    const auto& with =
        programs_.get("sort/bitonic_step.frag", shaders::sort_bitonic_step_frag,
                      define("PLANES", job.planes()) + define("STEPS", pass.steps) + shaders::sort_bitonic_planes_glsl);
    const SortNote note{.act = SortNote::Act::Exchange, .made = &pass};
    draw(device_, {.name = pass.steps == 0 ? "compare in texels" : "compare",
                   .note = &note,
                   .stage = pass.stage,
                   .step = pass.step,
                   .program = &with,
                   .inputs = {&textures.planes.now.texture},
                   .uniforms = {{"width_log2", job.shape.width_log2},
                                {"low_log2", pass.low},
                                {"columns", quads.columns},
                                {"turn_row", quads.turn_row},
                                {"turn_channel", pass.turn_channel},
                                {"pairs", int{pass.pairs}},
                                {"fours", int{pass.fours}}},
                   .target = &textures.planes.next.framebuffer,
                   .quads = &plan.quads,
                   .first = quads.first,
                   .count = quads.count});
    textures.planes.swap();
}

void BitonicPasses::make_all_steps(BitonicTextures& textures, const BitonicJob& job) {
    const auto& plan = this->plan(job);
    for (std::size_t i = 0; i < plan.passes.size(); ++i) make_steps(textures, job, plan, i);
}

void BitonicPasses::sort(BitonicTextures& textures, const BitonicJob& job) {
    load(textures, job, textures.memory.texture, uniforms_of_memory(job, textures.memory.texture));
    make_all_steps(textures, job);
    if (job.kind == BitonicJob::Kind::Sort) store(textures, job, "store", {});
    if (job.form.indexed) store(textures, job, "store index", "#define STORE_INDEX\n");
}

void BitonicPasses::argsort(BitonicTextures& textures, const BitonicJob& job, const gl::Texture& keys,
                            const gl::Framebuffer& to) {
    load(textures, job, keys, uniforms_of_places(job).set("memory_width", keys.width()));
    make_all_steps(textures, job);
    const gl::QuadList quads(device_, pass::first_texels(to.width(), job.count));
    draw(device_, {.name = "store index",
                   .program = &programs_.get("sort/bitonic_store.frag", shaders::sort_bitonic_store_frag,
                                             "#define STORE_INDEX\n" + prelude_of_places(job)),
                   .inputs = {&textures.planes.now.texture},
                   .uniforms = uniforms_of_places(job).set("memory_width", to.width()),
                   .target = &to,
                   .quads = &quads});
}

}  // namespace quadmill::detail::sort
