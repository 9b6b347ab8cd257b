// Guest manners: whatever the host's OpenGL state is, each call of the library leaves it as it was, also when it
// throws, and none of it can change a result.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "gl/device.hpp"
#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "gl/texels.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sketch.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"
#include "quadmill_shaders.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

constexpr std::uint64_t first_seed = 20261100;
constexpr int rounds = 40;

struct Halt {};

// Throws at the k-th pass, counted from 1, before or after it is drawn.
class HaltingObserver final : public PassObserver {
  public:
    HaltingObserver(int pass, bool before) : left_(pass), before_(before) {}
    void before(const PassEvent&) override {
        if (before_ && --left_ == 0) throw Halt();
    }
    void after(const PassEvent&) override {
        if (!before_ && --left_ == 0) throw Halt();
    }

  private:
    int left_;
    bool before_;
};

SortOptions pbsn(Order order, EarlyStop early_stop, std::size_t max_texels = std::size_t{1} << 24) {
    return {.order = order,
            .engine = Engine::Pbsn,
            .threads = 1,
            .pbsn = {.early_stop = early_stop, .max_texels = max_texels}};
}

// Textures of the host to sort, made before the poison and looked at after it.
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

// Every public function that touches OpenGL, on one context. The sorters live on from round to round.
class Calls {
  public:
    explicit Calls(Context context) : context_(std::move(context)) {
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

    // In some order; each must leave the state alone, and checks its own result.
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
                 const Session session(context_);  // thrown through a session as well
                 CHECK_THROWS_AS(by_blending.sort_texture(unsorted.output, unsorted.output), Halt);
                 context_.observe(nullptr);
                 // An earlier call sorted it and this one was to sort it again; it stopped before the way back.
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

    // A sorter of windows, whose batches stay under way through other calls, and rounds.
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
        const auto& gl = detail::Access::of(context_)->gl;
        const auto width = static_cast<GLsizei>(keys.size());
        std::array<GLuint, 2> textures{};
        std::optional<Session> session(context_);  // the host's state is not fit for transfers
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

    // A sketch by either kind of points, or by sorting.
    void sketch(Random& random, std::size_t n) {
        using enum SketchEngine;
        const std::array engines{BlendCounters, BlendBuckets, BlendPacked, Sort};
        Sketch<float> counts(context_, {.width = 50, .engine = engines.at(random.index(4))});
        Sketch<float> expected({.width = 50});
        const auto keys = sample_keys<float>(random, n + 1, Specials::Some);
        const auto& gl = detail::Access::of(context_)->gl;
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

    // By two engines; another one that was asked for is refused.
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

    // What no public function draws yet, but `quadmill limits` and other engines do: depth and stencil tests, points,
    // sums.
    void draw_every_kind() {
        namespace gl = detail::gl;
        auto& device = *detail::Access::of(context_);
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
        fill_stencil(device, stencil, 4);
        gl::Pass pass{.name = "test", .program = &one, .target = &with_depth, .quads = &quads, .first = 0, .count = 1};
        pass.depth = gl::DepthTest{.pass_if = gl::Compare::Less, .write = gl::DepthWrite::On};
        draw(device, pass);  // a quad lies at depth 0
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
        const gl::CountList counts(device, 2);
        clear_stencil(device, target, 0x53);
        gl::Pass pass{.name = "test", .program = &program, .target = &target, .quads = &quads, .first = 0, .count = 1};
        pass.counts = &counts;  // bound, and not read
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

    // The sorter must be as good as before.
    void halt(Sorter& sorter, Random& random) {
        auto keys = sample_keys<float>(random, 120, Specials::None);
        const auto expected = sorted(keys, sorter.options().order);
        // By subgroups it is one pass that merges nothing.
        const auto engine = sorter.options().engine;
        const bool one_pass = engine == Engine::Merge || engine == Engine::Hybrid;
        HaltingObserver observer(one_pass ? 1 : random.number(1, 5), random.flag());
        context_.observe(&observer);
        CHECK_THROWS_AS(sorter.sort(std::span(keys)), Halt);
        context_.observe(nullptr);
        CHECK(bits_differ(expected, sorted(keys, sorter.options().order)) == "");
        sort<float>(sorter, random, 120, Specials::Some);
    }

    Context context_;
    std::vector<Sorter> sorters_;
    std::vector<Stream> streams_;
};

std::string base_name(const std::string& name) {
    const auto bracket = name.find('[');
    return bracket == std::string::npos ? name : name.substr(0, bracket);
}

}  // namespace

TEST_CASE("no call changes the host's state, and none of that state changes a result") {
    Host host(each_profile());
    Calls as_headless(host.context), as_adopted(Host::adopt());
    for (int round = 0; round < rounds; ++round) {
        const auto seed = first_seed + static_cast<std::uint64_t>(round);
        CAPTURE(seed);
        Random random(seed);
        TextureJobs jobs(host.gl, random);
        auto calls = (round % 2 == 0 ? as_adopted : as_headless).of_round(random, jobs);
        Poison poison(host.gl, seed);
        const auto before = Snapshot::take(host.gl);
        for (const auto& call : calls) {
            CAPTURE(call.name);
            call.run();
            REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
        }
        poison.clear();
        jobs.verify();
        REQUIRE(error_names(take_errors(host.gl)) == "");
    }
    std::printf("state guard: %d rounds from seed %llu\n", rounds, static_cast<unsigned long long>(first_seed));
}

TEST_CASE("queries, counts under way and joins leave a poisoned host's state alone, and are right in it") {
    Host host(each_profile());
    const auto adopted = Host::adopt();
    std::vector<float> a(3000), b(3000), k(700);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i % 97) / 2;
        b[i] = static_cast<float>(i % 61);
    }
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = static_cast<float>(i % 50) / 2;
    Table left, right;
    left.add("a", a).add("b", b);
    right.add("k", k);
    const auto linear = Predicate::linear({{2, "a"}, {-1, "b"}}, Comparison::Greater, 3);
    QueryProcessor cpu;
    std::uint64_t pairs = 0;
    const auto count_pairs = [&](std::span<const RowPair> some) { pairs += some.size(); };
    const Join on{.left = "a", .right = "k", .method = JoinMethod::NestedLoops};
    const auto expected_pairs = cpu.join(left, right, on, count_pairs);
    for (const auto engine : {QueryEngine::Depth, QueryEngine::Bitmap}) {
        for (std::uint64_t seed = first_seed; seed < first_seed + 4; ++seed) {
            CAPTURE(seed);
            QueryProcessor processor(adopted, {.engine = engine});
            QueryProcessor one(adopted, {.engine = engine, .execution = Execution::OneOperation});
            Poison poison(host.gl, seed);
            const auto before = Snapshot::take(host.gl);
            const auto unchanged = [&] { return difference(before, Snapshot::take(host.gl)); };
            const auto compared = column("a") < column("b");
            const auto some = processor.count_async(left, compared), more = processor.count_async(left, linear);
            REQUIRE(unchanged() == "");
            CHECK(more.get() == cpu.count(left, linear));
            CHECK(some.get() == cpu.count(left, compared));
            REQUIRE(unchanged() == "");
            CHECK(processor.aggregate(left, {.kind = QueryAggregate::Kind::Max, .column = "a"}) == Value(48.0));
            REQUIRE(unchanged() == "");
            for (auto* by : {&processor, &one}) {
                pairs = 0;
                CHECK(by->join(left, right, on, count_pairs) == expected_pairs);
                CHECK(pairs == expected_pairs);
                REQUIRE(unchanged() == "");
                const QueryPlan plan(
                    {.outputs = {{QueryAggregate{}, "n"}}, .where = compared || column("a") > 40, .join = on},
                    left.columns(), right.columns());
                CHECK(by->run(plan, left, right).rows == cpu.run(plan, left, right).rows);
                REQUIRE(unchanged() == "");
            }
            poison.clear();
            REQUIRE(error_names(take_errors(host.gl)) == "");
        }
    }
}

