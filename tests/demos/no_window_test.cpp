#include <doctest/doctest.h>

#include <string>

#include "window/window.hpp"

// This program is linked with no_window.cpp on every machine, even if demos have windows.
TEST_CASE("a demo that is built without a window says in one line what is missing and what works") {
    std::string words;
    try {
        demo::run_window({.name = "demo", .size = {640, 480}}, {});
    } catch (const demo::NoWindow& error) {
        words = error.what();
    }
    CAPTURE(words);
    for (const auto* part : {"no window", "apt-get install libglfw3-dev", "--record"})
        CHECK(words.find(part) != std::string::npos);
    CHECK(words.find('\n') == std::string::npos);
}
