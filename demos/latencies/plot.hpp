// Plots the output of `quadmill quantiles --json --every`.
#pragma once

#include <istream>
#include <string>

// Draws quantiles over the number of values read, as an SVG. If phi - eps and phi + eps were requested together with
// phi, the exact quantile is certainly in the band between them. Throws std::runtime_error if the lines are not such
// answers.
[[nodiscard]] std::string plot_answers(std::istream& lines);
