// Opening contexts, adopting the application's, and restoring what was current on the thread.
#include "quadmill/context.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gl/device.hpp"
#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

constexpr SortOptions by_pbsn{.engine = Engine::Pbsn, .threads = 1};

// Sorts with the context and checks the result and that passes were drawn.
void check_sorts(const Context& context, std::uint64_t seed = 7, std::size_t n = 200) {
    Random random(seed);
    auto keys = sample_keys<float>(random, n, Specials::Some);
    const auto expected = sorted(keys, Order::Ascending);
    sort(context, std::span(keys), by_pbsn);
    CHECK(bits_differ(expected, keys) == "");
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Sets the environment variable for the length of a scope.
class DeviceVariable {
  public:
    explicit DeviceVariable(const char* value) {
        if (const char* now = std::getenv(name)) before_ = now;
        setenv(name, value, 1);
    }
    DeviceVariable(const DeviceVariable&) = delete;
    DeviceVariable& operator=(const DeviceVariable&) = delete;
    ~DeviceVariable() { before_ ? setenv(name, before_->c_str(), 1) : unsetenv(name); }

  private:
    static constexpr const char* name = "QUADMILL_DEVICE";
    std::optional<std::string> before_;
};

EGLContext current() {
    return Egl::get().current_context();
}

}  // namespace

TEST_CASE("Context::headless works with either surface and reports which") {
    using Surface = HeadlessOptions::Surface;
    for (const auto& [surface, name] :
         {std::pair{Surface::Surfaceless, "none"}, std::pair{Surface::Pbuffer, "pbuffer"}}) {
        const auto* wanted = name;
        CAPTURE(wanted);
        HeadlessOptions options;
        options.surface = surface;
        const auto context = Context::headless(options);
        CHECK(context.info().surface == name);
        check_sorts(context);
        CHECK(current() == EGL_NO_CONTEXT);
    }
}

TEST_CASE("a context reports its facts") {
    Host host;
    for (const auto& context : {host.context, Host::adopt()}) {
        const auto& info = context.info();
        CAPTURE(info.platform);
        for (const auto& text : {info.renderer, info.vendor, info.version, info.shading_language, info.platform}) {
            CHECK_FALSE(text.empty());
        }
        CHECK(info.max_texture_size >= 16384);  // OpenGL 4.5 guarantees it
        CHECK(info.max_array_layers >= 2048);
        CHECK(info.max_draw_buffers >= 8);
        CHECK(info.max_viewport_width >= 1);
        CHECK(info.max_viewport_height >= 1);
    }
    CHECK(Host::adopt().info().platform == "adopted");
    CHECK(Host::adopt().info().surface == "the caller's");
    CHECK(Host::adopt().info().renderer == host.context.info().renderer);
}

TEST_CASE("devices() lists what headless() can choose, or headless() uses no device") {
    const auto devices = Context::devices();
    const auto context = Context::headless();
    const bool on_device = context.info().platform.starts_with("EGL device ");
    CHECK((!devices.empty() || !on_device));
    for (std::size_t i = 0; i < devices.size(); ++i) {
        CHECK(devices[i].index == static_cast<int>(i));
        CHECK_FALSE(devices[i].name.empty());
    }
    if (!on_device) return;
    const int index = std::stoi(context.info().platform.substr(std::string("EGL device ").size()));
    REQUIRE(index < static_cast<int>(devices.size()));
    HeadlessOptions same;
    same.device = index;
    CHECK(Context::headless(same).info().platform == context.info().platform);
    const DeviceVariable variable(std::to_string(index).c_str());
    CHECK(Context::headless().info().platform == context.info().platform);
}

TEST_CASE("a device that does not exist is a ContextError with the count") {
    const auto count = std::to_string(Context::devices().size());
    HeadlessOptions options;
    options.device = 1000;
    CHECK_THROWS_AS(Context::headless(options), ContextError);
    const auto message = message_of([&] { static_cast<void>(Context::headless(options)); });
    CHECK_MESSAGE(has(message, count + " device"), message);
    CHECK_MESSAGE(has(message, "1000"), message);
    const DeviceVariable variable("1000");
    CHECK_THROWS_AS(Context::headless(), ContextError);
}

