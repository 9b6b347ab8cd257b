#include "bench/early_sorts.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "bench_shaders.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "quadmill/error.hpp"
#include "sort/key_form.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::bench {

namespace {

int log2_of_width(const gl::Texture& texture) {
    return pass::log2_ceil(static_cast<std::size_t>(texture.width()));
}

// 1 / 2^(bit + 1) along the axis of that bit of a texel's number; 0 for no bit.
glm::vec2 phase_of(int bit, int width_log2) {
    if (bit < 0) return {0, 0};
    const auto scale = [](int i) { return 1.0F / static_cast<float>(2U << static_cast<unsigned>(i)); };
    return bit < width_log2 ? glm::vec2(scale(bit), 0) : glm::vec2(0, scale(bit - width_log2));
}

}  // namespace

struct EarlySorter::State {
    State(const Context& with, EarlySort kind)
        : context(with), device(*Access::of(context)), which(kind), programs(device) {}

    // The textures for one size of sort.
    struct Surface {
        Surface(gl::Device& device, std::size_t n, int log2_n, bool with_pairs, int per_texel);
        std::size_t count;
        bool pairs;
        pass::Target memory, index;
        pass::PingPong elements;
    };

    SortStats sort(Keys keys, std::span<std::uint32_t> index);
    [[nodiscard]] int per_texel() const { return which == EarlySort::Kipfer ? 2 : 1; }
    [[nodiscard]] std::string prelude(const Surface& on) const;
    void check(Keys keys) const;
    void load(Surface& on, const sort::KeyForm& form);
    void store(Surface& on, const sort::KeyForm& form, const pass::Target& to);
    void step(Surface& on, int k, int stage, int step);

    Context context;
    gl::Device& device;
    EarlySort which;
    cpu::Workers workers;
    pass::Programs programs;
    std::optional<Surface> surface;
    pass::Uploader uploader;
    pass::ReadBack keys_back, index_back;
};

EarlySorter::State::Surface::Surface(gl::Device& device, std::size_t n, int log2_n, bool with_pairs, int per_texel)
    : count(n), pairs(with_pairs) {
    const auto words = (with_pairs ? 2 : 1) * per_texel;
    const auto format = words == 1 ? gl::Format::R32ui : words == 2 ? gl::Format::Rg32ui : gl::Format::Rgba32ui;
    const auto shape = pass::FourArray::of_power(log2_n - per_texel + 1);
    elements = pass::PingPong(device, format, shape.width, shape.height);
    const auto linear = pass::FourArray::of_blocks(0, n);
    memory = pass::Target(device, gl::Format::R32ui, linear.width, linear.height);
    if (with_pairs) index = pass::Target(device, gl::Format::R32ui, linear.width, linear.height);
}

void EarlySorter::State::check(Keys keys) const {
    const sort::KeyForm form{keys.type()};
    if (form.key_bytes() != 4) throw InvalidArgument("the sorts of Purcell and Kipfer take keys of 32 bits only");
    const auto side = static_cast<std::size_t>(device.info.max_texture_size);
    if (keys.size() > std::min(side * side / 2, std::size_t{1} << 30U)) {
        throw InvalidArgument("the sorts of Purcell and Kipfer have no room for " + std::to_string(keys.size()) +
                              " keys in one texture");
    }
}

std::string EarlySorter::State::prelude(const Surface& on) const {
    return std::string(on.pairs ? "#define PAIRS\n" : "") + "#define PER_TEXEL " + std::to_string(per_texel()) + "\n" +
           shaders::bench_early_keys_glsl;
}

void EarlySorter::State::load(Surface& on, const sort::KeyForm& form) {
    const auto& to = on.elements.now;
    fill(device, "load",
         programs.get("bench/early_load.frag", shaders::bench_early_load_frag,
                      prelude(on) + shaders::sort_key_order_glsl),
         to, {&on.memory.texture},
         gl::Uniforms{{"width_log2", log2_of_width(to.texture)},
                      {"memory_log2", log2_of_width(on.memory.texture)},
                      {"count", static_cast<int>(on.count)}}
             .set(sort::order_uniforms(form)));
}

void EarlySorter::State::store(Surface& on, const sort::KeyForm& form, const pass::Target& to) {
    const bool index = &to == &on.index;
    fill(
        device, index ? "store index" : "store",
        programs.get("bench/early_store.frag", shaders::bench_early_store_frag,
                     (index ? "#define STORE_INDEX\n" : "") + prelude(on) + shaders::sort_key_order_glsl),
        to, {&on.elements.now.texture},
        gl::Uniforms{{"width_log2", log2_of_width(on.elements.now.texture)}, {"memory_log2", log2_of_width(to.texture)}}
            .set(sort::order_uniforms(form)));
}