TEST_CASE("destroying objects changes no state") {
    Host host(each_profile());
    auto adopted = std::make_unique<Context>(Host::adopt());
    std::vector<std::unique_ptr<Sorter>> sorters;
    for (auto context : {host.context, *adopted}) {
        sorters.push_back(std::make_unique<Sorter>(context, pbsn(Order::Ascending, EarlyStop::Yes)));
        std::vector<float> keys{2, 1};
        sorters.back()->sort(std::span(keys));
    }
    auto profiler = std::make_unique<PassProfiler>(*adopted);
    std::vector<float> keys{2, 1};
    sorters.back()->sort(std::span(keys));  // leaves queries with the profiler
    auto windows = window_sorter(*adopted, {.engine = Engine::Merge});
    windows->begin(keys, 2);
    const Poison poison(host.gl, first_seed);
    const auto before = Snapshot::take(host.gl);
    sorters.clear();
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
    windows.reset();
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
    profiler.reset();
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
    adopted.reset();
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
}

TEST_CASE("the poison reaches every name in the snapshot") {
    Host host(each_profile());
    std::map<std::string, std::set<std::vector<double>>> seen;
    for (int round = 0; round < rounds; ++round) {
        const Poison poison(host.gl, first_seed + static_cast<std::uint64_t>(round));
        for (const auto& entry : Snapshot::take(host.gl).entries) {
            if (auto& values = seen[base_name(entry.name)]; values.size() < 3) values.insert(entry.values);
        }
    }
    // Errors and queries of samples have tests of their own; stacks are at one depth, and other modes are refused.
    const std::set<std::string> may_stay{"ATTRIB_STACK_DEPTH",
                                         "CLIENT_ATTRIB_STACK_DEPTH",
                                         "MODELVIEW_STACK_DEPTH",
                                         "PROJECTION_STACK_DEPTH",
                                         "RENDER_MODE",
                                         "pending errors",
                                         "CURRENT_QUERY SAMPLES_PASSED",
                                         "CURRENT_QUERY ANY_SAMPLES_PASSED",
                                         "CURRENT_QUERY ANY_SAMPLES_PASSED_CONSERVATIVE"};
    for (const auto& [name, values] : seen) {
        CAPTURE(name);
        if (!may_stay.contains(name)) CHECK(values.size() > 1);
    }
}

