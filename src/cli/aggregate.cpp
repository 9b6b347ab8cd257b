#include "cli/aggregate.hpp"

#include <limits>
#include <optional>

#include "input/checks.hpp"
#include "input/expression.hpp"
#include "input/words.hpp"

namespace quadmill::detail::cli {

namespace {

const input::Words<Aggregate::Kind> whole_words{{"min", Aggregate::Kind::Min},
                                                {"max", Aggregate::Kind::Max},
                                                {"avg", Aggregate::Kind::Average},
                                                {"count", Aggregate::Kind::Count},
                                                {"sum", Aggregate::Kind::Sum}};

std::optional<Aggregate> aggregate_of(std::string_view text) {
    for (const auto& [word, kind] : whole_words) {
        if (text == word) return Aggregate{.kind = kind};
    }
    constexpr std::string_view quantile = "quantile:";
    Aggregate found;
    if (!text.starts_with(quantile) || input::parse_number(text.substr(quantile.size()), found.phi)) return {};
    return found.phi >= 0 && found.phi <= 1 ? std::optional(found) : std::nullopt;
}

}  // namespace

Question ThresholdChoice::question() const {
    Question question{.aggregate = aggregate_of(aggregate).value_or(Aggregate{}), .scale = scale, .offset = offset};
    if (!f.empty()) question.f = input::parse_expression(f, "x");
    return question;
}

CLI::Option* add_threshold_options(CLI::App& verb, ThresholdChoice& threshold, const std::string& of) {
    constexpr double max = std::numeric_limits<double>::max();
    auto* scale = verb.add_option("--scale", threshold.scale,
                                  of + "A in the threshold A * AGG(x) + B, where AGG is that of --agg")
                      ->check(input::number_from(-max, max))
                      ->type_name("A")
                      ->capture_default_str();
    auto* offset = verb.add_option("--offset", threshold.offset, of + "B in that threshold")
                       ->check(input::number_from(-max, max))
                       ->type_name("B")
                       ->capture_default_str();
    verb.add_option("--f", threshold.f,
                    of + "The threshold as a formula of x, which is AGG(x), in doubles, such as \"sqrt(x) + 1\"; for a "
                         "quantile it must be monotonic")
        ->check([](const std::string& text) { return input::fault_of_expression(text, "x"); })
        ->excludes(scale)
        ->excludes(offset)
        ->type_name("F");
    return verb
        .add_option("--agg", threshold.aggregate,
                    of + "The aggregate AGG: the min, max, average, count or sum of x, or a quantile")
        ->check([](const std::string& text) {
            return aggregate_of(text)
                       ? std::string()
                       : "'" + text + "' is not min, max, avg, count, sum or quantile:P with P from 0 to 1";
        })
        ->type_name("quantile:P|" + input::joined(whole_words, "|"));
}

}  // namespace quadmill::detail::cli
