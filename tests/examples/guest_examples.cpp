// The examples of context.hpp, as they are there.
#include <doctest/doctest.h>

#include <quadmill/context.hpp>

using namespace quadmill;  // NOLINT(google-build-using-namespace)

TEST_CASE("context.hpp: adoption") {
    auto own = Context::headless();  // stands for the program's own context
    own.make_current();
    auto context = Context::adopt();  // the one that is current on this thread
    CHECK(context.info().platform == "adopted");
}
