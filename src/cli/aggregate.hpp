// The threshold of correlated sums in the command.
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

// --agg, which is returned, --scale, --offset and --f.
CLI::Option* add_threshold_options(CLI::App& verb, ThresholdChoice& threshold);

}  // namespace quadmill::detail::cli