TEST_CASE("a throw at any pass brings the state back and leaves a permutation of the keys") {
    Host host(each_profile());
    auto context = Host::adopt();
    Random random(first_seed);
    for (const auto early_stop : {EarlyStop::Yes, EarlyStop::No}) {
        // 400 keys in textures of 32 texels: several chunks, of which some are done when the throw comes.
        Sorter sorter(context, pbsn(Order::Ascending, early_stop, 32));
        auto warm = sample_keys<float>(random, 400, Specials::Some);
        const auto passes = static_cast<int>(sorter.sort(std::span(warm)).passes);
        const Poison poison(host.gl, random.bits());
        const auto before = Snapshot::take(host.gl);
        for (const int pass : {1, 2, 3, passes / 3, passes / 2, passes - passes / 8}) {
            for (const bool before_pass : {true, false}) {
                CAPTURE(pass);
                CAPTURE(before_pass);
                auto keys = sample_keys<float>(random, 400, Specials::Some);
                const auto expected = sorted(keys, Order::Ascending);
                HaltingObserver observer(pass, before_pass);
                context.observe(&observer);
                CHECK_THROWS_AS(sorter.sort(std::span(keys)), Halt);
                context.observe(nullptr);
                CHECK(difference(before, Snapshot::take(host.gl)) == "");
                CHECK_MESSAGE(bits_differ(expected, sorted(keys, Order::Ascending)) == "", "keys were lost");
                auto again = sample_keys<float>(random, 400, Specials::Some);
                const auto again_expected = sorted(again, Order::Ascending);
                sorter.sort(std::span(again));
                CHECK(bits_differ(again_expected, again) == "");
            }
        }
    }
}

TEST_CASE("a throw inside a Session leaves the session fit for more") {
    Host host(each_profile());
    auto context = Host::adopt();
    Random random(first_seed);
    const Poison poison(host.gl, first_seed + 3);
    const auto before = Snapshot::take(host.gl);
    {
        const Session session(context);
        // The objects of a sorter that stopped half-way go, and new ones may get their names.
        for (int pass = 1; pass < 40; pass += 3) {
            CAPTURE(pass);
            Sorter sorter(context, pbsn(Order::Descending, EarlyStop::Yes));
            HaltingObserver observer(pass, true);
            context.observe(&observer);
            auto keys = sample_keys<float>(random, 300, Specials::None);
            CHECK_THROWS_AS(sorter.sort(std::span(keys)), Halt);
            context.observe(nullptr);
            Sorter next(context, pbsn(Order::Ascending, EarlyStop::Yes));
            for (const std::size_t n : {std::size_t{300}, std::size_t{20}, std::size_t{90}}) {
                auto more = sample_keys<float>(random, n, Specials::None);
                const auto expected = sorted(more, Order::Ascending);
                next.sort(std::span(more));
                CHECK(bits_differ(expected, more) == "");
            }
        }
    }
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
}

