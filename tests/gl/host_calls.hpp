// Calls of every kind of the library, each with keys, textures and buffers of an application that it makes and checks.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "bench_shaders.hpp"
#include "gl/device.hpp"
#include "gl/halting.hpp"
#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_snapshot.hpp"
#include "gl/texels.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sketch.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill::test {

class TextureJobs {
  public:
    TextureJobs(const Api& gl, Random& random) : gl_(gl), random_(random) {}
    TextureJobs(const TextureJobs&) = delete;
    TextureJobs& operator=(const TextureJobs&) = delete;
    ~TextureJobs() { gl_.DeleteTextures(static_cast<GLsizei>(made_.size()), made_.data()); }

    struct Job {
        GLuint input, output;
        std::vector<float> before;
        int width, height;
        std::optional<Order> sorted_in{};  // set by the caller when it was sorted
    };

    Job& add(bool in_place, Specials specials) {
        const int width = random_.number(1, 9), height = random_.number(1, 9);
        Job job{0, 0, sample_keys<float>(random_, static_cast<std::size_t>(4 * width * height), specials), width,
                height};
        job.input = texture(job);
        job.output = in_place ? job.input : texture(job);
        jobs_.push_back(std::make_unique<Job>(std::move(job)));
        return *jobs_.back();
    }

    // Pre: pixel transfers are tight again.
    void verify() {
        for (const auto& job : jobs_) {
            const auto found = read(*job, job->output);
            if (job->input != job->output) CHECK(bits_differ(job->before, read(*job, job->input)) == "");
            if (!job->sorted_in) {
                CHECK(bits_differ(job->before, found) == "");
                continue;
            }
            for (std::size_t channel = 0; channel < 4; ++channel) {
                const auto expected = sorted(one(job->before, channel), *job->sorted_in);
                CHECK(bits_differ(expected, one(found, channel)) == "");
            }
        }
    }

  private:
    static std::vector<float> one(const std::vector<float>& texels, std::size_t channel) {
        std::vector<float> values;
        for (std::size_t i = channel; i < texels.size(); i += 4) values.push_back(texels[i]);
        return values;
    }
    GLuint texture(const Job& job) {
        GLuint id = 0;
        gl_.CreateTextures(GL_TEXTURE_2D, 1, &id);
        gl_.TextureStorage2D(id, 1, GL_RGBA32F, job.width, job.height);
        gl_.TextureSubImage2D(id, 0, 0, 0, job.width, job.height, GL_RGBA, GL_FLOAT, job.before.data());
        const std::array<GLint, 4> swizzle{GL_ALPHA, GL_ZERO, GL_ONE, GL_RED};
        gl_.TextureParameteriv(id, GL_TEXTURE_SWIZZLE_RGBA, swizzle.data());
        gl_.TextureParameteri(id, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        made_.push_back(id);
        return id;
    }
    [[nodiscard]] std::vector<float> read(const Job& job, GLuint id) const {
        std::vector<float> texels(job.before.size());
        gl_.GetTextureImage(id, 0, GL_RGBA, GL_FLOAT, static_cast<GLsizei>(4 * texels.size()), texels.data());
        return texels;
    }

    const Api& gl_;
    Random& random_;
    std::vector<GLuint> made_;
    std::vector<std::unique_ptr<Job>> jobs_;
};

// Every public function that uses OpenGL, on one context. The sorters are reused in each round.
class Calls {
  public:
    Calls(const Api& gl, Context context) : gl_(gl), context_(std::move(context)) {
        for (const auto order : {Order::Ascending, Order::Descending}) {
            sorters_.emplace_back(context_, SortOptions{.order = order, .engine = Engine::Merge, .threads = 2});
            sorters_.emplace_back(context_, SortOptions{.order = order, .engine = Engine::Bitonic, .threads = 2});
            sorters_.emplace_back(context_, SortOptions{.order = order, .engine = Engine::Hybrid, .threads = 2});
            for (const auto early_stop : {EarlyStop::Yes, EarlyStop::No}) {
                for (const std::size_t max_texels : {std::size_t{1} << 24, std::size_t{32}}) {
                    sorters_.emplace_back(context_, pbsn(order, early_stop, max_texels));
                }
            }
        }
        for (const auto engine : {Engine::Merge, Engine::Hybrid, Engine::Pbsn, Engine::Bitonic})
            streams_.push_back({{}, window_sorter(context_, {.engine = engine, .threads = 3})});
    }

    struct Call {
        std::string name;
        std::function<void()> run;
    };

