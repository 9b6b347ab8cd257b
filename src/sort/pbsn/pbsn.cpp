#include "sort/pbsn/pbsn.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"
#include "sort/note.hpp"
#include "sort/pbsn/network.hpp"
#include "sort/pbsn/quads.hpp"

namespace quadmill::detail::sort {

namespace {

// Pairs of a number and a greater one: infinities, the largest and the least normal numbers, and zero.
constexpr std::array<std::uint16_t, 8> less_16{0xfc00, 0x3c00, 0xfc00, 0x7bff, 0xbc00, 0x0400, 0x0000, 0xc000},
    greater_16{0x0000, 0x7c00, 0x7c00, 0x7c00, 0x3c00, 0x0401, 0x0400, 0xbc00};
constexpr std::array<std::uint32_t, 8> less_32{0xff800000, 0x3f800000, 0xff800000, 0x7f7fffff,
                                               0xbf800000, 0x00800000, 0x00000000, 0xc0000000},
    greater_32{0x00000000, 0x7f800000, 0x7f800000, 0x7f800000, 0x3f800000, 0x00800001, 0x00800000, 0xbf800000};

template <class Bits>
gl::Texture texture_of(gl::Device& device, gl::Format format, const Bits& numbers) {
    gl::Texture texture(device, format, static_cast<int>(numbers.size()) / 4, 1);
    const gl::PixelBuffer memory(device, gl::PixelBuffer::Direction::Upload, sizeof numbers);
    std::ranges::copy(std::as_bytes(std::span(numbers)), memory.write(0, sizeof numbers).begin());
    upload_rows(device, memory, 0, texture, 0, 1);
    return texture;
}

// Whether MIN and MAX blending keep one of the two numbers, bit for bit. A driver of OpenGL ES made
// NaN of infinities of 16 bits.
template <class Bits>
bool blends_exactly(gl::Device& device, const gl::Program& fetch, gl::Format format, const Bits& less,
                    const Bits& greater) {
    const std::array numbers{&less, &greater};
    for (const std::size_t drawn : {0U, 1U}) {
        const auto from = texture_of(device, format, *numbers.at(drawn));
        for (const auto blend : {gl::Blend::Min, gl::Blend::Max}) {
            const auto texture = texture_of(device, format, *numbers.at(1 - drawn));
            const gl::Framebuffer target(device, texture);
            const gl::QuadList quads(device, {gl::rectangle(0, 0, texture.width(), 1)});
            draw(device, {.name = "blending",
                          .program = &fetch,
                          .inputs = {&from},
                          .target = &target,
                          .blend = blend,
                          .quads = &quads});
            const auto& expected = blend == gl::Blend::Min ? less : greater;
            if (!std::ranges::equal(read_texels(device, texture), std::as_bytes(std::span(expected)))) return false;
        }
    }
    return true;
}

}  // namespace

Pbsn::Pbsn(gl::Device& device)
    : device_(device),
      fetch_(device, "pass/fetch.frag", shaders::pass_fetch_frag),
      out_of_order_(device, "sort/out_of_order.frag", shaders::sort_out_of_order_frag),
      compare_(device, "sort/compare.frag", shaders::sort_compare_frag) {
    if (!device.features.float_blending)
        throw InvalidArgument(
            "Engine::Pbsn blends floats, which this OpenGL ES driver cannot do (GL_EXT_color_buffer_float "
            "and GL_EXT_float_blend); use Auto, Merge or Cpu");
    const gl::Unobserved unobserved(device);
    if (!blends_exactly(device, fetch_, gl::Format::Rgba32f, less_32, greater_32))
        throw InvalidArgument("Engine::Pbsn: this driver blends 32-bit floats wrongly; use Auto, Merge or Cpu");
    blends_halves_ = blends_exactly(device, fetch_, gl::Format::Rgba16f, less_16, greater_16);
}

const Pbsn::Plan& Pbsn::plan(int width, int height, int k) {
    const auto key = std::tuple(width, height, k);
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    constexpr std::size_t most_plans = 64;
    if (plans_.size() >= most_plans) plans_.clear();

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
    if (textures.now.texture.format() == gl::Format::Rgba16f && !blends_halves_)
        throw InvalidArgument("Engine::Pbsn: this driver blends 16-bit floats wrongly; use Auto, Merge or Cpu");
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
