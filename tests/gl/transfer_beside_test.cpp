// Transfers in contexts beside the one that draws: their thread, its errors, and contexts that a host gives for it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gl/device.hpp"
#include "gl/host.hpp"
#include "gl/pixels.hpp"
#include "gl/sample_keys.hpp"
#include "gl/sibling.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "quadmill/window_sorter.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

constexpr auto beside = HeadlessOptions::Transfers::Beside;

// A context of the host's, on the display of the one that is current now.
class Second {
  public:
    explicit Second(EGLContext shared) : display_(Egl::get().current_display()) {
        const auto& egl = Egl::get();
        const std::array config_wish{EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint found = 0;
        REQUIRE(egl.choose_config(display_, config_wish.data(), &config, 1, &found) != EGL_FALSE);
        for (const bool robust : {true, false}) {  // as the library's own are, where they can be
            std::vector<EGLint> wish{EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5};
            if (robust) {
                wish.insert(wish.end(), {EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
                                         EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET});
            }
            wish.push_back(EGL_NONE);
            if (!context_) context_ = egl.create_context(display_, config, shared, wish.data());
        }
        REQUIRE(context_ != nullptr);
    }
    Second(const Second&) = delete;
    Second& operator=(const Second&) = delete;
    ~Second() { Egl::get().destroy_context(display_, context_); }
    [[nodiscard]] SharedContext use() {
        const auto make = [this](EGLContext context) {
            Egl::get().bind_api(EGL_OPENGL_API);
            REQUIRE(Egl::get().make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context) != EGL_FALSE);
        };
        return {[=, this] {
                    make(context_);
                    ++made_current;
                },
                [=, this] {
                    make(EGL_NO_CONTEXT);
                    ++released;
                }};
    }
    int made_current = 0, released = 0;

  private:
    EGLDisplay display_;
    EGLContext context_ = nullptr;
};

std::vector<float> values(std::size_t n, std::uint64_t seed) {
    return make<float>("uniform", n, seed);
}

}  // namespace

