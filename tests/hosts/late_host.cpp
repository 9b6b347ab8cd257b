// An application that asks before it has loaded OpenGL, is refused, and asks again with a context.
#include <cstdio>
#include <exception>

#include "gl/egl.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"

int main() {
    using namespace quadmill;
    try {
        try {
            const auto context = Context::adopt();
            std::puts("a context was adopted where there is none");
            return 1;
        } catch (const ContextError&) {
            std::puts("refused, as there is no context yet");
        }
        detail::gl::EglContext own(HeadlessOptions{}, OpenGl::Desktop45);
        const auto before = own.make_current();
        std::printf("adopted: %s\n", Context::adopt().info().renderer.c_str());
        own.restore(before);
        return 0;
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
}
