// Applications that are refused because their state could not be restored, and drivers that return nonsense.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

// A second context with the display and config of the first. It is current until its end; then the first one is current
// again.
class SecondContext {
  public:
    enum class Kind { Sharing, NoError };
    explicit SecondContext(const Host& host, Kind kind)
        : first_(host.handle()), display_(Egl::get().current_display()) {
        const auto& egl = Egl::get();
        EGLint number = 0, found = 0;
        egl.query_context(display_, first_, EGL_CONFIG_ID, &number);
        const std::array config_wish{EGL_CONFIG_ID, number, EGL_NONE};
        EGLConfig config = nullptr;
        REQUIRE(egl.choose_config(display_, config_wish.data(), &config, 1, &found) != EGL_FALSE);
        std::vector<EGLint> wish{EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5};
        if (kind == Kind::NoError) wish.insert(wish.end(), {EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE});
        // Contexts that share must have the same behaviour on a GPU reset.
        if (kind == Kind::Sharing && host.context.info().robust) {
            wish.insert(wish.end(), {EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
                                     EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET});
        }
        wish.push_back(EGL_NONE);
        made_ = egl.create_context(display_, found == 1 ? config : nullptr,
                                   kind == Kind::Sharing ? first_ : EGL_NO_CONTEXT, wish.data());
        REQUIRE(made_ != nullptr);
        make_current(made_);
    }
    SecondContext(const SecondContext&) = delete;
    SecondContext& operator=(const SecondContext&) = delete;
    ~SecondContext() {
        make_current(first_);
        Egl::get().destroy_context(display_, made_);
    }

  private:
    void make_current(EGLContext context) const {
        REQUIRE(Egl::get().make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context) != EGL_FALSE);
    }
    EGLContext first_;
    EGLDisplay display_;
    EGLContext made_ = nullptr;
};

// A driver that reports success but draws only while `draws` is set.
bool draws = false;
PFNGLDRAWARRAYSINSTANCEDBASEINSTANCEPROC draw_arrays = nullptr;
Context adopt_without_draws() {
    draws = false;
    return Context::adopt([](const char* name) -> void (*)() {
        if (std::string(name) != "glDrawArraysInstancedBaseInstance") return proc_address(name);
        draw_arrays = reinterpret_cast<PFNGLDRAWARRAYSINSTANCEDBASEINSTANCEPROC>(proc_address(name));
        return reinterpret_cast<void (*)()>(
            +[](GLenum mode, GLint first, GLsizei count, GLsizei instances, GLuint instance) {
                if (draws) draw_arrays(mode, first, count, instances, instance);
            });
    });
}

}  // namespace

TEST_CASE("a context without errors is refused, and the message names it") {
    Host host;
    const SecondContext second(host, SecondContext::Kind::NoError);
    const auto message = message_of([] { static_cast<void>(Host::adopt()); });
    CAPTURE(message);
    CHECK(message.find("KHR_no_error") != std::string::npos);
}

TEST_CASE("an object that was deleted in a sharing context and is still bound is refused and stays bound") {
    Host host;
    const auto& gl = host.gl;
    auto context = Host::adopt();
    Sorter sorter(context, {.engine = Engine::Merge});
    std::vector<float> keys{2, 1};
    for (const std::string kind : {"texture", "sampler", "buffer"}) {
        CAPTURE(kind);
        GLuint id = 0;
        if (kind == "texture") {
            gl.CreateTextures(GL_TEXTURE_2D, 1, &id);
            gl.BindTextureUnit(3, id);
        } else if (kind == "sampler") {
            gl.CreateSamplers(1, &id);
            gl.BindSampler(3, id);
        } else {
            gl.CreateBuffers(1, &id);
            gl.BindBuffer(GL_PIXEL_PACK_BUFFER, id);
        }
        {
            const SecondContext sharing(host, SecondContext::Kind::Sharing);
            gl.DeleteTextures(kind == "texture" ? 1 : 0, &id);
            gl.DeleteSamplers(kind == "sampler" ? 1 : 0, &id);
            gl.DeleteBuffers(kind == "buffer" ? 1 : 0, &id);
        }
        const auto bound = [&] {
            GLint name = 0;
            gl.ActiveTexture(GL_TEXTURE3);
            gl.GetIntegerv(kind == "texture"   ? GL_TEXTURE_BINDING_2D
                           : kind == "sampler" ? GL_SAMPLER_BINDING
                                               : GL_PIXEL_PACK_BUFFER_BINDING,
                           &name);
            return static_cast<GLuint>(name);
        };
        REQUIRE(bound() == id);
        const auto message = message_of([&] { sorter.sort(keys); });
        CAPTURE(message);
        CHECK(message.find(kind + " " + std::to_string(id) + " bound, which was deleted") != std::string::npos);
        CHECK(bound() == id);
        CHECK(keys == std::vector<float>{2, 1});
        gl.BindTextureUnit(3, 0);
        gl.BindSampler(3, 0);
        gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        CHECK(error_names(take_errors(gl)) == "");
        auto again = keys;
        sorter.sort(again);
        CHECK(again == std::vector<float>{1, 2});
    }
}

