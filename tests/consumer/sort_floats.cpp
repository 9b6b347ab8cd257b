// The program of find_package/, subdirectory/ and pkg_config/: sorts 10,000 floats with the graphics pipeline.
#include <quadmill/context.hpp>
#include <quadmill/error.hpp>
#include <quadmill/sort.hpp>
#include <quadmill/version.hpp>

#if defined(GL_VERSION_1_0) || defined(EGL_VERSION_1_0)
#error "a public header of quadmill brings OpenGL or EGL declarations along"
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

int main() {
    try {
        std::vector<float> keys(10'000);
        std::mt19937 random(5489);
        for (float& key : keys) key = std::uniform_real_distribution<float>(-1e6F, 1e6F)(random);
        auto expected = keys;
        std::ranges::sort(expected);

        const auto context = quadmill::Context::headless();
        const auto stats = quadmill::sort(context, keys, {.engine = quadmill::Engine::Pbsn});
        if (stats.passes == 0 || std::memcmp(keys.data(), expected.data(), keys.size() * sizeof(float)) != 0) {
            std::fprintf(stderr, "wrong result after %llu passes\n", static_cast<unsigned long long>(stats.passes));
            return 1;
        }
        // Exceptions of the library must be caught by type in another module.
        try {
            quadmill::Sorter(context).sort_texture(0, 0);
            std::fputs("sort_texture took a texture 0\n", stderr);
            return 1;
        } catch (const quadmill::InvalidArgument&) {
        }
        std::printf("quadmill %s sorted %zu floats on %s\n", QUADMILL_VERSION, keys.size(),
                    context.info().renderer.c_str());
    } catch (const quadmill::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