    // In random order. Each must leave the state alone, and checks its own result.
    std::vector<Call> of_round(Random& random, TextureJobs& jobs) {
        auto& sorter = sorters_[random.index(static_cast<GLuint>(sorters_.size()))];
        auto& other = sorters_[random.index(static_cast<GLuint>(sorters_.size()))];
        auto& stream = streams_[random.index(static_cast<GLuint>(streams_.size()))];
        const auto size = [&random] { return static_cast<std::size_t>(random.one_of({0, 1, 2, 5, 63, 65, 300})); };
        const auto window = [&random] { return static_cast<std::size_t>(random.number(1, 20)); };
        auto& texture = jobs.add(random.flag(), Specials::None);
        auto& odd_texture = jobs.add(random.flag(), Specials::Some);
        auto& session_texture = jobs.add(random.flag(), some_or_none(random));
        std::vector<Call> calls{
            {"sort float", [&, n = size()] { sort<float>(sorter, random, n, some_or_none(random)); }},
            {"sort Half", [&, n = size()] { sort<Half>(other, random, n, some_or_none(random)); }},
            {"sort_windows float",
             [&, n = size(), w = window()] { sort<float>(other, random, n, some_or_none(random), w); }},
            {"sort_windows Half",
             [&, n = size(), w = window()] { sort<Half>(sorter, random, n, some_or_none(random), w); }},
            {"sort_with_index", [&, n = size()] { sort_with_index(random, n); }},
            {"argsort", [&, n = size()] { argsort(random, n); }},
            {"top", [&, n = size()] { top(random, n); }},
            {"sort_segments", [&, n = size()] { sort_segments(random, n); }},
            {"WindowSorter::begin", [&, n = size(), w = window()] { begin(stream, random, n, w); }},
            {"WindowSorter::begin another", [&, n = size(), w = window()] { begin(stream, random, n, w); }},
            {"WindowSorter::finish", [&] { finish(stream); }},
            {"argsort_texture", [&, n = size()] { argsort_texture(random, n); }},
            {"Sketch", [&, n = size()] { sketch(random, n); }},
            {"sort_texture", [&] { sort_texture(sorter, texture); }},
            {"sort_texture with specials", [&] { sort_texture(other, odd_texture); }},
            {"Sorter, its first sort, its end",
             [&] {
                 Sorter fresh(context_, pbsn(Order::Descending, EarlyStop::Yes));
                 sort<float>(fresh, random, 70, Specials::Some);
             }},
            {"as 16-bit floats",
             [&] {
                 auto options = pbsn(Order::Ascending, EarlyStop::Yes);
                 options.precision = Precision::Float16;
                 std::vector<float> keys{3, -1, 2.5F, 0, -7};
                 quadmill::sort(context_, std::span(keys), options);
                 CHECK(keys == std::vector<float>{-7, -1, 0, 2.5F, 3});
             }},
            {"Session", [&] { const Session session(context_); }},
            {"Sessions, one in the other, with calls",
             [&] {
                 const Session outer(context_);
                 sort<float>(sorter, random, 40, Specials::Some);
                 {
                     const Session inner(context_);
                     sort<Half>(other, random, 100, Specials::None);
                     sort_texture(sorter, session_texture);
                 }
                 sort<float>(sorter, random, 90, Specials::None);
             }},
            {"PassProfiler", [&] { profile(sorter, random); }},
            {"Context::adopt", [&] { CHECK(Host::adopt().info().platform == "adopted"); }},
            {"sort that an observer ends", [&] { halt(sorter, random); }},
            {"sort_texture that an observer ends",
             [&] {
                 HaltingObserver observer(random.number(1, 4), random.flag());
                 Sorter by_blending(context_, pbsn(Order::Ascending, EarlyStop::No));
                 context_.observe(&observer);
                 auto& unsorted = texture;
                 const Session session(context_);  // thrown within a session, too
                 CHECK_THROWS_AS(by_blending.sort_texture(unsorted.output, unsorted.output), Halt);
                 context_.observe(nullptr);
                 // An earlier call sorted it. This one was to sort it again, but stopped before the result was copied
                 // back.
             }},
            {"sort_windows(0)",
             [&] {
                 std::vector<float> keys(3);
                 CHECK_THROWS_AS(sorter.sort_windows(std::span(keys), 0), InvalidArgument);
             }},
            {"passes of every kind", [&] { draw_every_kind(); }},
            {"bad texture ids",
             [&] {
                 CHECK_THROWS_AS(sorter.sort_texture(0, texture.output), InvalidArgument);
                 CHECK_THROWS_AS(sorter.sort_texture(texture.output, 4'000'000'000U), InvalidArgument);
             }},
        };
        for (std::size_t i = calls.size() - 1; i > 0; --i) {
            std::swap(calls[i], calls[random.index(static_cast<GLuint>(i + 1))]);
        }
        return calls;
    }

  private:
    static Specials some_or_none(Random& random) { return random.flag() ? Specials::Some : Specials::None; }

    template <class Float>
    static void sort(Sorter& sorter, Random& random, std::size_t n, Specials specials, std::size_t window = 0) {
        auto keys = sample_keys<Float>(random, n, specials);
        const auto expected = sorted(keys, sorter.options().order, window);
        if (window == 0) {
            sorter.sort(std::span(keys));
        } else {
            sorter.sort_windows(std::span(keys), window);
        }
        CHECK(bits_differ(expected, keys) == "");
    }

    void sort_with_index(Random& random, std::size_t n) {
        auto keys = sample_keys<float>(random, n, Specials::Some);
        const auto before = keys, expected = sorted(keys, Order::Ascending);
        std::vector<std::uint32_t> index(n);
        sorters_.front().sort_with_index(keys, index);
        CHECK(bits_differ(expected, keys) == "");
        std::vector<float> gathered;
        for (const auto i : index) gathered.push_back(before.at(i));
        CHECK(bits_differ(gathered, keys) == "");
    }

    void argsort(Random& random, std::size_t n) {
        auto keys = sample_keys<float>(random, n, Specials::Some);
        const auto before = keys;
        std::vector<std::uint32_t> index(n);
        sorters_.front().argsort(keys, index);
        CHECK(bits_differ(before, keys) == "");
        std::vector<float> gathered;
        for (const auto i : index) gathered.push_back(before.at(i));
        CHECK(bits_differ(gathered, sorted(before, Order::Ascending)) == "");
    }

    void top(Random& random, std::size_t n) {
        const auto keys = sample_keys<float>(random, n, Specials::Some);
        auto expected = sorted(keys, Order::Ascending), view = keys;
        std::vector<float> best((n + 1) / 2);
        sorters_.front().top(view, best);
        expected.resize(best.size());
        CHECK(bits_differ(expected, best) == "");
        CHECK(bits_differ(keys, view) == "");
    }

    void sort_segments(Random& random, std::size_t n) {
        auto keys = sample_keys<float>(random, n, Specials::Some);
        const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(n / 3);
        auto expected = sorted(std::vector<float>(keys.begin(), middle), Order::Ascending);
        const auto rest = sorted(std::vector<float>(middle, keys.end()), Order::Ascending);
        expected.insert(expected.end(), rest.begin(), rest.end());
        sorters_.front().sort_segments(keys, std::array{n / 3, n});
        CHECK(bits_differ(expected, keys) == "");
    }

    // A sorter of windows whose batches stay in flight across other calls and rounds.
    struct Stream {
        struct Batch {
            std::vector<float> keys, expected;
        };
        std::deque<Batch> batches;
        std::unique_ptr<WindowSorter> sorter;
    };

    static void begin(Stream& stream, Random& random, std::size_t n, std::size_t window) {
        if (stream.batches.size() == stream.sorter->depth()) finish(stream);
        auto keys = sample_keys<float>(random, n, Specials::Some);
        auto expected = sorted(keys, Order::Ascending, window);
        auto& batch = stream.batches.emplace_back(Stream::Batch{std::move(keys), std::move(expected)});
        stream.sorter->begin(batch.keys, window);
    }

    static void finish(Stream& stream) {
        if (stream.batches.empty()) return;
        stream.sorter->finish();
        CHECK(bits_differ(stream.batches.front().expected, stream.batches.front().keys) == "");
        stream.batches.pop_front();
    }

    void argsort_texture(Random& random, std::size_t n) {
        const auto keys = sample_keys<float>(random, n + 1, Specials::Some);
        const auto& gl = gl_;
        const auto width = static_cast<GLsizei>(keys.size());
        std::array<GLuint, 2> textures{};
        std::optional<Session> session(context_);  // the application's state does not allow transfers
        gl.CreateTextures(GL_TEXTURE_2D, 2, textures.data());
        gl.TextureStorage2D(textures[0], 1, GL_R32F, width, 1);
        gl.TextureStorage2D(textures[1], 1, GL_R32UI, width, 1);
        gl.TextureSubImage2D(textures[0], 0, 0, 0, width, 1, GL_RED, GL_FLOAT, keys.data());
        session.reset();
        sorters_.front().argsort_texture(textures[0], textures[1]);
        std::vector<std::uint32_t> index(keys.size());
        session.emplace(context_);
        gl.GetTextureImage(textures[1], 0, GL_RED_INTEGER, GL_UNSIGNED_INT, static_cast<GLsizei>(4 * index.size()),
                           index.data());
        gl.DeleteTextures(2, textures.data());
        std::vector<float> gathered;
        for (const auto i : index) gathered.push_back(keys.at(i));
        CHECK(bits_differ(gathered, sorted(keys, Order::Ascending)) == "");
    }

    // A sketch filled by either kind of points, or by sorting.
    void sketch(Random& random, std::size_t n) {
        using enum SketchEngine;
        const std::array engines{BlendCounters, BlendBuckets, BlendPacked, Sort};
        Sketch<float> counts(context_, {.width = 50, .engine = engines.at(random.index(4))});
        Sketch<float> expected({.width = 50});
        const auto keys = sample_keys<float>(random, n + 1, Specials::Some);
        const auto& gl = gl_;
        const auto width = static_cast<GLsizei>(keys.size());
        std::array<GLuint, 2> textures{};
        std::optional<Session> session(context_);
        gl.CreateTextures(GL_TEXTURE_2D, 2, textures.data());
        gl.TextureStorage2D(textures[0], 1, GL_R32F, width, 1);
        gl.TextureStorage2D(textures[1], 1, GL_R32UI, width, 1);
        gl.TextureSubImage2D(textures[0], 0, 0, 0, width, 1, GL_RED, GL_FLOAT, keys.data());
        session.reset();
        counts.insert(keys);
        counts.insert_texture(textures[0]);
        counts.remove(keys.front());
        counts.merge(Sketch<float>::load(context_, counts.save()));
        counts.query_texture(textures[0], textures[1]);
        expected.insert(keys, std::vector<std::uint32_t>(keys.size(), 4));
        expected.remove(std::array{keys.front(), keys.front()});
        std::vector<std::uint32_t> found(keys.size());
        session.emplace(context_);
        gl.GetTextureImage(textures[1], 0, GL_RED_INTEGER, GL_UNSIGNED_INT, static_cast<GLsizei>(4 * found.size()),
                           found.data());
        gl.DeleteTextures(2, textures.data());
        session.reset();
        CHECK(counts.query(keys) == expected.query(keys));
        for (std::size_t i = 0; i < keys.size(); ++i) CHECK(found[i] == expected.query(keys[i]).estimate);
    }

    // With two engines; any other engine is refused.
    static void sort_texture(Sorter& sorter, TextureJobs::Job& job) {
        if (sorter.options().engine != Engine::Pbsn && sorter.options().engine != Engine::Merge) {
            CHECK_THROWS_AS(sorter.sort_texture(job.input, job.output), InvalidArgument);
            return;
        }
        sorter.sort_texture(job.input, job.output);
        job.sorted_in = sorter.options().order;
    }

    void profile(Sorter& sorter, Random& random) {
        PassProfiler profiler(context_);
        auto keys = sample_keys<float>(random, 64, Specials::None);
        const auto stats = sorter.sort(std::span(keys));
        std::uint64_t passes = 0;
        for (const auto& row : profiler.rows()) {
            passes += row.passes;
            CHECK(row.gpu_ms >= 0);
        }
        CHECK(passes == stats.passes);
    }

    // Passes that no public function draws yet, but `quadmill limits` and other engines do: depth and stencil tests,
    // points, sums.
    void draw_every_kind() {
        namespace gl = detail::gl;
        auto& device = *detail::Access::of(context_);
        if (!device.features.exact_depths) return;  // older versions draw no such pass
        const gl::Scope scope(device, "test");
        constexpr int side = 4;
        constexpr std::size_t texels = side * side;
        const gl::Program one(device, "one", detail::shaders::bench_one_frag),
            scatter(device, "scatter", {detail::shaders::bench_scatter_vert, detail::shaders::bench_one_frag});
        const gl::Texture color(device, gl::Format::R32f, side, side), depth(device, gl::Format::Depth32f, side, side),
            stencil(device, gl::Format::Stencil8, side, side);
        const gl::Framebuffer with_depth(device, color, &depth), with_stencil(device, color, &stencil);
        const gl::QuadList quads(device, {{{0, 0, side, side}, {0, 0, side, side}}});
        const gl::Points points(device);
        const std::vector<float> ones(texels, 1);
        fill(device, color, 0);
        fill(device, depth, 0.625F);
        clear_stencil(device, with_stencil, 4);
        gl::Pass pass{.name = "test", .program = &one, .target = &with_depth, .quads = &quads, .first = 0, .count = 1};
        pass.depth = gl::DepthTest{.pass_if = gl::Compare::Less, .write = gl::DepthWrite::On};
        draw(device, pass);  // the quad is at depth 0
        CHECK(read_texels<float>(device, color) == ones);
        CHECK(read_texels<float>(device, depth) == std::vector<float>(texels, 0));
        pass.depth.reset();
        pass.target = &with_stencil;
        pass.blend = gl::Blend::Add;
        pass.stencil =
            gl::StencilTest{.pass_if = gl::Compare::Greater, .reference = 5, .on_pass = gl::StencilOp::Increment};
        draw(device, pass);
        draw(device, pass);  // the reference is no longer greater
        CHECK(read_texels<float>(device, color) == std::vector<float>(texels, 2));
        CHECK(read_texels<std::uint8_t>(device, stencil) == std::vector<std::uint8_t>(texels, 5));
        pass.stencil.reset();
        pass.program = &scatter;
        pass.quads = nullptr;
        pass.points = &points;
        pass.count = 100;
        draw(device, pass);
        float sum = 0;
        for (const float value : read_texels<float>(device, color)) sum += value;
        CHECK(sum == 2 * texels + 100);
        draw_with_depth_and_stencil(device, one, quads);
        scope.check();
    }

    static void draw_with_depth_and_stencil(detail::gl::Device& device, const detail::gl::Program& program,
                                            const detail::gl::QuadList& quads) {
        namespace gl = detail::gl;
        const gl::Texture texture(device, gl::Format::Depth32fStencil8, 4, 4);
        const gl::Framebuffer target(device, gl::Framebuffer::NoColor{}, texture);
        const gl::Query query(device, gl::Query::Kind::Samples);
        gl::CountList counts(device, 2);
        clear_stencil(device, target, 0x53);
        gl::Pass pass{.name = "test", .program = &program, .target = &target, .quads = &quads, .first = 0, .count = 1};
        pass.inputs[2] = &counts.texture();  // bound, but not read
        pass.count_samples = &query;
        pass.depth = gl::DepthTest{.pass_if = gl::Compare::Always, .write = gl::DepthWrite::On};
        pass.stencil = gl::StencilTest{.pass_if = gl::Compare::Equal,
                                       .reference = 0x93,
                                       .on_pass = gl::StencilOp::Zero,
                                       .compared = 0x0f,
                                       .written = 0x11};
        draw(device, pass);
        counts.note(0, query);
        pass.stencil->compared = 0xff;
        pass.stencil->reference = 0x42;
        if (device.gl.EXT_depth_bounds_test) pass.depth_bounds = {{0, 0.5F}};  // the quad's depth is 0
        draw(device, pass);
        counts.note(1, query);
        CHECK(counts.read() == std::vector<std::uint32_t>{16, 16});
        if (!device.gl.EXT_depth_bounds_test) return;
        pass.stencil.reset();
        pass.depth_bounds = {{0.25F, 0.5F}};
        draw(device, pass);
        CHECK(query.result() == 0);
    }

    // The sorter must work as before.
    void halt(Sorter& sorter, Random& random) {
        auto keys = sample_keys<float>(random, 120, Specials::None);
        const auto expected = sorted(keys, sorter.options().order);
        // With subgroups it is one pass, which merges nothing.
        const auto engine = sorter.options().engine;
        const bool one_pass = engine == Engine::Merge || engine == Engine::Hybrid;
        HaltingObserver observer(one_pass ? 1 : random.number(1, 5), random.flag());
        context_.observe(&observer);
        CHECK_THROWS_AS(sorter.sort(std::span(keys)), Halt);
        context_.observe(nullptr);
        CHECK(bits_differ(expected, sorted(keys, sorter.options().order)) == "");
        sort<float>(sorter, random, 120, Specials::Some);
    }

    const Api& gl_;
    Context context_;
    std::vector<Sorter> sorters_;
    std::vector<Stream> streams_;
};

// Makes a call, and checks that it changes no state of the application.
inline void make(const Calls::Call& call, const Host& host, const Snapshot& before) {
    CAPTURE(call.name);
    call.run();
    REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
}

}  // namespace quadmill::test
