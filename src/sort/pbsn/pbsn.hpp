// PBSN on textures: routines 4.3 and 4.4 as passes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gl/pass.hpp"
#include "pass/layout.hpp"
#include "pass/target.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// `now` is the paper's tex, which holds the data. `next` is its frame buffer, which passes blend into. `in_order` has
// one query per stage, which counts texels out of order.
struct PbsnTextures : pass::PingPong {
    PbsnTextures() = default;
    PbsnTextures(gl::Device& device, gl::Format format, const pass::FourArray& shape)
        : PingPong(device, format, shape.width, shape.height) {}
    std::vector<gl::Query> in_order;
};

class Pbsn {
  public:
    // The reason why the device cannot sort texels of that format; nothing if it can. Draws a test. Pre: a session is
    // open.
    [[nodiscard]] static std::optional<std::string> refusal(gl::Device& device, gl::Format format);
    // Throws InvalidArgument if the device cannot sort 32-bit floats.
    explicit Pbsn(gl::Device& device);

    struct Request {
        int k = 0;  // windows of 2^k elements
        Order order = Order::Ascending;
        EarlyStop early_stop = EarlyStop::Yes;
        // EachStage: the CPU reads the counts and stops issuing stages, waiting for one stage at a time. Never: only
        // the GPU skips stages.
        enum class Look { EachStage, Never } look = Look::EachStage;
    };

    // Issues the passes that sort every window of `textures.now`, which also has the result. With EarlyStop::Yes an
    // occlusion query after each stage counts the texels out of order. If there are none, the GPU skips the next stage,
    // and the CPU, which is one stage ahead, issues no more. `meanwhile` is called once, when the GPU has work.
    void sort(PbsnTextures& textures, const Request& request, const std::function<void()>& meanwhile = {});
    // Number of stages that the GPU did not skip. Waits for the GPU.
    [[nodiscard]] int stages_run() const;

    // The same network with comparisons in a fragment program, for unsigned keys of all bits (RGBA32UI). The result is
    // in `textures.now`.
    void sort_by_program(PbsnTextures& textures, int k);

  private:
    struct Range {
        std::size_t first = 0, count = 0;
    };
    struct Plan {
        gl::QuadList quads;           // the first one is the copy quad
        std::vector<Range> min, max;  // by step
        Range next_element;
    };
    const Plan& plan(int width, int height, int k);
    void draw_copy(const gl::Texture& from, const gl::Framebuffer& to, const Plan& plan, const gl::Pass& within);
    void issue_stage(PbsnTextures& textures, const Plan& plan, const Request& request, int stage,
                     const gl::Query* only_if);
    void count_out_of_order(PbsnTextures& textures, const Plan& plan, const Request& request, int stage);

    gl::Device& device_;
    gl::Program fetch_, out_of_order_, compare_;
    std::map<std::tuple<int, int, int>, Plan> plans_;
    const PbsnTextures* last_ = nullptr;
    int last_issued_ = 0;
    bool last_checked_ = false;
    bool halves_tested_ = false;
};

}  // namespace quadmill::detail::sort