TEST_CASE("a call between glBegin and glEnd is refused with that reason and does nothing") {
    Host host(Profile::Compatibility);
    const auto& gl = host.gl;
    auto context = Host::adopt();
    Sorter sorter(context, {.engine = Engine::Merge});
    std::vector<float> keys{2, 1};
    GLuint texture = 0, framebuffer = 0;
    gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
    gl.TextureStorage2D(texture, 1, GL_RGBA8, 4, 4);
    gl.CreateFramebuffers(1, &framebuffer);
    gl.NamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.Begin(GL_TRIANGLES);
    const auto sorting = message_of([&] { sorter.sort(keys); });
    const auto adopting = message_of([] { static_cast<void>(Host::adopt()); });
    gl.End();
    CAPTURE(sorting);
    CAPTURE(adopting);
    CHECK(sorting.find("between glBegin and glEnd") != std::string::npos);
    CHECK(adopting.find("between glBegin and glEnd") != std::string::npos);
    CHECK(keys == std::vector<float>{2, 1});
    take_errors(gl);  // in between, OpenGL raises an error for any query
    sorter.sort(keys);
    CHECK(keys == std::vector<float>{1, 2});
}

TEST_CASE("a driver that draws nothing causes an error or a wrong answer, but no access out of bounds") {
    Host host;
    auto context = adopt_without_draws();
    const auto shuffled = [](auto n) {
        std::vector<std::decay_t<decltype(n)>> keys(5000);
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::decay_t<decltype(n)>>(i * 7919 % 5003);
        return keys;
    };
    auto keys = shuffled(1.0F);
    const auto before = keys;
    for (const auto merge : {ChannelMerge::TwoWays, ChannelMerge::FourWays}) {
        SortOptions options{.engine = Engine::Pbsn};
        options.paper.pbsn.channel_merge = merge;
        options.paper.pbsn.early_stop = EarlyStop::No;
        {
            Sorter refused(context, options);  // its test drawing finds the fault
            CHECK_THROWS_WITH(refused.sort(keys), doctest::Contains("does not blend"));
        }
        // From here on the driver fails after the test drawings.
        Sorter sorter(context, options);
        auto windows = window_sorter(context, options);
        auto wide = shuffled(std::uint64_t{1} << 40U);
        for (auto& key : wide) key <<= 20U;
        const auto sort_windows = [&](auto part, std::size_t window) {
            windows->begin(part, window);
            windows->finish();
            return part;
        };
        draws = true;
        auto sorted = keys;
        sorter.sort(sorted);
        CHECK(std::ranges::is_sorted(sorted));
        CHECK(std::ranges::is_sorted(sort_windows(keys, keys.size())));
        CHECK(std::ranges::is_sorted(sort_windows(wide, wide.size())));
        draws = false;
        CHECK_THROWS_AS(sorter.sort(keys), GlError);
        CHECK(keys == before);
        for (const auto window : {std::size_t{100}, std::size_t{5000}}) {
            CHECK_THROWS_AS(sort_windows(keys, window), GlError);
            CHECK_THROWS_AS(sort_windows(wide, window), GlError);
        }
    }
    for (const auto engine : {Engine::Merge, Engine::Bitonic}) {
        auto part = keys;
        std::vector<std::uint32_t> index(part.size());
        Sorter sorter(context, {.engine = engine});
        sorter.sort(part);
        if (engine == Engine::Merge) sorter.argsort(part, index);
    }
    Table table;
    table.add("x", keys);
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth}) {
        QueryProcessor processor(context, {.engine = engine});
        try {
            for (const auto row : processor.select(table, column("x") > 100.0).rows()) CHECK(row < keys.size());
        } catch (const GlError&) {  // NOLINT(bugprone-empty-catch): an error is as good
        }
    }
}