TEST_CASE("pending errors of the host are still there after a call, and the call succeeds") {
    Host host(each_profile());
    auto context = Host::adopt();
    Sorter sorter(context, pbsn(Order::Ascending, EarlyStop::Yes));
    const auto sort = [&] {
        std::vector<float> keys{4, 3, 2, 1, 5};
        sorter.sort(std::span(keys));
        CHECK(keys == std::vector<float>{1, 2, 3, 4, 5});
    };
    const auto is_left_by = [&](GLenum error, auto&& call) {
        raise(host.gl, error);
        REQUIRE(error_names(take_errors(host.gl)) ==
                error_names({error}));  // else the test's own mistake is none on this driver
        const auto before = Snapshot::take(host.gl);
        raise(host.gl, error);
        call();
        CHECK(error_names(take_errors(host.gl)) == error_names({error}));
        CHECK(difference(before, Snapshot::take(host.gl)) == "");
    };
    for (const GLenum error :
         Enums{GL_INVALID_ENUM, GL_INVALID_VALUE, GL_INVALID_OPERATION, GL_INVALID_FRAMEBUFFER_OPERATION,
               GL_OUT_OF_MEMORY, GL_STACK_OVERFLOW, GL_STACK_UNDERFLOW}) {
        CAPTURE(error);
        is_left_by(error, sort);
        is_left_by(error, [&] { const Session session(context); });
        is_left_by(error, [&] { static_cast<void>(Host::adopt()); });
        is_left_by(error, [&] { CHECK_THROWS_AS(sorter.sort_texture(0, 0), InvalidArgument); });
        if (error == GL_STACK_UNDERFLOW) continue;  // the poison may leave debug groups open, so it is no error there
        for (std::uint64_t seed = first_seed; seed < first_seed + 6; ++seed) {
            CAPTURE(seed);
            const Poison poison(host.gl, seed);
            is_left_by(error, sort);
        }
    }
}

TEST_CASE("several pending errors come back as the driver keeps them") {
    Host host(each_profile());
    auto context = Host::adopt();
    const auto raise_all = [&] {
        for (const GLenum error : Enums{GL_INVALID_VALUE, GL_INVALID_ENUM, GL_INVALID_OPERATION}) raise(host.gl, error);
    };
    raise_all();
    auto before = take_errors(host.gl);  // one, or one of each: both are legal
    raise_all();
    { const Session session(context); }
    auto after = take_errors(host.gl);
    std::ranges::sort(before);
    std::ranges::sort(after);
    CHECK(error_names(before) == error_names(after));
}

TEST_CASE("handing an error back sends the host no debug message") {
    Host host(each_profile());
    auto context = Host::adopt();
    int messages = 0;
    host.gl.DebugMessageCallback(
        [](GLenum, GLenum type, GLuint, GLenum, GLsizei, const GLchar*, const void* user) {
            if (type == GL_DEBUG_TYPE_ERROR) ++*static_cast<int*>(const_cast<void*>(user));
        },
        &messages);
    host.gl.Enable(GL_DEBUG_OUTPUT);
    host.gl.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    for (const GLenum error : Enums{GL_INVALID_ENUM, GL_INVALID_VALUE, GL_INVALID_OPERATION,
                                    GL_INVALID_FRAMEBUFFER_OPERATION, GL_OUT_OF_MEMORY}) {
        raise(host.gl, error);
        const int of_the_host = messages;
        { const Session session(context); }
        CHECK(messages == of_the_host);
        CHECK(error_names(take_errors(host.gl)) == error_names({error}));
    }
    host.gl.DebugMessageCallback(nullptr, nullptr);
}

TEST_CASE("no call makes a mistake that the driver's debug output knows of") {
    HeadlessOptions options;
    options.on_debug_message = [](std::string_view) {};  // asks for a debug context
    Host host(options);
    std::vector<std::string> mistakes;
    host.gl.DebugMessageCallback(
        [](GLenum, GLenum type, GLuint, GLenum, GLsizei, const GLchar* message, const void* user) {
            if (type != GL_DEBUG_TYPE_ERROR) return;
            static_cast<std::vector<std::string>*>(const_cast<void*>(user))->emplace_back(message);
        },
        &mistakes);
    Random random(first_seed);
    Calls calls(Host::adopt());
    for (int i = 0; i < 4; ++i) {
        TextureJobs jobs(host.gl, random);
        for (const auto& call : calls.of_round(random, jobs)) {
            CAPTURE(call.name);
            call.run();
            CHECK_MESSAGE(mistakes.empty(), mistakes.back());
            mistakes.clear();
        }
        jobs.verify();
    }
    host.gl.DebugMessageCallback(nullptr, nullptr);
}

