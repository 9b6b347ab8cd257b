// A picture of the answers of `quadmill quantiles --json --every`.
#pragma once

#include <istream>
#include <string>

// Draws quantiles over the number of values read, as an SVG. Where the parts phi - eps and phi + eps were asked for
// with phi, the exact quantile surely lies in the band between them. Throws std::runtime_error for what are not
// answers.
[[nodiscard]] std::string plot_answers(std::istream& lines);
