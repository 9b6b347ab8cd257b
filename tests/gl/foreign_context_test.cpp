// Only the application can make an adopted context current. While another context or none is current, calls are refused
// and nothing in that context is touched, even if its objects have the same names.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

// Objects of every kind, which take all low names.
class Belongings {
  public:
    explicit Belongings(const Api& gl) : gl_(gl) {
        constexpr int each = 200;
        for (int i = 0; i < each; ++i) {
            gl.CreateTextures(GL_TEXTURE_2D, 1, &textures_.emplace_back());
            gl.CreateBuffers(1, &buffers_.emplace_back());
            gl.CreateFramebuffers(1, &framebuffers_.emplace_back());
            gl.CreateVertexArrays(1, &arrays_.emplace_back());
            gl.CreateQueries(GL_SAMPLES_PASSED, 1, &queries_.emplace_back());
            programs_.push_back(gl.CreateProgram());
        }
    }
    [[nodiscard]] bool all_there() const {
        const auto all = [](const std::vector<GLuint>& names, auto is) {
            for (const auto name : names) {
                if (!is(name)) return false;
            }
            return true;
        };
        return all(textures_, gl_.IsTexture) && all(buffers_, gl_.IsBuffer) && all(framebuffers_, gl_.IsFramebuffer) &&
               all(arrays_, gl_.IsVertexArray) && all(queries_, gl_.IsQuery) && all(programs_, gl_.IsProgram);
    }

  private:
    const Api& gl_;
    std::vector<GLuint> textures_, buffers_, framebuffers_, arrays_, queries_, programs_;
};

// Counts all objects except for programs, which belong to a Context (programs_test.cpp).
GLuint count(const Api& gl) {
    GLuint objects = 0;
    for (GLuint name = 1; name < 1000; ++name) {
        for (const bool there : {gl.IsTexture(name) != 0, gl.IsBuffer(name) != 0, gl.IsFramebuffer(name) != 0,
                                 gl.IsVertexArray(name) != 0, gl.IsQuery(name) != 0})
            objects += there ? 1 : 0;
    }
    return objects;
}

// Everything that lives in a context, made and used.
struct Users {
    explicit Users(const Context& with)
        : context(with),
          sorter(with, {.engine = Engine::Pbsn}),
          merge(with, {.engine = Engine::Merge}),
          windows(window_sorter(with, {.engine = Engine::Merge})),
          processor(with, {.engine = QueryEngine::Depth}),
          profiler(context) {
        sorter.sort(keys);
        merge.sort(keys);
        windows->begin(keys, 2);
        table.add("x", keys);
        static_cast<void>(processor.count(table, column("x") > 1.0));
    }
    std::vector<float> keys{3, 2, 1};
    Table table;
    Context context;
    Sorter sorter, merge;
    std::unique_ptr<WindowSorter> windows;
    QueryProcessor processor;
    PassProfiler profiler;
};

}  // namespace

TEST_CASE("while another context or none is current, calls are refused and change nothing there") {
    Host mine;
    auto context = Host::adopt();
    const auto before_all = count(mine.gl);
    auto users = std::make_unique<Users>(context);
    Host other;  // current from here on
    Belongings belongings(other.gl);
    const Poison poison(other.gl, 20261122);
    const auto before = Snapshot::take(other.gl);
    for (const bool none : {false, true}) {
        CAPTURE(none);
        if (none) release_current();
        for (const auto& call : std::vector<std::function<void()>>{
                 [&] { users->sorter.sort(users->keys); }, [&] { users->merge.sort(users->keys); },
                 [&] { users->sorter.sort_texture(1, 2); }, [&] { users->merge.argsort_texture(1, 2); },
                 [&] { users->windows->begin(users->keys, 2); },
                 [&] { static_cast<void>(users->processor.count(users->table, column("x") > 1.0)); },
                 [&] { static_cast<void>(users->profiler.rows()); }, [&] { const Session session(context); }}) {
            const auto message = message_of(call);
            CAPTURE(message);
            CHECK((message.find(none ? "no OpenGL context is current" : "another OpenGL context is current") !=
                   std::string::npos));
        }
        other.context.make_current();
        CHECK(difference(before, Snapshot::take(other.gl)) == "");
        CHECK(belongings.all_there());
    }
    users.reset();
    CHECK(difference(before, Snapshot::take(other.gl)) == "");
    CHECK(belongings.all_there());
    // Objects that could not be deleted there are deleted when their context is current again.
    mine.context.make_current();
    CHECK(count(mine.gl) > before_all);
    { const Session session(context); }
    CHECK(count(mine.gl) <= before_all + 1);  // the session's own query
    other.context.make_current();
}

TEST_CASE("a handle of a destroyed context does not touch a context that replaced it") {
    auto host = std::make_unique<Host>();
    auto users = std::make_unique<Users>(Host::adopt());
    host.reset();
    for (int i = 0; i < 4; ++i) {  // one of them may be at the address of the first one
        const Host next;
        const Belongings belongings(next.gl);
        std::vector<float> keys{2, 1};
        if (i < 3) {
            CHECK_THROWS_AS(users->sorter.sort(keys), InvalidArgument);
        } else {
            users.reset();
        }
        CHECK(belongings.all_there());
    }
}

TEST_CASE("a Session that ends while another context is current does not touch the other one") {
    Host mine;
    auto context = Host::adopt();
    auto session = std::make_unique<Session>(context);
    Host other;
    const Poison poison(other.gl, 20261123);
    const auto before = Snapshot::take(other.gl);
    session.reset();
    CHECK(difference(before, Snapshot::take(other.gl)) == "");
    mine.context.make_current();
    std::vector<float> keys{2, 1};
    sort(context, keys, {.engine = Engine::Merge});
    CHECK(keys == std::vector<float>{1, 2});
    other.context.make_current();
}

TEST_CASE("a context can be adopted again, and copies of a Context are the same") {
    Host host;
    auto first = Host::adopt(), second = Host::adopt();
    const auto before = count(host.gl);
    {
        auto third = Host::adopt();
        std::vector<float> keys{2, 1};
        for (const auto& context : {first, second, third, Context(first)})
            sort(context, keys, {.engine = Engine::Merge});
        CHECK(keys == std::vector<float>{1, 2});
    }
    CHECK(count(host.gl) <= before + 2);  // markers of the sessions of the remaining two
    CHECK(error_names(take_errors(host.gl)) == "");
}
