// Common parts of all demos that draw: their command line, and their exit statuses.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "show/png.hpp"

namespace demo {

namespace show = quadmill::detail::show;

struct Pictures {
    std::string size = "1280x800", record{};
    std::size_t frames = 0;

    [[nodiscard]] bool recorded() const { return !record.empty(); }
    [[nodiscard]] show::Size parsed_size() const { return show::parse_size(size); }
};

// Adds --size, --record and --frames, whose meaning the demo gives. Without an option, `frames` keeps its default; the
// help shows 0 as no default.
void add_picture_options(CLI::App& app, Pictures& pictures, const std::string& about_frames);

// Parses the command line and does the work. Returns the exit status: 2 for a wrong call, 1 if the work failed, each
// with a line on standard error; or that of a CLI::RuntimeError.
int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& work);

}  // namespace demo
