#include "bench/cache.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "bench/pass_meter.hpp"
#include "bench_shaders.hpp"
#include "pass/layout.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::bench {

namespace {

constexpr int max_stride = 16, window_fetches = 16;
constexpr int texel_bytes = 16;

class CacheMeter : PassMeter {
  public:
    CacheMeter(gl::Device& device, const LimitsRequest& request)
        : PassMeter(device, request.repeat),
          side_(static_cast<int>(std::bit_floor(static_cast<unsigned>(request.side)))),
          source_(device, gl::Format::Rgba32f, side_, side_) {
        gl::fill(device, source_, 1);
        report_.side = side_;
    }

    CacheReport all() {
        strides();
        windows();
        steps();
        return report_;
    }

  private:
    // Gfetch/s of a pass that makes that many fetches.
    [[nodiscard]] double fetch_rate(double fetches, const gl::Pass& pass) const {
        const int passes = device_.info.software ? 1 : many;
        return measure("", "", [&] { return rate(fetches, passes, [&] { draw(device_, pass); }); }).value;
    }

    enum class Axis { Across, Down };
    [[nodiscard]] double strided(const gl::Program& program, Axis axis, int by) const {
        const bool down = axis == Axis::Down;
        const auto stride = down ? glm::ivec2(1, by) : glm::ivec2(by, 1);
        const int few = side_ / max_stride;
        const pass::Target target(device_, gl::Format::Rgba32f, down ? side_ : few, down ? few : side_);
        return fetch_rate(static_cast<double>(side_) * few, {.name = "cache, strides",
                                                             .program = &program,
                                                             .inputs = {&source_},
                                                             .uniforms = {{"side_mask", side_ - 1}, {"stride", stride}},
                                                             .target = &target.framebuffer,
                                                             .quads = &target.whole});
    }

    void strides() {
        const gl::Program program(device_, "bench/probe.frag", shaders::bench_probe_frag);
        for (int stride = 1; stride <= max_stride; stride *= 2) {
            report_.strided.push_back(
                {stride, strided(program, Axis::Across, stride), strided(program, Axis::Down, stride)});
        }
        // The rate is lowest if each fetch has a block to itself. A smaller difference is noise.
        const auto block = [&](double CacheReport::Strided::*of) {
            const double min = std::ranges::min(report_.strided, {}, of).*of;
            const auto is_min = [&](const auto& one) { return one.*of <= min * 1.25; };
            return std::ranges::find_if(report_.strided, is_min)->stride;
        };
        report_.block_width = block(&CacheReport::Strided::across);
        report_.block_height = block(&CacheReport::Strided::down);
    }

    void windows() {
        const gl::Program program(device_, "bench/probe.frag", shaders::bench_probe_frag,
                                  "#define WINDOW\n#define FETCHES " + std::to_string(window_fetches) + "\n");
        const int across = std::min(side_, 512);
        const pass::Target target(device_, gl::Format::Rgba32f, across, across);
        for (int window = 4; window <= side_; window *= 2) {
            const auto found = fetch_rate(static_cast<double>(across) * across * window_fetches,
                                          {.name = "cache, windows",
                                           .program = &program,
                                           .inputs = {&source_},
                                           .uniforms = {{"side_mask", window - 1}},
                                           .target = &target.framebuffer,
                                           .quads = &target.whole});
            const auto texels = static_cast<std::size_t>(window) * static_cast<std::size_t>(window);
            report_.windows.push_back({texels * texel_bytes, found});
        }
        const double best = std::ranges::max(report_.windows, {}, &CacheReport::Window::rate).rate;
        for (const auto& one : report_.windows) {
            if (one.rate >= 0.75 * best) report_.cache_bytes = one.bytes;
        }
    }

    // Row-aligned quads that read their neighbours, as in Routine 4.1.
    [[nodiscard]] gl::QuadList quads_of(int rows) const {
        std::vector<gl::Quad> quads;
        for (int y = 0; y < side_; y += rows) {
            const int there = (y / rows) % 2 == 0 ? y + rows : y - rows;
            quads.push_back({gl::corners(0, y, side_, y + rows), gl::corners(0, there, side_, there + rows)});
        }
        return {device_, std::move(quads)};
    }

    void steps() {
        const gl::Program program(device_, "bench/step.frag", shaders::bench_step_frag);
        const pass::Target target(device_, gl::Format::Rgba32f, side_, side_);
        const double texels = static_cast<double>(side_) * side_;
        for (int rows = 1; rows <= side_ / 2; rows *= 2) {
            const auto quads = quads_of(rows);
            const auto found = fetch_rate(texels, {.name = "cache, steps",
                                                   .program = &program,
                                                   .inputs = {&source_},
                                                   .target = &target.framebuffer,
                                                   .quads = &quads});
            const double max = cache_misses(side_, side_, report_.block_height, report_.block_height);
            const double misses = cache_misses(side_, side_, rows, report_.block_height);
            report_.steps.push_back({rows, std::max(misses / max, 1.0), 1 / found});
        }
        const double best = std::ranges::min(report_.steps, {}, &CacheReport::Step::measured).measured;
        for (auto& step : report_.steps) step.measured /= best;
        // Step k is made lg n - k + 1 times. Steps with more rows than were measured count like the last one.
        const int log2_n = 2 * pass::log2_ceil(static_cast<std::size_t>(side_));
        double all = 0, made = 0;
        for (int k = 1; k <= log2_n; ++k) {
            const auto i = std::min(static_cast<std::size_t>(k - 1), report_.steps.size() - 1);
            all += (log2_n - k + 1) * report_.steps[i].measured;
            made += log2_n - k + 1;
        }
        report_.sort_measured = all / made;
        report_.sort_predicted = cache_fetches(texels, report_.block_height) / cache_fetches(texels, 1);
    }

    int side_;
    gl::Texture source_;
    CacheReport report_;
};

}  // namespace

double cache_misses(double width, double height, double rows, double block) {
    return 2 * width * height / (rows * block);
}

double cache_fetches(double n, double block) {
    const double log2_n = std::log2(n), above = log2_n - std::log2(block);
    return (block - 1) * (log2_n - 1) + 0.5 * above * above;
}

CacheReport measure_cache(Context& context, const LimitsRequest& request) {
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "limits");
    auto report = CacheMeter(device, request).all();
    scope.check();
    return report;
}

}  // namespace quadmill::detail::bench
