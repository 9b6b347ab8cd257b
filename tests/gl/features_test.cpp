// The features that a device reports, and the switch for workarounds.
#include "gl/features.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "gl/device.hpp"

using namespace quadmill;              // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::gl;  // NOLINT(google-build-using-namespace)

TEST_CASE("Features of an OpenGL 4.5 device") {
    const auto context = Context::headless();
    const auto& features = detail::Access::of(context)->features;
    CHECK(features.exact_counts);
    CHECK(features.color_targets == 8);
    const auto& named = context.info().optional_extensions;
    const auto is_named = [&](std::string_view name) { return std::ranges::find(named, name) != named.end(); };
    CHECK(features.depth_bounds == is_named("GL_EXT_depth_bounds_test"));
    CHECK(features.fill_rectangle == is_named("GL_NV_fill_rectangle"));
}

TEST_CASE("Workarounds have names and can be disabled one by one or all together") {
    std::set<std::string_view> names;
    for (const auto& one : workarounds) {
        CHECK(names.insert(one.name).second);
        CHECK(one.sentence.size() > 20);
    }
    const auto found = [](const char* without) {
        setenv("QUADMILL_DISABLE_WORKAROUNDS", without, 1);
        const auto context = Context::headless();
        unsetenv("QUADMILL_DISABLE_WORKAROUNDS");
        return detail::Access::of(context)->features;
    };
    const auto all = found("");
    CHECK(all.works_around(Workaround::WideStencilMasks));
    const auto fewer = found("nothing wide-stencil-masks counts-by-barrier");
    CHECK(!fewer.works_around(Workaround::WideStencilMasks));
    CHECK(!fewer.works_around(Workaround::CountsByBarrier));
    CHECK(fewer.works_around(Workaround::ConditionEndsFirst));
    CHECK(found("all").worked_around.none());
}
