#include "bench/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "array/transfer.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill_shaders.hpp"
#include "sort/pbsn.hpp"
#include "sort/pbsn_quads.hpp"

namespace quadmill::detail::bench {

namespace {

using Clock = std::chrono::steady_clock;

class Meter {
  public:
    Meter(gl::Device& device, const LimitsRequest& request)
        : device_(device), request_(request), fetch_(device, "array/fetch.frag", shaders::array_fetch_frag) {}

    std::vector<Limit> all();

  private:
    // One warm-up, then the median of `work`'s results, which are amounts per second.
    void note(const std::string& name, const std::string& unit, const std::function<double()>& work) {
        static_cast<void>(work());
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(request_.repeat));
        for (int i = 0; i < request_.repeat; ++i) values.push_back(work());
        std::ranges::sort(values);
        limits_.push_back({name, values[values.size() / 2], values.front(), values.back(), unit});
    }

    // Time until the GPU has done what `work` issues. By the wall clock: llvmpipe's timestamps do not wait for
    // fragments.
    double seconds(const std::function<void()>& work) {
        gl::Fence(device_).wait();
        const auto begin = Clock::now();
        work();
        gl::Fence(device_).wait();
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }

    // Reads all of `tex` into `frame`.
    [[nodiscard]] gl::Pass fetch_pass(const sort::Surface& surface, const gl::QuadList& quads) const {
        return {.name = "limit",
                .program = &fetch_,
                .inputs = {&surface.tex},
                .target = &surface.frame_target,
                .quads = &quads,
                .first = 0,
                .count = 1};
    }

    void fill_rates(gl::Format format);
    void transfers();
    void overheads();

    gl::Device& device_;
    LimitsRequest request_;
    gl::Program fetch_;
    std::vector<Limit> limits_;
};

void Meter::fill_rates(gl::Format format) {
    const array::FourArray shape{request_.side, request_.side};
    const sort::Surface surface(device_, format, shape);
    const gl::QuadList quads(device_, {sort::copy_quad(shape.width, shape.height)});
    auto pass = fetch_pass(surface, quads);
    const auto texels = static_cast<double>(shape.texels());
    const std::string name = gl::info(format).name;
    constexpr int passes = 8;
    const auto rate = [&](const std::function<void()>& issue) {
        return texels * passes * 1e-9 / seconds([&] {
                   for (int i = 0; i < passes; ++i) issue();
               });
    };
    pass.blend = gl::Blend::None;
    note("write " + name, "Gtexel/s", [&] { return rate([&] { draw(device_, pass); }); });
    pass.blend = gl::Blend::Min;
    note("blend " + name, "Gtexel/s", [&] { return rate([&] { draw(device_, pass); }); });
    note("copy " + name, "Gtexel/s", [&] { return rate([&] { copy(device_, "limit", surface.frame, surface.tex); }); });
}

void Meter::transfers() {
    const gl::Texture texture(device_, gl::Format::Rgba32f, request_.side, request_.side);
    const gl::PixelBuffer up(device_, gl::PixelBuffer::Direction::Upload, texture.bytes());
    const gl::PixelBuffer down(device_, gl::PixelBuffer::Direction::ReadBack, texture.bytes());
    const auto gigabytes = static_cast<double>(texture.bytes()) * 1e-9;
    note("upload from a pixel buffer", "GB/s",
         [&] { return gigabytes / seconds([&] { gl::upload_rows(device_, up, 0, texture, 0, request_.side); }); });
    note("read back to a pixel buffer", "GB/s",
         [&] { return gigabytes / seconds([&] { gl::read_rows(device_, texture, 0, request_.side, down, 0); }); });
    array::Workers workers;
    std::vector<std::byte> memory(texture.bytes(), std::byte{1});
    const auto tasks = (texture.bytes() + array::task_bytes - 1) / array::task_bytes;
    note("memory to a pixel buffer, by the CPU", "GB/s", [&] {
        return gigabytes / seconds([&] {
                   workers.for_each(tasks, [&](std::size_t i) {
                       const auto begin = i * array::task_bytes;
                       std::memcpy(up.memory().data() + begin, memory.data() + begin,
                                   std::min(array::task_bytes, memory.size() - begin));
                   });
               });
    });
    array::Uploader uploader;
    array::ReadBack readback;
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
    const sort::Surface surface(device_, gl::Format::Rgba32f, {1, 1});
    const gl::QuadList quads(device_, {sort::copy_quad(1, 1)});
    auto pass = fetch_pass(surface, quads);
    constexpr int passes = 256;
    note("one pass of one texel", "us", [&] {
        return seconds([&] {
                   for (int i = 0; i < passes; ++i) {
                       pass.blend = i % 2 ? gl::Blend::Min : gl::Blend::Max;
                       draw(device_, pass);
                   }
               }) *
               1e6 / passes;
    });
}

std::vector<Limit> Meter::all() {
    fill_rates(gl::Format::Rgba32f);
    fill_rates(gl::Format::Rgba16f);
    transfers();
    overheads();
    return std::move(limits_);
}

}  // namespace

std::vector<Limit> measure_limits(Context& context, const LimitsRequest& request) {
    auto& device = *context.device();
    std::vector<Limit> limits;
    {
        const gl::Scope scope(device, "limits");
        limits = Meter(device, request).all();
        scope.check();
    }
    std::vector<double> sessions;
    for (int i = 0; i < 200; ++i) {
        const auto begin = Clock::now();
        { const Session session(context); }
        sessions.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    std::ranges::sort(sessions);
    limits.push_back({"saving and restoring the host's state", sessions[sessions.size() / 2], sessions.front(),
                      sessions.back(), "us"});
    return limits;
}

}  // namespace quadmill::detail::bench
