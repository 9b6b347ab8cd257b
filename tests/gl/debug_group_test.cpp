// Debug groups around calls and passes, as seen by a tool that records OpenGL calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

std::vector<std::string> groups;  // names that were pushed; "" where one was popped
int messages = 0;                 // about groups

PFNGLPUSHDEBUGGROUPPROC push_of_driver;
PFNGLPOPDEBUGGROUPPROC pop_of_driver;
void GLAD_API_PTR push(GLenum source, GLuint id, GLsizei length, const GLchar* name) {
    groups.emplace_back(name, length);
    push_of_driver(source, id, length, name);
}
void GLAD_API_PTR pop() {
    groups.emplace_back();
    pop_of_driver();
}
// NVIDIA's driver sends messages of its own for each buffer.
void GLAD_API_PTR count_message(GLenum, GLenum type, GLuint, GLenum, GLsizei, const GLchar*, const void*) {
    messages += type == GL_DEBUG_TYPE_PUSH_GROUP || type == GL_DEBUG_TYPE_POP_GROUP ? 1 : 0;
}

// A context whose groups are recorded, as apitrace does it.
Context adopt_recorded() {
    groups.clear();
    return Context::adopt([](const char* name) -> void (*)() {
        const auto function = proc_address(name);
        if (name == std::string("glPushDebugGroup")) {
            push_of_driver = reinterpret_cast<PFNGLPUSHDEBUGGROUPPROC>(function);
            return reinterpret_cast<void (*)()>(push);
        }
        if (name == std::string("glPopDebugGroup")) {
            pop_of_driver = reinterpret_cast<PFNGLPOPDEBUGGROUPPROC>(function);
            return reinterpret_cast<void (*)()>(pop);
        }
        return function;
    });
}

struct Wish {
    explicit Wish(const char* value) { setenv("QUADMILL_DEBUG_GROUPS", value, 1); }
    Wish(const Wish&) = delete;
    Wish& operator=(const Wish&) = delete;
    ~Wish() { unsetenv("QUADMILL_DEBUG_GROUPS"); }
};

void sort(const Context& context) {
    Sorter sorter(context, {.engine = Engine::Merge});
    std::vector<float> keys(5000);
    std::iota(keys.rbegin(), keys.rend(), 0.0F);
    sorter.sort(std::span(keys));
    REQUIRE(std::ranges::is_sorted(keys));
}

}  // namespace

TEST_CASE("calls and passes get debug groups if the environment requests it, without messages to the application") {
    const Host host(each_profile());
    const Wish wish("1");
    host.gl.DebugMessageCallback(count_message, nullptr);
    host.gl.Enable(GL_DEBUG_OUTPUT);
    host.gl.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    const auto context = adopt_recorded();
    const auto before = Snapshot::take(host.gl);
    messages = 0;
    sort(context);
    CHECK(messages == 0);
    CHECK(difference(before, Snapshot::take(host.gl)) == "");
    CHECK(error_names(take_errors(host.gl)) == "");
    const auto named = [](const std::string& part) {
        return std::ranges::any_of(groups, [&](const auto& name) { return name.find(part) != std::string::npos; });
    };
    CHECK(named("Sorter::sort"));
    CHECK(named("merge"));
    int depth = 0, deepest = 0;
    for (const auto& name : groups) deepest = std::max(deepest, depth += name.empty() ? -1 : 1);
    CHECK(depth == 0);
    CHECK(deepest >= 2);  // passes within a call
    host.gl.Disable(GL_DEBUG_OUTPUT);
    host.gl.DebugMessageCallback(nullptr, nullptr);
}

TEST_CASE("without the environment variable, or if it is 0, no group is pushed") {
    const Host host;
    sort(adopt_recorded());
    CHECK(groups.empty());
    const Wish wish("0");
    sort(adopt_recorded());
    CHECK(groups.empty());
}

TEST_CASE("a full stack of the application's groups is not changed") {
    const Host host;
    const Wish wish("1");
    const auto context = adopt_recorded();
    GLint depth = 0, max = 0;
    host.gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &depth);
    host.gl.GetIntegerv(GL_MAX_DEBUG_GROUP_STACK_DEPTH, &max);
    for (GLint i = depth; i < max; ++i) host.gl.PushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, 4, "host");
    sort(context);
    CHECK(groups.empty());
    CHECK(error_names(take_errors(host.gl)) == "");
    for (GLint i = depth; i < max; ++i) host.gl.PopDebugGroup();
    sort(context);
    CHECK(!groups.empty());
    CHECK(error_names(take_errors(host.gl)) == "");
}