TEST_CASE("a device that is not an index is an InvalidArgument") {
    HeadlessOptions options;
    options.device = -2;
    CHECK_THROWS_AS(Context::headless(options), InvalidArgument);
    CHECK(has(message_of([&] { static_cast<void>(Context::headless(options)); }), "-2"));
    for (const char* garbage : {"gpu", "-1", "-7", "1x", " 0", "0x0", "99999999999999999999"}) {
        CAPTURE(garbage);
        const DeviceVariable variable(garbage);
        CHECK_THROWS_AS(Context::headless(), InvalidArgument);
        const auto message = message_of([] { static_cast<void>(Context::headless()); });
        CHECK_MESSAGE(has(message, std::string("'") + garbage + "'"), message);
        CHECK_MESSAGE(has(message, "QUADMILL_DEVICE"), message);
    }
    const DeviceVariable empty("");
    CHECK_NOTHROW(Context::headless());
}

TEST_CASE("debug messages reach the callback") {
    std::vector<std::string> messages;
    HeadlessOptions options;
    options.on_debug_message = [&](std::string_view message) { messages.emplace_back(message); };
    Host host(options);
    messages.clear();
    const std::string text = "a message of the test";
    host.gl.DebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_MARKER, 1, GL_DEBUG_SEVERITY_HIGH,
                               static_cast<GLsizei>(text.size()), text.c_str());
    host.gl.DebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_MARKER, 1, GL_DEBUG_SEVERITY_HIGH, -1,
                               "another one");
    CHECK(messages == std::vector<std::string>{text, "another one"});
    check_sorts(host.context);
    host.gl.Enable(GL_NONE);  // the driver's own message about a mistake
    CHECK(messages.size() > 2);
    CHECK(error_names(take_errors(host.gl)) == error_names({GL_INVALID_ENUM}));
}

TEST_CASE("Context::adopt refuses a null pointer, no context, and an old one") {
    CHECK_THROWS_AS(Context::adopt(nullptr), InvalidArgument);
    release_current();
    CHECK_THROWS_AS(Context::adopt(proc_address), ContextError);
    CHECK_THROWS_AS(Context::adopt([](const char*) -> void (*)() { return nullptr; }), ContextError);

    // A context that claims to be of version 4.4.
    const Host host;
    const auto lying = [](const char* name) -> void (*)() {
        if (std::string(name) != "glGetString") return proc_address(name);
        constexpr auto get_string = [](GLenum what) -> const GLubyte* {
            static constexpr std::array<GLubyte, 10> old{'3', '.', '2', ' ', 'o', 'l', 'd', 'i', 'e', 0};
            static constexpr std::array<GLubyte, 2> other{'x', 0};
            return what == GL_VERSION ? old.data() : other.data();
        };
        const GLubyte* (*function)(GLenum) = get_string;
        return reinterpret_cast<void (*)()>(function);
    };
    CHECK_THROWS_AS(Context::adopt(lying), ContextError);
    const auto message = message_of([&] { static_cast<void>(Context::adopt(lying)); });
    CHECK_MESSAGE(has(message, "3.2 oldie"), message);
}

