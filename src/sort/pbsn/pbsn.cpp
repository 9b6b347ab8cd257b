#include "sort/pbsn/pbsn.hpp"

#include <utility>

#include "gl/device.hpp"
#include "gl/float_blending.hpp"
#include "gl/pixels.hpp"
#include "pass_shaders.hpp"
#include "quadmill/error.hpp"
#include "sort/note.hpp"
#include "sort/pbsn/network.hpp"
#include "sort/pbsn/quads.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

void require(gl::Device& device, gl::Format format) {
    if (const auto why = Pbsn::refusal(device, format)) throw InvalidArgument(*why);
}

}  // namespace

std::optional<std::string> Pbsn::refusal(gl::Device& device, gl::Format format) {
    if (!device.features.float_blending) {
        return "Engine::Pbsn blends floats, which this OpenGL ES driver cannot do (GL_EXT_color_buffer_float and "
               "GL_EXT_float_blend); use Auto, Merge or Cpu";
    }
    if (gl::blends_exactly(device, format, gl::Blended::Order)) return {};
    return std::string("Engine::Pbsn sorts using blending, and this driver does not blend ") +
           (format == gl::Format::Rgba16f ? "16" : "32") +
           "-bit floats exactly (a test drawing came out wrong); use Auto, Merge or Cpu";
}

Pbsn::Pbsn(gl::Device& device)
    : device_(device),
      fetch_(device, "pass/fetch.frag", shaders::pass_fetch_frag),
      out_of_order_(device, "sort/out_of_order.frag", shaders::sort_out_of_order_frag),
      compare_(device, "sort/compare.frag", shaders::sort_compare_frag) {
    require(device, gl::Format::Rgba32f);
}

const Pbsn::Plan& Pbsn::plan(int width, int height, int k) {
    const auto key = std::tuple(width, height, k);
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    constexpr std::size_t max_plans = 64;
    if (plans_.size() >= max_plans) plans_.clear();

    Plan plan;
    std::vector<gl::Quad> all{copy_quad(width, height)};
    const auto append = [&](const std::vector<gl::Quad>& quads) {
        const Range range{all.size(), quads.size()};
        all.insert(all.end(), quads.begin(), quads.end());
        return range;
    };
    for (const auto& step : pbsn_stage(k, 1)) {
        const auto quads = sort_step(width, height, std::size_t{1} << static_cast<unsigned>(step.log2_block));
        plan.min.push_back(append(quads.min));
        plan.max.push_back(append(quads.max));
    }
    plan.next_element = append(next_element_quads(width, height, std::size_t{1} << static_cast<unsigned>(k)));
    plan.quads = gl::QuadList(device_, std::move(all));
    return plans_.emplace(key, std::move(plan)).first->second;
}

void Pbsn::count_out_of_order(PbsnTextures& textures, const Plan& plan, const Request& request, int stage) {
    const auto index = static_cast<std::size_t>(stage);
    draw(device_, {.name = "out of order",
                   .stage = stage,
                   .program = &out_of_order_,
                   .inputs = {&textures.now.texture},
                   .uniforms = {{"direction", request.order == Order::Ascending ? 1.0F : -1.0F}},
                   .target = &textures.next.framebuffer,
                   .color = gl::ColorWrite::Off,
                   .quads = &plan.quads,
                   .first = plan.next_element.first,
                   .count = plan.next_element.count,
                   .count_samples = &textures.in_order[index],
                   .only_if = stage > 0 ? &textures.in_order[index - 1] : nullptr});
}

// Routine 4.1. As fast as the texture can be written (glCopyImageSubData was measured to take a tenth longer), and the
// GPU can skip a draw.
void Pbsn::draw_copy(const gl::Texture& from, const gl::Framebuffer& to, const Plan& plan, const gl::Pass& within) {
    draw(device_, {.name = within.name,
                   .note = within.note,
                   .stage = within.stage,
                   .step = within.step,
                   .program = &fetch_,
                   .inputs = {&from},
                   .target = &to,
                   .quads = &plan.quads,
                   .first = 0,
                   .count = 1,
                   .only_if = within.only_if});
}