TEST_CASE("Work in a sibling is done in order; what fails is told by the next fence, and then it goes on") {
    const auto context = Context::headless({.transfers = beside});
    auto& device = *detail::Access::of(context);
    const detail::gl::Scope scope(device, "test");
    auto& sibling = *device.siblings().sends;
    REQUIRE(&sibling == device.siblings().sends);
    CHECK(device.siblings().fetches != &sibling);

    std::vector<int> order;
    for (int i = 0; i < 100; ++i) sibling.give([&order, i](const Api&) { order.push_back(i); });
    detail::gl::Fence(device, sibling.fence()).wait();
    REQUIRE(order.size() == 100);
    CHECK(std::ranges::is_sorted(order));

    bool after_failure = false;
    sibling.give([](const Api& gl) { gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 123'456); });  // no such buffer
    sibling.give([&](const Api&) { after_failure = true; });
    detail::gl::Fence failed(device, sibling.fence());
    CHECK_THROWS_WITH_AS(failed.wait(), doctest::Contains("a transfer beside the drawing"), GlError);
    CHECK_FALSE(after_failure);
    sibling.give([](const Api&) { throw InvalidArgument("as it is"); });
    CHECK_THROWS_WITH_AS(detail::gl::Fence(device, sibling.fence()).hold(), "as it is", InvalidArgument);
    sibling.give([&](const Api&) { after_failure = true; });
    detail::gl::Fence(device, sibling.fence()).wait();
    CHECK(after_failure);
    scope.check();
}

TEST_CASE("A sibling times a transfer from when it can begin") {
    const auto context = Context::headless({.transfers = beside});
    auto& device = *detail::Access::of(context);
    const detail::gl::Scope scope(device, "test");
    auto& sibling = *device.siblings().sends;
    sibling.start_clock();
    sibling.give([](const Api&) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    auto first = sibling.stop_clock();
    CHECK(first.get() >= 20);
    sibling.start_clock();
    CHECK(sibling.stop_clock().get() < first.get());
}

TEST_CASE("A batch goes through three lanes beside the drawing, two in line with it") {
    CHECK(window_sorter(Context::headless(), {.engine = Engine::Merge})->depth() == 2);
    const auto context = Context::headless({.transfers = beside});
    const auto sorter = window_sorter(context, {.engine = Engine::Merge});
    REQUIRE(sorter->depth() == 3);
    std::array<std::vector<float>, 3> batches{values(100'000, 1), values(100'000, 2), values(100'000, 3)};
    for (auto& batch : batches) sorter->begin(batch, 1000);
    auto fourth = values(10, 4);
    CHECK_THROWS_WITH_AS(sorter->begin(fourth, 10), doctest::Contains("3 batches are under way"), InvalidArgument);
    for (auto& batch : batches) {
        sorter->finish();
        for (std::size_t i = 0; i < batch.size(); i += 1000)
            REQUIRE(std::is_sorted(batch.begin() + static_cast<std::ptrdiff_t>(i),
                                   batch.begin() + static_cast<std::ptrdiff_t>(i + 1000)));
    }
    const auto times = sorter->times();
    CHECK(times.upload > 0);
    CHECK(times.sort > 0);
    CHECK(times.readback > 0);
}

TEST_CASE("Textures of all lanes count where the memory is limited") {
    const auto taken = [](HeadlessOptions::Transfers transfers, std::size_t limit) {
        const auto sorter =
            window_sorter(Context::headless({.transfers = transfers}), {.engine = Engine::Merge, .gpu_memory = limit});
        auto keys = values(100'000, 1);
        try {
            sorter->begin(keys, 1000);
        } catch (const InvalidArgument&) {
            return false;
        }
        sorter->finish();
        return true;
    };
    std::size_t limit = 1;
    while (!taken(HeadlessOptions::Transfers::InLine, limit)) limit *= 2;
    CHECK_FALSE(taken(beside, limit));
    CHECK(taken(beside, 4 * limit));
}

TEST_CASE("An adopted context transfers in contexts that the host gives, and the host finds its state as it was") {
    Host host(each_profile());
    Second sending(host.handle()), fetching(host.handle());
    const auto expected = [&] {
        Quantiles<float> summary({.eps = 1e-3, .window = 1000}, cpu_window_sorter(1));
        for (std::uint64_t seed = 0; seed < 5; ++seed) summary.add(values(200'000, seed));
        return summary.quantile(0.5).value;
    }();
    {
        auto context = Host::adopt();
        context.transfer_beside(sending.use(), fetching.use());
        CHECK_THROWS_WITH_AS(context.transfer_beside(sending.use(), fetching.use()), doctest::Contains("already"),
                             InvalidArgument);
        const Poison poison(host.gl, 5);
        const auto before = Snapshot::take(host.gl);
        auto sorter = window_sorter(context, {.engine = Engine::Merge, .threads = 2});
        CHECK(sorter->depth() == 3);
        Quantiles<float> summary({.eps = 1e-3, .window = 1000}, std::move(sorter));
        for (std::uint64_t seed = 0; seed < 5; ++seed) summary.add(values(200'000, seed));
        CHECK(summary.quantile(0.5).value == expected);
        CHECK(difference(before, Snapshot::take(host.gl)) == "");
    }
    CHECK(sending.made_current == 1);
    CHECK(fetching.made_current == 1);
    CHECK(sending.released == 1);  // threads are gone with the last copy of the context
    CHECK(fetching.released == 1);
}

TEST_CASE("What contexts for transfers are refused, and transfers then stay in line") {
    Host host;
    auto context = Host::adopt();
    Second sending(host.handle()), alone(EGL_NO_CONTEXT);
    CHECK_THROWS_WITH_AS(context.transfer_beside(sending.use(), {}), doctest::Contains("need a make_current"),
                         InvalidArgument);
    CHECK_THROWS_WITH_AS(context.transfer_beside(sending.use(), alone.use()), doctest::Contains("does not share"),
                         InvalidArgument);
    CHECK(alone.released == 1);
    CHECK_THROWS_WITH_AS(context.transfer_beside({[] { throw ContextError("not today"); }, {}}, sending.use()),
                         "not today", ContextError);
    const auto sorter = window_sorter(context, {.engine = Engine::Merge});
    CHECK(sorter->depth() == 2);
    auto keys = values(5000, 1);
    sorter->begin(keys, keys.size());
    sorter->finish();
    CHECK(std::ranges::is_sorted(keys));
    auto own = Context::headless({.transfers = beside});
    CHECK_THROWS_WITH_AS(own.transfer_beside(sending.use(), sending.use()), doctest::Contains("already"),
                         InvalidArgument);
}