TEST_CASE("the context that was current before a call is current again after it") {
    Host host;
    const auto other = Context::headless();
    CHECK(current() == host.handle());
    check_sorts(other);
    CHECK(current() == host.handle());
    {
        Sorter sorter(other, by_pbsn);
        std::vector<float> keys{3, 2, 1};
        sorter.sort(std::span(keys));
        CHECK_THROWS_AS(sorter.sort_texture(0, 0), InvalidArgument);
        CHECK(current() == host.handle());
    }  // destroys objects in `other`
    CHECK(current() == host.handle());
    {
        auto context = other;
        const Session session(context);
        CHECK(current() != host.handle());
        check_sorts(context);
    }
    CHECK(current() == host.handle());
    {
        // Also if the guard rejects the call.
        auto context = other;
        GLuint query = 0;
        context.make_current();
        host.gl.CreateQueries(GL_SAMPLES_PASSED, 1, &query);
        host.gl.BeginQuery(GL_SAMPLES_PASSED, query);
        host.context.make_current();
        std::vector<float> keys{2, 1};
        CHECK_THROWS_AS(sort(other, std::span(keys), by_pbsn), InvalidArgument);
        CHECK(current() == host.handle());
        context.make_current();
        host.gl.EndQuery(GL_SAMPLES_PASSED);
        host.gl.DeleteQueries(1, &query);
    }
    release_current();
    check_sorts(other);
    CHECK(current() == EGL_NO_CONTEXT);
    check_sorts(host.context);
    CHECK(current() == EGL_NO_CONTEXT);
    host.context.make_current();
    CHECK(current() == host.handle());
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("making and destroying contexts does not change the thread's current one") {
    const Host host;
    {
        const auto other = Context::headless();
        CHECK(current() == host.handle());
    }
    CHECK(current() == host.handle());
    HeadlessOptions options;
    options.device = 1000;
    CHECK_THROWS_AS(Context::headless(options), ContextError);
    CHECK(current() == host.handle());
    {
        auto other = Context::headless();
        other.make_current();
        CHECK(current() != host.handle());
    }  // a context that ends while it is current is no longer current
    CHECK(current() == EGL_NO_CONTEXT);
}

TEST_CASE("the thread's client API is restored, too") {
    const auto& egl = Egl::get();
    if (!egl.bind_api(EGL_OPENGL_ES_API)) return;  // a driver without OpenGL ES cannot mix them up
    const auto context = Context::headless();
    CHECK(egl.query_api() == EGL_OPENGL_ES_API);
    egl.bind_api(EGL_OPENGL_ES_API);
    check_sorts(context);
    CHECK(egl.query_api() == EGL_OPENGL_ES_API);
    egl.bind_api(EGL_OPENGL_API);
}

TEST_CASE("two headless contexts alternate on one thread") {
    auto a = Context::headless(), b = Context::headless();
    Sorter with_a(a, by_pbsn), with_b(b, by_pbsn);
    Random random(3);
    for (int i = 0; i < 20; ++i) {
        auto keys = sample_keys<float>(random, 150, Specials::Some);
        const auto expected = sorted(keys, Order::Ascending);
        (i % 2 == 0 ? with_a : with_b).sort(std::span(keys));
        CHECK(bits_differ(expected, keys) == "");
    }
}

TEST_CASE("Sessions of two contexts, one in the other, keep their contexts apart") {
    Host host;
    auto a = Context::headless(), b = Context::headless();
    Sorter with_a(a, by_pbsn), with_b(b, by_pbsn);
    Random random(4);
    const auto check = [&](Sorter& sorter) {
        auto keys = sample_keys<float>(random, 150, Specials::Some);
        const auto expected = sorted(keys, Order::Ascending);
        sorter.sort(std::span(keys));
        CHECK(bits_differ(expected, keys) == "");
    };
    {
        const Session on_a(a);
        check(with_a);
        {
            const Session on_b(b);
            check(with_b);
            check(with_a);  // a's session is the outer one, and b is current
            check(with_b);
        }
        check(with_b);
        check(with_a);
    }
    CHECK(current() == host.handle());
    {
        // They end in the order in which they began.
        std::optional<Session> on_a(std::in_place, a), on_b(std::in_place, b);
        check(with_a);
        check(with_b);
        on_a.reset();
        check(with_b);
        check(with_a);
        on_b.reset();
    }
    host.context.make_current();
    check(with_a);
    check(with_b);
    CHECK(current() == host.handle());
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("two headless contexts, one on each of two threads") {
    // Mesa's llvmpipe (22.3) reads the scenes of every context of the process whenever it draws, without a lock, and
    // crashes about once in a dozen runs. With it the threads take turns.
    const bool take_turns = Context::headless().info().software;
    std::mutex turn;
    const auto in_turn = [&](auto&& step) {
        std::unique_lock lock(turn, std::defer_lock);
        if (take_turns) lock.lock();
        step();
    };
    std::array<std::atomic<int>, 2> right{};
    const auto work = [&](std::size_t which) {
        std::optional<Sorter> sorter;
        Random random(which);
        in_turn([&] { sorter.emplace(Context::headless(), by_pbsn); });
        for (int i = 0; i < 20; ++i) {
            auto keys = sample_keys<float>(random, 200, Specials::Some);
            const auto expected = sorted(keys, Order::Ascending);
            in_turn([&] { sorter->sort(std::span(keys)); });
            right[which] += bits_differ(expected, keys).empty() ? 1 : 0;
        }
        in_turn([&] { sorter.reset(); });
    };
    std::thread other(work, std::size_t{1});
    work(0);
    other.join();
    CHECK(right[0] == 20);
    CHECK(right[1] == 20);
}

TEST_CASE("a headless context can move between threads, one at a time") {
    auto context = Context::headless();
    check_sorts(context);
    std::string message;
    std::thread([&] {
        check_sorts(context);
        context.make_current();
        std::thread([&] { message = message_of([&] { check_sorts(context); }); }).join();
        release_current();
    }).join();
    CHECK_MESSAGE(has(message, "another thread"), message);
    check_sorts(context);
}

namespace {

// A driver that offers less than the real one below it.
struct LesserDriver {
    static inline std::optional<Context> real;
    static inline const char* version = "";
    static const GLubyte* GLAD_API_PTR get_string(GLenum name) {
        if (name == GL_VERSION) return reinterpret_cast<const GLubyte*>(version);
        return detail::Access::of(*real)->gl.GetString(name);
    }
    static void (*old(const char* name))() {
        if (std::string_view(name) == "glGetString") return reinterpret_cast<void (*)()>(&get_string);
        return real->proc_address(name);
    }
};

}  // namespace

TEST_CASE("a context with too old a version is refused; the message says what to request from toolkits") {
    auto& context = LesserDriver::real.emplace(Context::headless());
    context.make_current();
    for (const char* version : {"2.1.0 of long ago", "3.2.0 of long ago", "OpenGL ES 2.0 of a telephone"}) {
        LesserDriver::version = version;
        CHECK_THROWS_AS(Context::adopt(LesserDriver::old), ContextError);
        const auto message = message_of([] { Context::adopt(LesserDriver::old); });
        CAPTURE(message);
        CHECK(has(message, version));
        for (const char* hint :
             {"OpenGL 3.3 or OpenGL ES 3.0, or later", "glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3)",
              "SDL_GL_CONTEXT_MINOR_VERSION, 3", "QSurfaceFormat::setVersion(3, 3)",
              "gtk_gl_area_set_required_version(area, 3, 3)", "docs/library.md"})
            CHECK(has(message, hint));
    }
    LesserDriver::real.reset();
}

TEST_CASE("adopt() finds the loader by itself, and accepts those of any toolkit") {
    const Host host(each_profile());
    check_sorts(Context::adopt());
    check_sorts(Context::adopt(proc_address));
    constexpr auto like_sdl = [](const char* name) { return reinterpret_cast<void*>(proc_address(name)); };
    void* (*const plain)(const char*) = like_sdl;
    check_sorts(Context::adopt(plain));
    int calls = 0;
    check_sorts(Context::adopt([&](const char* name) {
        ++calls;
        return proc_address(name);
    }));
    CHECK(calls > 100);
    const std::function<void*(const char*)> like_qt = like_sdl;
    check_sorts(Context::adopt(like_qt));
    void* (*const none)(const char*) = nullptr;
    CHECK_THROWS_AS(Context::adopt(none), InvalidArgument);
    release_current();
    CHECK_THROWS_AS(Context::adopt(), ContextError);
    CHECK(has(message_of([] { Context::adopt(); }), "no OpenGL context is current"));
}

TEST_CASE("in the compatibility profile, state that would swallow passes is refused and stays unchanged") {
    const Host host(Profile::Compatibility);
    const auto context = Context::adopt();
    std::vector<float> keys{2, 1};
    const auto call = [&] { sort(context, keys, by_pbsn); };
    const auto list = host.gl.GenLists(1);
    host.gl.NewList(list, GL_COMPILE);
    CHECK(has(message_of(call), "display list"));
    host.gl.EndList();
    GLfloat feedback = 0;
    host.gl.FeedbackBuffer(1, GL_2D, &feedback);
    host.gl.RenderMode(GL_FEEDBACK);
    CHECK(has(message_of(call), "glRenderMode(GL_RENDER)"));
    CHECK(keys == std::vector<float>{2, 1});
    CHECK(host.gl.RenderMode(GL_RENDER) == 0);
    call();
    CHECK(keys == std::vector<float>{1, 2});
    host.gl.CallList(list);  // the list contains no call
    CHECK(error_names(take_errors(host.gl)) == "");
}