void Pbsn::issue_stage(PbsnTextures& textures, const Plan& plan, const Request& request, int stage,
                       const gl::Query* only_if) {
    // Descending order only swaps the two blend functions.
    auto lower = gl::Blend::Min, upper = gl::Blend::Max;
    if (request.order == Order::Descending) std::swap(lower, upper);
    SortNote note{.texels = SortNote::Texels::Keys};
    gl::Pass pass{.name = "min",
                  .note = &note,
                  .stage = stage,
                  .program = &fetch_,
                  .inputs = {&textures.now.texture},
                  .target = &textures.next.framebuffer,
                  .quads = &plan.quads,
                  .only_if = only_if};
    for (std::size_t i = 0; i < plan.min.size(); ++i) {
        pass.step = static_cast<int>(i) + 1;
        for (const auto blend : {lower, upper}) {
            const auto& range = blend == lower ? plan.min[i] : plan.max[i];
            pass.name = blend == gl::Blend::Min ? "min" : "max";
            note.act = blend == lower ? SortNote::Act::KeepLower : SortNote::Act::KeepUpper;
            note.step = SortNote::Step::GoesOn;
            pass.blend = blend;
            pass.first = range.first;
            pass.count = range.count;
            draw(device_, pass);
        }
        pass.name = "copy to tex";
        note.act = SortNote::Act::Place;
        note.step = SortNote::Step::Ends;
        draw_copy(textures.next.texture, textures.now.framebuffer, plan, pass);
    }
}

void Pbsn::sort(PbsnTextures& textures, const Request& request, const std::function<void()>& meanwhile) {
    if (textures.now.texture.format() == gl::Format::Rgba16f && !halves_tested_) {
        require(device_, gl::Format::Rgba16f);
        halves_tested_ = true;
    }
    const auto& plan = this->plan(textures.now.texture.width(), textures.now.texture.height(), request.k);
    last_ = &textures;
    last_checked_ = request.early_stop == EarlyStop::Yes;
    last_issued_ = 0;
    while (last_checked_ && textures.in_order.size() < static_cast<std::size_t>(request.k)) {
        textures.in_order.emplace_back(device_, gl::Query::Kind::Samples);
    }
    // Routine 4.3, line 3: the frame buffer starts as a copy of the texture.
    const SortNote placed{.texels = SortNote::Texels::Keys};
    draw_copy(textures.now.texture, textures.next.framebuffer, plan, {.name = "copy", .note = &placed});
    if (last_checked_ && request.k > 0) count_out_of_order(textures, plan, request, 0);
    bool told = false;
    for (int stage = 1; stage <= request.k; ++stage) {
        // Waits for the count from before the last stage that was issued, so that the GPU has that stage to work on in
        // the meantime.
        gl::end_condition(device_);
        if (last_checked_ && request.look == Request::Look::EachStage && stage >= 2 &&
            textures.in_order[static_cast<std::size_t>(stage) - 2].result() == 0)
            break;
        const auto* only_if = last_checked_ ? &textures.in_order[static_cast<std::size_t>(stage) - 1] : nullptr;
        issue_stage(textures, plan, request, stage, only_if);
        last_issued_ = stage;
        if (last_checked_ && stage < request.k) count_out_of_order(textures, plan, request, stage);
        if (!std::exchange(told, true) && meanwhile) {
            gl::flush(device_);
            meanwhile();
        }
    }
    gl::end_condition(device_);
    if (!told && meanwhile) meanwhile();
}

int Pbsn::stages_run() const {
    for (int stage = 0; last_checked_ && stage < last_issued_; ++stage) {
        if (last_->in_order[static_cast<std::size_t>(stage)].result() == 0) return stage;
    }
    return last_issued_;
}

void Pbsn::sort_by_program(PbsnTextures& textures, int k) {
    const auto& plan = this->plan(textures.now.texture.width(), textures.now.texture.height(), k);
    for (const auto& step : pbsn_network(k)) {
        const auto index = static_cast<std::size_t>(step.step) - 1;
        for (const int take_max : {0, 1}) {
            const auto& range = take_max ? plan.max[index] : plan.min[index];
            draw(device_, {.name = take_max ? "compare max" : "compare min",
                           .stage = step.stage,
                           .step = step.step,
                           .program = &compare_,
                           .inputs = {&textures.now.texture},
                           .uniforms = {{"take_max", take_max}},
                           .target = &textures.next.framebuffer,
                           .quads = &plan.quads,
                           .first = range.first,
                           .count = range.count});
        }
        textures.swap();
    }
}

}  // namespace quadmill::detail::sort
