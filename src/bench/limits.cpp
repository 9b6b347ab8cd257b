#include "bench/limits.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "bench/pass_meter.hpp"
#include "bench/wake.hpp"
#include "bench_shaders.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "sort/pbsn/quads.hpp"

namespace quadmill::detail::bench {

namespace {

enum class Kind { Float, Unsigned };

Kind kind_of(gl::Format format) {
    switch (format) {
        case gl::Format::Rgba32ui:
        case gl::Format::Rgba16ui:
        case gl::Format::Rg32ui:
        case gl::Format::R32ui:
            return Kind::Unsigned;
        default:
            return Kind::Float;
    }
}

gl::Program fetch_program(gl::Device& device, Kind kind, int fetches) {
    return {device, "bench/fetch.frag", shaders::bench_fetch_frag,
            std::string("#define SAMPLER ") + (kind == Kind::Float ? "sampler2D" : "usampler2D") + "\n#define TEXEL " +
                (kind == Kind::Float ? "vec4" : "uvec4") + "\n#define FETCHES " + std::to_string(fetches) + "\n"};
}

std::string fill_name(gl::Format format, gl::Blend blend) {
    return (blend == gl::Blend::None ? "write " : "blend ") + std::string(gl::info(format).name);
}

// A target, and a texture of the same format to read from, which is larger by a margin.
struct Filled {
    Filled(gl::Device& device, gl::Format format, int side)
        : source(device, format, side + margin, side + margin),
          target(device, format, side, side),
          framebuffer(device, target),
          quads(device, {sort::copy_quad(side, side)}) {}
    static constexpr int margin = 8;
    gl::Texture source, target;
    gl::Framebuffer framebuffer;
    gl::QuadList quads;
};

class Meter : PassMeter {
  public:
    Meter(gl::Device& device, const LimitsRequest& request) : PassMeter(device, request.repeat), request_(request) {}

    std::vector<Limit> all();
    [[nodiscard]] Limit fill_rate(gl::Format format, gl::Blend blend) const;
    // The rate for a format with depth and stencil but no colour: written by a depth test that always passes.
    [[nodiscard]] Limit depth_fill_rate(gl::Format format) const;
    [[nodiscard]] Limit depth() const;
    [[nodiscard]] Limit scatter(gl::Format format) const;
    [[nodiscard]] Limit fetch() const;
    [[nodiscard]] Limit gather(std::uint64_t texels, int fetches) const;
    // Pre: shaders can read clocks.
    [[nodiscard]] Limit clock() const;

  private:
    void note(const std::string& name, const std::string& unit, const std::function<double()>& work) {
        limits_.push_back(measure(name, unit, work));
    }

    [[nodiscard]] double pixels() const { return static_cast<double>(request_.side) * request_.side; }

    static gl::Pass pass_over(const Filled& filled, const gl::Program& program) {
        return {.name = "limit",
                .program = &program,
                .inputs = {&filled.source},
                .target = &filled.framebuffer,
                .quads = &filled.quads,
                .first = 0,
                .count = 1};
    }

    void copies(gl::Format format);
    void fetches(const Limit& write, const Limit& best);
    void targets();
    void stencil();
    void arithmetic();
    void transfers();
    void overheads();

