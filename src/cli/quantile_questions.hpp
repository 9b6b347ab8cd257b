// Questions to quantiles, as `quantiles` and `merge` have them.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/any_summary.hpp"
#include "cli/stream_options.hpp"
#include "input/reading.hpp"

namespace quadmill::detail::cli {

class QuantileQuestions {
  public:
    // --phi, --rank, --histogram, --plot and --stats.
    void add_options(CLI::App& verb);
    // The options that only quantiles of all values, or of the last ones, answer.
    static constexpr std::array whole_only{"--rank", "--histogram", "--plot", "--stats"};
    // Rejects a picture that would replace an input, or is not one.
    void check(const std::vector<std::string>& inputs) const;

    std::vector<double> phis = default_phis;
    std::string title = "Histogram";  // of the picture
    Format format = Format::Table;

    [[nodiscard]] bool stats() const { return stats_; }
    [[nodiscard]] bool of_quantiles() const { return ranks_.empty() && bars_ == 0 && !stats_; }
    // The values of --rank, read as the input's values are.
    [[nodiscard]] std::vector<Value> values_to_rank(const input::Reading& reading, KeyType type) const;
    // Instead of the quantiles, the rows of --rank or --histogram; also the facts of --stats.
    // Pre: `summary` is a SomeQuantiles.
    void answer(Answer& answer, const OneSummary& summary, const std::vector<Value>& values) const;

  private:
    void add_bars(Answer& answer, const SomeQuantiles& summary) const;
    void draw(const std::vector<double>& ends, const std::vector<Count>& counts) const;
    [[nodiscard]] Json bar_row(Json from, Json to, const Count& below, const Count& at_most, std::uint64_t most) const;

    std::vector<std::string> ranks_{};
    std::size_t bars_ = 0;
    std::string plot_{};
    bool stats_ = false;
};

}  // namespace quadmill::detail::cli