TEST_CASE("a host's texture that no sampler could read is sorted all the same, and its parameters stay") {
    // With levels missing, or its parameters set against reading level 0; a driver may refuse to copy such a texture.
    Host host(each_profile());
    const auto& gl = host.gl;
    Sorter sorter(Host::adopt(), pbsn(Order::Ascending, EarlyStop::Yes));
    Random random(first_seed);
    struct Parameter {
        GLenum name;
        GLint value;
    };
    for (const auto& [name, value] :
         {Parameter{GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR}, Parameter{GL_TEXTURE_BASE_LEVEL, 1},
          Parameter{GL_TEXTURE_MAX_LEVEL, 0}, Parameter{GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE}}) {
        CAPTURE(name);
        const auto before = sample_keys<float>(random, std::size_t{4} * 6 * 5, Specials::None);
        GLuint id = 0;
        gl.GenTextures(1, &id);
        gl.BindTexture(GL_TEXTURE_2D, id);
        gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 6, 5, 0, GL_RGBA, GL_FLOAT, before.data());
        if (name != GL_TEXTURE_MIN_FILTER) gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        gl.TexParameteri(GL_TEXTURE_2D, name, value);
        const auto state = Snapshot::take(gl);
        sorter.sort_texture(id, id);
        CHECK(difference(state, Snapshot::take(gl)) == "");
        GLint kept = 0;
        gl.GetTexParameteriv(GL_TEXTURE_2D, name, &kept);
        CHECK(kept == value);
        std::vector<float> found(before.size());
        gl.GetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, found.data());
        for (std::size_t channel = 0; channel < 4; ++channel) {
            std::vector<float> a, b;
            for (std::size_t i = channel; i < before.size(); i += 4) {
                a.push_back(before[i]);
                b.push_back(found[i]);
            }
            CHECK(bits_differ(sorted(a, Order::Ascending), b) == "");
        }
        gl.DeleteTextures(1, &id);
        CHECK(error_names(take_errors(gl)) == "");
    }
}

namespace {

// Draws points, each of one fragment, into a target of 4 x 4.
class PointScene {
  public:
    explicit PointScene(const Api& gl) : gl_(gl) {
        program = make_program(gl, R"(
out gl_PerVertex { vec4 gl_Position; };
out vec4 captured;
void main() {
    captured = vec4(float(gl_VertexID), 10.0, 20.0, 30.0);
    gl_Position = vec4(0.25, 0.25, 0.0, 1.0);  // the centre of a texel
})",
                               "out vec4 value;\nvoid main() { value = vec4(1.0); }", false, true);
        gl.UseProgram(program);
        gl.CreateVertexArrays(1, &array_);
        gl.BindVertexArray(array_);
        gl.CreateTextures(GL_TEXTURE_2D, 1, &texture_);
        gl.TextureStorage2D(texture_, 1, GL_RGBA8, 4, 4);
        gl.CreateFramebuffers(1, &framebuffer_);
        gl.NamedFramebufferTexture(framebuffer_, GL_COLOR_ATTACHMENT0, texture_, 0);
        gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
        gl.Viewport(0, 0, 4, 4);
    }
    void draw(GLint first, GLsizei points) const { gl_.DrawArrays(GL_POINTS, first, points); }
    GLuint program = 0;

  private:
    const Api& gl_;
    GLuint array_ = 0, texture_ = 0, framebuffer_ = 0;
};

}  // namespace