void EarlySorter::State::step(Surface& on, int k, int stage, int step) {
    const int width_log2 = log2_of_width(on.elements.now.texture);
    gl::Pass pass{.name = "compare",
                  .stage = stage,
                  .step = step,
                  .inputs = {&on.elements.now.texture},
                  .uniforms = {{"width_log2", width_log2}},
                  .target = &on.elements.next.framebuffer,
                  .quads = &on.elements.next.whole};
    if (which == EarlySort::Purcell) {
        pass.program = &programs.get("bench/purcell.frag", shaders::bench_purcell_frag, prelude(on));
        pass.uniforms.set("distance_between", 1 << (step - 1)).set("run", 1 << stage);
    } else {
        const bool within = step == 1;
        const int bit = step - 2;  // bit of a texel's number in which partners differ
        pass.program = &programs.get("bench/kipfer.frag", shaders::bench_kipfer_frag,
                                     (within ? "#define WITHIN\n" : "") + prelude(on));
        pass.uniforms.set("side", phase_of(bit, width_log2))
            .set("turn", phase_of(stage < k ? stage - 1 : -1, width_log2))
            .set("beside", within             ? glm::ivec2(0)
                           : bit < width_log2 ? glm::ivec2(1 << bit, 0)
                                              : glm::ivec2(0, 1 << (bit - width_log2)));
    }
    draw(device, pass);
    on.elements.swap();
}

SortStats EarlySorter::State::sort(Keys keys, std::span<std::uint32_t> index) {
    check(keys);
    const auto n = keys.size();
    if (n == 0) return {.n = 0, .engine = Engine::Bitonic};
    const gl::Scope scope(device, "EarlySorter");
    const cpu::Stopwatch total;
    const auto passes_before = device.passes;
    const int k = std::max(pass::log2_ceil(n), 1);
    const sort::KeyForm form{keys.type(), Order::Ascending, !index.empty()};
    if (!surface || surface->count != n || surface->pairs != form.indexed) {
        surface.reset();
        surface.emplace(device, n, k, form.indexed, per_texel());
    }
    const std::span all(static_cast<std::byte*>(keys.data()), n * 4);
    const auto row_bytes = static_cast<std::size_t>(surface->memory.texture.width()) * 4;
    uploader.send(device, surface->memory.texture, workers, [&](std::size_t row, std::size_t /*rows*/, auto staging) {
        const auto part = all.subspan(row * row_bytes);
        std::memcpy(staging.data(), part.data(), std::min(part.size(), staging.size()));
    });
    SortStats stats{.n = n, .engine = Engine::Bitonic, .textures = 1};
    stats.upload_ms = total.ms();
    const gl::Query begin(device, gl::Query::Kind::Timestamp), end(device, gl::Query::Kind::Timestamp),
        read(device, gl::Query::Kind::Timestamp);
    begin.take_time();
    load(*surface, form);
    for (int stage = 1; stage <= k; ++stage) {
        for (int j = stage; j >= 1; --j) step(*surface, k, stage, j);
    }
    store(*surface, form, surface->memory);
    if (form.indexed) store(*surface, form, surface->index);
    end.take_time();
    keys_back.request(device, surface->memory.texture);
    if (form.indexed) index_back.request(device, surface->index.texture);
    read.take_time();
    gl::flush(device);
    keys_back.copy_to(all, workers);
    if (form.indexed) index_back.copy_to(std::as_writable_bytes(index), workers);
    stats.stages_run = stats.stages_max = k;
    stats.steps = static_cast<std::uint64_t>(k * (k + 1) / 2);
    stats.sort_ms = gl::ms_between(begin, end);
    stats.readback_ms = gl::ms_between(end, read);
    stats.passes = device.passes - passes_before;
    scope.check();
    stats.total_ms = total.ms();
    return stats;
}

EarlySorter::EarlySorter(const Context& context, EarlySort which) : state_(std::make_unique<State>(context, which)) {}
EarlySorter::EarlySorter(EarlySorter&&) noexcept = default;
EarlySorter::~EarlySorter() = default;

SortStats EarlySorter::sort(Keys keys, std::span<std::uint32_t> index) {
    return state_->sort(keys, index);
}

}  // namespace quadmill::detail::bench
