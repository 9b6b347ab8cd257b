// Whatever the application's OpenGL state is, each call of the library leaves it unchanged, even if it throws, and no
// state can change a result.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "gl/host.hpp"
#include "gl/host_calls.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "gl/texels.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

constexpr std::uint64_t first_seed = 20261100;
constexpr int rounds = 40;

std::string base_name(const std::string& name) {
    const auto bracket = name.find('[');
    return bracket == std::string::npos ? name : name.substr(0, bracket);
}

}  // namespace

TEST_CASE("no call changes the application's state, and none of that state changes a result") {
    Host host(each_profile());
    Calls as_headless(host.gl, host.context), as_adopted(host.gl, Host::adopt());
    const bool is_older = host.context.info().api != OpenGl::Desktop45;
    for (int round = 0; round < (is_older ? rounds / 10 : rounds); ++round) {
        const auto seed = first_seed + static_cast<std::uint64_t>(round);
        CAPTURE(seed);
        Random random(seed);
        TextureJobs jobs(host.gl, random);
        auto calls = (round % 2 == 0 ? as_adopted : as_headless).of_round(random, jobs);
        Poison poison(host.gl, seed);
        const auto before = Snapshot::take(host.gl);
        for (const auto& call : calls) make(call, host, before);
        poison.clear();
        jobs.verify();
        REQUIRE(error_names(take_errors(host.gl)) == "");
    }
    std::printf("state guard: rounds from seed %llu\n", static_cast<unsigned long long>(first_seed));
}

TEST_CASE("queries, pending counts and joins do not change poisoned state, and give right answers") {
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
        if (engine == QueryEngine::Depth && adopted.info().api != OpenGl::Desktop45) continue;
        for (std::uint64_t seed = first_seed; seed < first_seed + 4; ++seed) {
            CAPTURE(seed);
            QueryProcessor processor(adopted, {.engine = engine});
            QueryProcessor one(adopted, {.engine = engine, .paper = {.execution = Execution::OneOperation}});
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
    sorters.back()->sort(std::span(keys));  // leaves queries to the profiler
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
    // Errors and sample queries have tests of their own. Stacks have a fixed depth, and other modes are refused.
    const std::set<std::string> may_stay{"ATTRIB_STACK_DEPTH",
                                         "CLIENT_ATTRIB_STACK_DEPTH",
                                         "MODELVIEW_STACK_DEPTH",
                                         "PROJECTION_STACK_DEPTH",
                                         "RENDER_MODE",
                                         "pending errors",
                                         "CURRENT_QUERY SAMPLES_PASSED",
                                         "CURRENT_QUERY ANY_SAMPLES_PASSED",
                                         "CURRENT_QUERY ANY_SAMPLES_PASSED_CONSERVATIVE"};
    if (host.context.info().api != OpenGl::Desktop45) {
        // Drivers report state of newer versions, too, but most of it is of this one.
        const auto reached = std::ranges::count_if(seen, [](const auto& entry) { return entry.second.size() > 1; });
        std::printf("poison: %d of %d names\n", static_cast<int>(reached), static_cast<int>(seen.size()));
        CHECK(reached > 110);
        return;
    }
    for (const auto& [name, values] : seen) {
        const auto& state = name;
        CAPTURE(state);
        if (!may_stay.contains(name)) CHECK(values.size() > 1);
    }
}

TEST_CASE("an exception at any pass restores the state and leaves a permutation of the keys") {
    Host host(each_profile());
    auto context = Host::adopt();
    Random random(first_seed);
    for (const auto early_stop : {EarlyStop::Yes, EarlyStop::No}) {
        // 400 keys in textures of 32 texels: several chunks, some of which are done when the exception is thrown.
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

TEST_CASE("an exception inside a Session leaves the session usable") {
    Host host(each_profile());
    auto context = Host::adopt();
    Random random(first_seed);
    const Poison poison(host.gl, first_seed + 3);
    const auto before = Snapshot::take(host.gl);
    {
        const Session session(context);
        // The objects of a sorter that stopped half-way are deleted, and new ones may get their names.
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

TEST_CASE("pending errors of the application are still pending after a call, and the call succeeds") {
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
                error_names({error}));  // otherwise the test's own mistake is not one on this driver
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
        const bool is_of_stack = error == GL_STACK_OVERFLOW || error == GL_STACK_UNDERFLOW;
        if (is_of_stack && context.info().api != OpenGl::Desktop45) continue;  // these came with debug groups
        is_left_by(error, sort);
        is_left_by(error, [&] { const Session session(context); });
        is_left_by(error, [&] { static_cast<void>(Host::adopt()); });
        is_left_by(error, [&] { CHECK_THROWS_AS(sorter.sort_texture(0, 0), InvalidArgument); });
        if (error == GL_STACK_UNDERFLOW) continue;  // the poison may leave debug groups open
        for (std::uint64_t seed = first_seed; seed < first_seed + 6; ++seed) {
            CAPTURE(seed);
            const Poison poison(host.gl, seed);
            is_left_by(error, sort);
        }
    }
}

TEST_CASE("several pending errors are restored in the way that the driver keeps them") {
    Host host(each_profile());
    auto context = Host::adopt();
    const auto raise_all = [&] {
        for (const GLenum error : Enums{GL_INVALID_VALUE, GL_INVALID_ENUM, GL_INVALID_OPERATION}) raise(host.gl, error);
    };
    raise_all();
    auto before = take_errors(host.gl);  // one error, or one of each: both are legal
    raise_all();
    { const Session session(context); }
    auto after = take_errors(host.gl);
    std::ranges::sort(before);
    std::ranges::sort(after);
    CHECK(error_names(before) == error_names(after));
}

TEST_CASE("restoring an error sends no debug message to the application") {
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

TEST_CASE("no call makes a mistake that the driver's debug output reports") {
    HeadlessOptions options;
    options.on_debug_message = [](std::string_view) {};  // requests a debug context
    Host host(options);
    std::vector<std::string> mistakes;
    host.gl.DebugMessageCallback(
        [](GLenum, GLenum type, GLuint, GLenum, GLsizei, const GLchar* message, const void* user) {
            if (type != GL_DEBUG_TYPE_ERROR) return;
            static_cast<std::vector<std::string>*>(const_cast<void*>(user))->emplace_back(message);
        },
        &mistakes);
    Random random(first_seed);
    Calls calls(host.gl, Host::adopt());
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

TEST_CASE("an application's texture that no sampler could read is sorted nevertheless, and its parameters stay") {
    // With levels missing, or parameters that prevent reading level 0. A driver may refuse to copy such a texture.
    Host host(each_profile());
    const auto& gl = host.gl;
    Sorter sorter(Host::adopt(), pbsn(Order::Ascending, EarlyStop::Yes));
    Random random(first_seed);
    struct Parameter {
        GLenum name;
        GLint value;
    };
    for (const auto [name, value] :
         {Parameter{GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR}, Parameter{GL_TEXTURE_BASE_LEVEL, 1},
          Parameter{GL_TEXTURE_MAX_LEVEL, 0}, Parameter{GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE}}) {
        const auto parameter = name;
        CAPTURE(parameter);
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

TEST_CASE("the cost of the guard" * doctest::description("printed, not judged")) {
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
    const double old = median_us(Host(Profile::Compatibility).context);
    host.context.make_current();
    std::printf(
        "empty Session on %s, median of 1000: %.1f us adopted, %.1f us headless and current, %.1f us headless and "
        "made current, %.1f us adopted in the compatibility profile\n",
        host.context.info().renderer.c_str(), adopted, current, not_current, old);
    CHECK(error_names(take_errors(host.gl)) == "");
}