    LimitsRequest request_;
    std::vector<Limit> limits_;
};

// The difference between waiting for many and for few cycles, so that the overhead of the pass cancels out.
Limit Meter::clock() const {
    const gl::Program program(device_, "bench/clock.frag", shaders::bench_clock_frag,
                              "#extension GL_ARB_shader_clock : require\n");
    const Filled filled(device_, gl::Format::Rgba32ui, 1);
    constexpr std::uint32_t few = 1U << 21U, more = 1U << 24U;
    const auto wait = [&](std::uint32_t cycles) {
        auto pass = pass_over(filled, program);
        pass.inputs = {};
        pass.uniforms = {{"cycles", cycles}};
        return seconds([&] { draw(device_, pass); });
    };
    return measure("clock of shaders", "GHz", [&] { return (more - few) * 1e-9 / (wait(more) - wait(few)); });
}

Limit Meter::fill_rate(gl::Format format, gl::Blend blend) const {
    const auto program = fetch_program(device_, kind_of(format), 1);
    const Filled filled(device_, format, request_.side);
    auto pass = pass_over(filled, program);
    pass.blend = blend;
    return measure(fill_name(format, blend), "Gtexel/s",
                   [&] { return rate(pixels(), many, [&] { draw(device_, pass); }); });
}

Limit Meter::depth_fill_rate(gl::Format format) const {
    const gl::Program program(device_, "bench/one.frag", shaders::bench_one_frag);
    const gl::Texture depth(device_, format, request_.side, request_.side);
    const gl::Framebuffer framebuffer(device_, gl::Framebuffer::NoColor{}, depth);
    const gl::QuadList quads(device_, {sort::copy_quad(request_.side, request_.side)});
    const gl::Pass pass{.name = "limit",
                        .program = &program,
                        .target = &framebuffer,
                        .color = gl::ColorWrite::Off,
                        .depth = gl::DepthTest{.pass_if = gl::Compare::Always, .write = gl::DepthWrite::On},
                        .quads = &quads,
                        .first = 0,
                        .count = 1};
    return measure(fill_name(format, gl::Blend::None), "Gtexel/s",
                   [&] { return rate(pixels(), many, [&] { draw(device_, pass); }); });
}

void Meter::copies(gl::Format format) {
    const gl::Texture from(device_, format, request_.side, request_.side),
        to(device_, format, request_.side, request_.side);
    note("copy " + std::string(gl::info(format).name), "Gtexel/s",
         [&] { return rate(pixels(), many, [&] { copy(device_, "limit", from, to); }); });
}

Limit Meter::fetch() const {
    const Filled filled(device_, gl::Format::Rgba32f, request_.side);
    Limit best{};
    for (const int count : {8, 16, 32}) {
        const auto program = fetch_program(device_, Kind::Float, count);
        const auto pass = pass_over(filled, program);
        const auto found = measure("fetch RGBA32F", "Gfetch/s",
                                   [&] { return rate(pixels() * count, 1, [&] { draw(device_, pass); }); });
        if (found.value > best.value) best = found;
    }
    return best;
}

Limit Meter::gather(std::uint64_t texels, int fetches) const {
    const gl::Program program(device_, "bench/gather.frag", shaders::bench_gather_frag,
                              "#define FETCHES " + std::to_string(fetches) + "\n");
    constexpr int row_log2 = 13;
    const auto rows = static_cast<int>((texels >> row_log2) + 1);
    const gl::Texture table(device_, gl::Format::Rgba32f, 1 << row_log2, rows),
        keys(device_, gl::Format::R32f, request_.side, request_.side);
    gl::fill(device_, table, 1);
    gl::fill(device_, keys, 1);
    const pass::Target target(device_, gl::Format::R32f, request_.side, request_.side);
    const gl::Pass pass{.name = "limit",
                        .program = &program,
                        .inputs = {&keys, &table},
                        .uniforms = {{"texels", static_cast<std::uint32_t>(texels)}, {"row_log2", row_log2}},
                        .target = &target.framebuffer,
                        .quads = &target.whole};
    const auto mib = std::to_string((texels * 16) >> 20U);
    return measure("gather " + std::to_string(fetches) + " texels of " + mib + " MiB a key", "Gkey/s",
                   [&] { return rate(pixels(), 1, [&] { draw(device_, pass); }); });
}

void Meter::fetches(const Limit& write, const Limit& best) {
    limits_.push_back(best);
    limits_.push_back({"fetches in the time of one RGBA32F write", best.value / write.value, best.low / write.high,
                       best.high / write.low, "fetches"});
}

void Meter::targets() {
    constexpr int layers = 8;
    const int side = std::max(request_.side / 2, 1);
    const gl::Program program(device_, "bench/targets.frag", shaders::bench_targets_frag);
    const gl::Texture target(device_, gl::Format::Rgba32ui, side, side, layers);
    const gl::Framebuffer framebuffer(device_, target);
    const gl::QuadList quads(device_, {sort::copy_quad(side, side)});
    const gl::Pass pass{
        .name = "limit", .program = &program, .target = &framebuffer, .quads = &quads, .first = 0, .count = 1};
    note("write RGBA32UI, 8 targets together", "Gtexel/s",
         [&] { return rate(static_cast<double>(side) * side * layers, many, [&] { draw(device_, pass); }); });
}

Limit Meter::depth() const {
    const gl::Program program(device_, "bench/one.frag", shaders::bench_one_frag);
    const Filled filled(device_, gl::Format::R32f, request_.side);
    const gl::Texture depth(device_, gl::Format::Depth32f, request_.side, request_.side);
    fill(device_, depth, 0.75F);
    const gl::Framebuffer tested(device_, filled.target, &depth);
    const gl::Query count(device_, gl::Query::Kind::Samples);
    auto pass = pass_over(filled, program);
    pass.target = &tested;
    pass.color = gl::ColorWrite::Off;
    pass.depth = gl::DepthTest{.pass_if = gl::Compare::Less};
    pass.count_samples = &count;
    return measure("depth test and occlusion count", "Gpixel/s",
                   [&] { return rate(pixels(), many, [&] { draw(device_, pass); }); });
}

void Meter::stencil() {
    const gl::Program program(device_, "bench/one.frag", shaders::bench_one_frag);
    const Filled filled(device_, gl::Format::R32f, request_.side);
    const gl::Texture stencil(device_, gl::Format::Depth32fStencil8, request_.side, request_.side);
    const gl::Framebuffer tested(device_, filled.target, &stencil);
    auto pass = pass_over(filled, program);
    pass.target = &tested;
    pass.color = gl::ColorWrite::Off;
    pass.stencil =
        gl::StencilTest{.pass_if = gl::Compare::NotEqual, .reference = 255, .on_pass = gl::StencilOp::Increment};
    note("stencil test and increment", "Gpixel/s", [&] {
        clear_stencil(device_, tested, 0);  // so that all fragments pass
        return rate(pixels(), many, [&] { draw(device_, pass); });
    });
}

Limit Meter::scatter(gl::Format format) const {
    const gl::Program program(device_, "bench/scatter.vert", {shaders::bench_scatter_vert, shaders::bench_one_frag});
    const gl::Texture target(device_, format, request_.side, request_.side);
    fill(device_, target, 0);
    const gl::Framebuffer framebuffer(device_, target);
    const gl::Points points(device_);
    const auto count = static_cast<std::size_t>(std::max(request_.side * request_.side / 4, 1));
    const gl::Pass pass{.name = "limit",
                        .program = &program,
                        .target = &framebuffer,
                        .blend = gl::Blend::Add,
                        .points = &points,
                        .first = 0,
                        .count = count};
    return measure("scatter points, adding to " + std::string(gl::info(format).name), "Gpoint/s",
                   [&] { return rate(static_cast<double>(count), 1, [&] { draw(device_, pass); }); });
}

void Meter::arithmetic() {
    constexpr int rounds = 64;
    constexpr double a_pixel = rounds / 2 * 30.0;  // operations per pixel, see the shader
    const gl::Program program(device_, "bench/min_max.frag", shaders::bench_min_max_frag,
                              "#define ROUNDS " + std::to_string(rounds) + "\n");
    const Filled filled(device_, gl::Format::Rgba32ui, request_.side);
    const auto pass = pass_over(filled, program);
    note("min and max of integers in registers", "Gop/s",
         [&] { return rate(pixels() * a_pixel, 1, [&] { draw(device_, pass); }); });
}

void Meter::transfers() {
    const gl::Texture texture(device_, gl::Format::Rgba32f, request_.side, request_.side);
    const gl::PixelBuffer up(device_, gl::PixelBuffer::Direction::Upload, texture.bytes());
    gl::PixelBuffer down(device_, gl::PixelBuffer::Direction::ReadBack, texture.bytes());
    const auto gigabytes = static_cast<double>(texture.bytes()) * 1e-9;
    note("upload from a pixel buffer", "GB/s",
         [&] { return gigabytes / seconds([&] { gl::upload_rows(device_, up, 0, texture, 0, request_.side); }); });
    note("read back to a pixel buffer", "GB/s",
         [&] { return gigabytes / seconds([&] { gl::read_rows(device_, texture, 0, request_.side, down, 0); }); });
    cpu::Workers workers;
    std::vector<std::byte> memory(texture.bytes(), std::byte{1});
    const auto tasks = (texture.bytes() + pass::task_bytes - 1) / pass::task_bytes;
    note("memory to a pixel buffer, by the CPU", "GB/s", [&] {
        return gigabytes / seconds([&] {
                   workers.for_each(tasks, [&](std::size_t i) {
                       const auto begin = i * pass::task_bytes;
                       const auto to = up.write(begin, std::min(pass::task_bytes, memory.size() - begin));
                       std::memcpy(to.data(), memory.data() + begin, to.size());
                   });
               });
    });
    pass::Uploader uploader;
    pass::ReadBack readback;
    const auto row_bytes = static_cast<std::size_t>(request_.side) * 16;
    note("upload from memory", "GB/s", [&] {
        return gigabytes / seconds([&] {
                   uploader.send(device_, texture, workers, [&](std::size_t first_row, std::size_t, auto to) {
                       std::memcpy(to.data(), memory.data() + first_row * row_bytes, to.size());
                   });
               });
    });
    note("read back to memory", "GB/s", [&] {
        return gigabytes / seconds([&] {
                   readback.request(device_, texture);
                   readback.copy_to(memory, workers);
               });
    });
}

void Meter::overheads() {
    const auto program = fetch_program(device_, Kind::Float, 1);
    const Filled one(device_, gl::Format::Rgba32f, 1), other(device_, gl::Format::Rgba32f, 1);
    // Each of the two reads what the other wrote, like passes of an algorithm.
    auto there = pass_over(one, program), back = pass_over(other, program);
    there.inputs = {&other.target};
    back.inputs = {&one.target};
    constexpr int passes = 256;
    note("one pass of one texel", "us", [&] {
        return seconds([&] {
                   for (int i = 0; i < passes; ++i) draw(device_, i % 2 ? there : back);
               }) *
               1e6 / passes;
    });
}

std::vector<Limit> Meter::all() {
    const auto write = fill_rate(gl::Format::Rgba32f, gl::Blend::None);
    limits_.push_back(write);
    limits_.push_back(fill_rate(gl::Format::Rgba32f, gl::Blend::Min));
    copies(gl::Format::Rgba32f);
    limits_.push_back(fill_rate(gl::Format::Rgba16f, gl::Blend::None));
    limits_.push_back(fill_rate(gl::Format::Rgba16f, gl::Blend::Min));
    copies(gl::Format::Rgba16f);
    limits_.push_back(fill_rate(gl::Format::Rg32f, gl::Blend::None));
    limits_.push_back(fill_rate(gl::Format::R32f, gl::Blend::None));
    fetches(write, fetch());
    targets();
    limits_.push_back(depth());
    stencil();
    limits_.push_back(scatter(gl::Format::R32f));
    arithmetic();
    if (device_.features.shader_clock) limits_.push_back(clock());
    transfers();
    overheads();
    return std::move(limits_);
}

// The result of `find` with a meter on a GPU at full clock, in a session.
template <class Find>
auto by_meter(const Context& context, const LimitsRequest& request, const Find& find) {
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "limits");
    Meter meter(device, request);
    wake(context, [&] { static_cast<void>(meter.fill_rate(gl::Format::Rgba32f, gl::Blend::None)); });
    auto found = find(meter);
    scope.check();
    return found;
}

// For benches, which should not wait long.
LimitsRequest quick_request(const Context& context) {
    return {.side = context.info().software ? 512 : 2048, .repeat = 3};
}

}  // namespace