TEST_CASE("an active query that the passes would feed is refused and goes on unharmed") {
    Host host(each_profile());
    auto context = Host::adopt();
    const PointScene scene(host.gl);
    Sorter sorter(context, pbsn(Order::Ascending, EarlyStop::Yes));
    // What a query counts of five points, two before something and three after it.
    const auto counted = [&](GLenum target, const std::function<void()>& between) {
        GLuint query = 0, result = 0;
        host.gl.GenQueries(1, &query);  // Mesa's glCreateQueries knows no statistics
        host.gl.BeginQuery(target, query);
        scene.draw(0, 2);
        between();
        scene.draw(0, 3);
        host.gl.EndQuery(target);
        host.gl.GetQueryObjectuiv(query, GL_QUERY_RESULT, &result);
        host.gl.DeleteQueries(1, &query);
        return result;
    };
    std::vector<GLenum> targets{GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE,
                                GL_PRIMITIVES_GENERATED};
    if (host.gl.ARB_pipeline_statistics_query) {
        targets.insert(targets.end(),
                       {GL_VERTICES_SUBMITTED, GL_PRIMITIVES_SUBMITTED, GL_VERTEX_SHADER_INVOCATIONS,
                        GL_FRAGMENT_SHADER_INVOCATIONS, GL_CLIPPING_INPUT_PRIMITIVES, GL_CLIPPING_OUTPUT_PRIMITIVES});
    }
    for (const auto target : targets) {
        CAPTURE(target);
        const bool any = target == GL_ANY_SAMPLES_PASSED || target == GL_ANY_SAMPLES_PASSED_CONSERVATIVE;
        const auto expected = counted(target, [] {});
        // A driver may shade more fragments than there are, and a vertex that it has shaded before, once.
        if (target == GL_FRAGMENT_SHADER_INVOCATIONS) {
            CHECK(expected >= 5);
        } else if (target == GL_VERTEX_SHADER_INVOCATIONS) {
            CHECK((expected >= 3 && expected <= 5));
        } else {
            CHECK(expected == (any ? 1 : 5));
        }
        std::vector<float> keys{2, 1};
        const auto refused = [&] {
            const auto before = Snapshot::take(host.gl);
            CHECK_THROWS_AS(sorter.sort(std::span(keys)), InvalidArgument);
            CHECK(keys == std::vector<float>{2, 1});
            CHECK_THROWS_AS(Session{context}, InvalidArgument);
            CHECK_THROWS_AS(sorter.sort_texture(1, 1), InvalidArgument);
            CHECK(difference(before, Snapshot::take(host.gl)) == "");
        };
        CHECK(counted(target, refused) == expected);
        sorter.sort(std::span(keys));
        CHECK(keys == std::vector<float>{1, 2});
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("a statistic of a stage that no pass has goes on through a call and counts nothing of it") {
    Host host(each_profile());
    if (!host.gl.ARB_pipeline_statistics_query) return;
    Sorter sorter(Host::adopt(), pbsn(Order::Ascending, EarlyStop::Yes));
    for (const GLenum target :
         Enums{GL_TESS_CONTROL_SHADER_PATCHES, GL_TESS_EVALUATION_SHADER_INVOCATIONS, GL_GEOMETRY_SHADER_INVOCATIONS,
               GL_GEOMETRY_SHADER_PRIMITIVES_EMITTED, GL_COMPUTE_SHADER_INVOCATIONS}) {
        CAPTURE(target);
        GLuint query = 0, result = 7;
        host.gl.GenQueries(1, &query);
        host.gl.BeginQuery(target, query);
        std::vector<float> keys{2, 1};
        sorter.sort(std::span(keys));
        host.gl.EndQuery(target);
        host.gl.GetQueryObjectuiv(query, GL_QUERY_RESULT, &result);
        CHECK(result == 0);
        CHECK(keys == std::vector<float>{1, 2});
        host.gl.DeleteQueries(1, &query);
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("conditional rendering of the host is refused and goes on unharmed, errors of the host too") {
    Host host(each_profile());
    auto context = Host::adopt();
    const auto& gl = host.gl;
    const PointScene scene(gl);
    Sorter sorter(context, pbsn(Order::Ascending, EarlyStop::Yes));
    std::vector<float> keys{2, 1};
    sorter.sort(std::span(keys));  // the library has seen the driver outside of it
    std::array<GLuint, 2> queries{};
    gl.CreateQueries(GL_SAMPLES_PASSED, 2, queries.data());
    const auto [nothing, seen] = queries;
    gl.BeginQuery(GL_SAMPLES_PASSED, nothing);
    gl.EndQuery(GL_SAMPLES_PASSED);
    for (const GLenum error : Enums{GL_NO_ERROR, GL_INVALID_OPERATION, GL_INVALID_ENUM}) {
        CAPTURE(error);
        gl.BeginConditionalRender(nothing, GL_QUERY_WAIT);
        const auto before = Snapshot::take(gl);
        keys = {2, 1};
        if (error != GL_NO_ERROR) raise(gl, error);
        CHECK_THROWS_AS(sorter.sort(std::span(keys)), InvalidArgument);
        CHECK(keys == std::vector<float>{2, 1});
        CHECK_THROWS_AS(Session{context}, InvalidArgument);
        CHECK_THROWS_AS(sorter.argsort_texture(1, 2), InvalidArgument);
        CHECK(error_names(take_errors(gl)) ==
              (error == GL_NO_ERROR ? std::string() : error_names(std::vector<GLenum>{error})));
        CHECK(difference(before, Snapshot::take(gl)) == "");
        gl.BeginQuery(GL_SAMPLES_PASSED, seen);
        scene.draw(0, 3);  // still skipped
        gl.EndQuery(GL_SAMPLES_PASSED);
        gl.EndConditionalRender();
        CHECK(error_names(take_errors(gl)) == "");
        GLuint samples = 7;
        gl.GetQueryObjectuiv(seen, GL_QUERY_RESULT, &samples);
        CHECK(samples == 0);
        sorter.sort(std::span(keys));
        CHECK(keys == std::vector<float>{1, 2});
    }
    gl.DeleteQueries(2, queries.data());
}

TEST_CASE("masks of the stencil of any 32 bits come back, as pixels show") {
    Host host(each_profile());
    auto context = Host::adopt();
    const auto& gl = host.gl;
    namespace lib = detail::gl;
    auto& device = *detail::Access::of(context);
    const auto use_stencil = [&] {
        const lib::Scope scope(device, "test");
        const lib::Texture texture(device, lib::Format::Depth32fStencil8, 4, 4);
        const lib::Framebuffer target(device, lib::Framebuffer::NoColor{}, texture);
        clear_stencil(device, target, 0x53);
        scope.check();
    };
    GLuint buffer = 0, framebuffer = 0;
    gl.CreateRenderbuffers(1, &buffer);
    gl.NamedRenderbufferStorage(buffer, GL_DEPTH24_STENCIL8, 1, 1);
    gl.CreateFramebuffers(1, &framebuffer);
    gl.NamedFramebufferRenderbuffer(framebuffer, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, buffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.NamedFramebufferDrawBuffer(framebuffer, GL_NONE);
    gl.NamedFramebufferReadBuffer(framebuffer, GL_NONE);
    gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
    const auto stencil = [&] {
        GLubyte value = 0;
        gl.ReadPixels(0, 0, 1, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, &value);
        return value;
    };
    // Passes where the value under the mask is that of the reference under it; then it becomes the reference.
    const GLuint program = make_program(gl,
                                        "out gl_PerVertex { vec4 gl_Position; };\n"
                                        "void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
                                        "void main() {}");
    GLuint array = 0;
    gl.CreateVertexArrays(1, &array);
    gl.BindVertexArray(array);
    gl.UseProgram(program);
    gl.Viewport(0, 0, 1, 1);
    for (const GLuint mask : {0xfffffff0U, 0x80000003U, 0x7fffffffU, 0x0fU, 0xffffffffU, 0x80000000U}) {
        CAPTURE(mask);
        gl.StencilMask(0xff);
        gl.ClearStencil(0);
        gl.Clear(GL_STENCIL_BUFFER_BIT);
        gl.StencilMask(mask);
        gl.StencilFunc(GL_EQUAL, 0xf5, mask);
        const auto before = Snapshot::take(gl);
        use_stencil();
        CHECK(difference(before, Snapshot::take(gl)) == "");
        gl.ClearStencil(0xff);
        gl.Clear(GL_STENCIL_BUFFER_BIT);
        CHECK(stencil() == (mask & 0xffU));
        gl.StencilMask(0xff);
        gl.Enable(GL_STENCIL_TEST);
        gl.StencilOp(GL_KEEP, GL_KEEP, GL_INVERT);
        for (const GLuint value : {0xf5U, 0xf6U, 0x05U}) {
            gl.ClearStencil(static_cast<GLint>(value));
            gl.Clear(GL_STENCIL_BUFFER_BIT);
            gl.DrawArrays(GL_POINTS, 0, 1);
            CHECK(stencil() == (((value ^ 0xf5U) & mask & 0xffU) == 0 ? ~value & 0xffU : value));
        }
        gl.Disable(GL_STENCIL_TEST);
    }
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("a query of elapsed time goes on through a call") {
    Host host(each_profile());
    auto context = Host::adopt();
    Sorter sorter(context, pbsn(Order::Ascending, EarlyStop::Yes));
    GLuint query = 0;
    GLuint64 elapsed = 0;
    host.gl.CreateQueries(GL_TIME_ELAPSED, 1, &query);
    host.gl.BeginQuery(GL_TIME_ELAPSED, query);
    std::vector<float> keys{2, 1};
    sorter.sort(std::span(keys));
    host.gl.EndQuery(GL_TIME_ELAPSED);
    host.gl.GetQueryObjectui64v(query, GL_QUERY_RESULT, &elapsed);
    CHECK(error_names(take_errors(host.gl)) == "");
    CHECK(keys == std::vector<float>{1, 2});
    host.gl.DeleteQueries(1, &query);
}

TEST_CASE("transform feedback of the host goes on after a call as if there had been none") {
    Host host(each_profile());
    auto context = Host::adopt();
    const auto& gl = host.gl;
    const PointScene scene(gl);
    Sorter sorter(context, pbsn(Order::Ascending, EarlyStop::Yes));
    for (const bool paused : {false, true}) {
        CAPTURE(paused);
        GLuint buffer = 0, query = 0, written = 0;
        std::array<float, 24> fed{};
        gl.CreateBuffers(1, &buffer);
        gl.NamedBufferStorage(buffer, sizeof fed, nullptr, 0);
        gl.ClearNamedBufferData(buffer, GL_R32F, GL_RED, GL_FLOAT, nullptr);
        gl.BindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
        gl.CreateQueries(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, 1, &query);
        gl.BeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
        gl.BeginTransformFeedback(GL_POINTS);
        scene.draw(0, 2);
        if (paused) gl.PauseTransformFeedback();
        const auto before = Snapshot::take(gl);
        std::vector<float> keys{3, 2, 1, 0, -1, 5};
        sorter.sort(std::span(keys));
        CHECK(keys == std::vector<float>{-1, 0, 1, 2, 3, 5});
        CHECK(difference(before, Snapshot::take(gl)) == "");
        if (paused) gl.ResumeTransformFeedback();
        scene.draw(7, 3);
        gl.EndTransformFeedback();
        gl.EndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
        gl.GetQueryObjectuiv(query, GL_QUERY_RESULT, &written);
        gl.GetNamedBufferSubData(buffer, 0, sizeof fed, fed.data());
        CHECK(written == 5);
        const std::array<float, 6> expected{0, 1, 7, 8, 9, 0};  // the last one was never written
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(fed[4 * i] == expected[i]);
        gl.DeleteQueries(1, &query);
        gl.DeleteBuffers(1, &buffer);
    }
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("a program that is flagged for deletion is refused, since it could not be brought back") {
    Host host(each_profile());
    auto context = Host::adopt();
    const PointScene scene(host.gl);
    host.gl.DeleteProgram(scene.program);
    const auto before = Snapshot::take(host.gl);
    std::vector<float> keys{2, 1};
    Sorter sorter(context, pbsn(Order::Ascending, EarlyStop::Yes));
    CHECK_THROWS_AS(sorter.sort(std::span(keys)), InvalidArgument);
    CHECK_THROWS_AS(Session{context}, InvalidArgument);
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
    scene.draw(0, 1);
    CHECK(error_names(take_errors(host.gl)) == "");
    host.gl.UseProgram(0);
    sorter.sort(std::span(keys));
    CHECK(keys == std::vector<float>{1, 2});
}

TEST_CASE("objects whose names were used before are bound anew within one Session") {
    Host host(each_profile());
    auto context = Host::adopt();
    Random random(first_seed);
    const Session session(context);
    for (int i = 0; i < 12; ++i) {
        CAPTURE(i);
        Sorter sorter(context, pbsn(Order::Ascending, i % 2 == 0 ? EarlyStop::Yes : EarlyStop::No));
        for (const std::size_t n : {std::size_t{64}, std::size_t{16}, std::size_t{256}, std::size_t{64}}) {
            auto keys = sample_keys<float>(random, n, Specials::None);
            const auto expected = sorted(keys, Order::Ascending);
            sorter.sort(std::span(keys));
            REQUIRE(bits_differ(expected, keys) == "");
        }
    }
}

TEST_CASE("what the guard costs" * doctest::description("printed, not judged")) {
    Host host;
    const auto median_us = [](Context context) {
        std::vector<double> times;
        for (int i = 0; i < 1000; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            { const Session session(context); }
            times.push_back(
                std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        }
        std::ranges::nth_element(times, times.begin() + 500);
        return times[500];
    };
    const double adopted = median_us(Host::adopt());
    const double current = median_us(host.context);
    release_current();
    const double not_current = median_us(host.context);
    double old = 0;
    if (!compatibility_is_refused()) {
        const Host compatible(Profile::Compatibility);
        old = median_us(compatible.context);
    }
    host.context.make_current();
    std::printf(
        "empty Session on %s, median of 1000: %.1f us adopted, %.1f us headless and current, %.1f us headless and "
        "made current, %.1f us adopted in the compatibility profile\n",
        host.context.info().renderer.c_str(), adopted, current, not_current, old);
    CHECK(error_names(take_errors(host.gl)) == "");
}
