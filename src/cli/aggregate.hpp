// Options for the threshold of correlated sums.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/answer.hpp"

namespace quadmill::detail::cli {

struct ThresholdChoice {
    std::string aggregate, f{};
    double scale = 1, offset = 0;

    [[nodiscard]] Question question() const;
};

// Adds --agg, --scale, --offset and --f, whose descriptions begin with `of`. Returns --agg.
CLI::Option* add_threshold_options(CLI::App& verb, ThresholdChoice& threshold, const std::string& of = "");

}  // namespace quadmill::detail::cli