std::vector<Limit> measure_limits(Context& context, const LimitsRequest& request) {
    auto limits = by_meter(context, request, [](Meter& meter) { return meter.all(); });
    std::vector<double> sessions;
    for (int i = 0; i < 200; ++i) {
        const cpu::Stopwatch time;
        { const Session session(context); }
        sessions.push_back(time.ms() * 1e3);
    }
    const Spread spread(std::move(sessions));
    limits.push_back({"saving and restoring the host's state", spread.median, spread.low, spread.high, "us"});
    return limits;
}

Limit depth_limit(Context& context) {
    return by_meter(context, {}, [](const Meter& meter) { return meter.depth(); });
}

std::vector<Limit> sketch_limits(Context& context) {
    return by_meter(context, quick_request(context), [](const Meter& meter) {
        return std::vector<Limit>{meter.scatter(gl::Format::R32f), meter.scatter(gl::Format::Rgba32f)};
    });
}

Limit gather_limit(Context& context, std::uint64_t texels, int fetches) {
    return by_meter(context, quick_request(context), [&](const Meter& meter) { return meter.gather(texels, fetches); });
}

std::optional<Limit> clock_rate(const Context& context) {
    if (!detail::Access::of(context)->features.shader_clock) return {};
    return by_meter(context, {.repeat = 3}, [](const Meter& meter) { return meter.clock(); });
}

Limit fetch_limit(Context& context) {
    return by_meter(context, quick_request(context), [](const Meter& meter) { return meter.fetch(); });
}

double FillLimits::rate(std::string_view format, PassEvent::Write write) {
    const auto blend = write == PassEvent::Write::Blend ? gl::Blend::Min : gl::Blend::None;
    const auto known = gl::format_of(format);
    const auto name = fill_name(known, blend);
    for (const auto& limit : measured_) {
        if (limit.name == name) return limit.value;
    }
    measured_.push_back(by_meter(context_, quick_request(context_), [&](const Meter& meter) {
        return known == gl::Format::Depth32fStencil8 ? meter.depth_fill_rate(known) : meter.fill_rate(known, blend);
    }));
    return measured_.back().value;
}

}  // namespace quadmill::detail::bench
