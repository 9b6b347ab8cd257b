// Options of the verbs on streams.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.hpp"
#include "cli/devices.hpp"
#include "input/reading.hpp"
#include "input/stream_input.hpp"
#include "input/words.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::detail::cli {

// Whether an incomplete summary may replace a file.
enum class Partial { Beside, Replaces };

// How often something happens: after that many values, or that much time.
struct Every {
    std::uint64_t values = 0;
    double seconds = 0;
};

struct StreamOptions {
    const CLI::App* verb = nullptr;  // the verb with these options
    std::vector<std::string> inputs{"-"};
    std::string save{};
    Partial partial = Partial::Beside;
    input::Reading reading{};
    input::Column column{};  // of CSV, if it is named
    Format format = Format::Table;
    Engine engine = Engine::Auto;
    PbsnOptions pbsn{};
    unsigned threads = 0;
    Devices device{};
    std::size_t window = 0;
    Every every{}, save_every{};
    std::string resume{};
    std::string group{}, time{}, weight{};  // a second column of CSV, which is column.by
    bool profile = false, no_header = false;

    // Whether the file of --resume is there.
    [[nodiscard]] bool resumes() const;

    [[nodiscard]] KeyType type() const { return reading.type(); }
};

// `types` are those that the verb accepts. `text` tells what lines of text mean.
void add_stream_options(CLI::App& verb, StreamOptions& options, const input::Words<KeyType>& types,
                        const std::string& text = "Input is text, one number per line");
// For verbs that read single values: --column and --delimiter. Call it after add_stream_options().
CLI::Option* add_column_options(CLI::App& verb, StreamOptions& options);
// --by and --groups. Call it after add_column_options(), which returned `column`.
void add_group_options(CLI::App& verb, StreamOptions& options, std::uint64_t& max_groups, CLI::Option* column,
                       const std::string& what);
// --weight. Call it after add_column_options(), which returned `column`.
void add_weight_option(CLI::App& verb, StreamOptions& options, CLI::Option* column);
// Rejects options that do not go with one of the columns --by, --time and --weight.
void refuse_with(const StreamOptions& options, const char* column, std::initializer_list<const char*> refused);
// --resume and --save-every. Call it after add_stream_options().
void add_resume_options(CLI::App& verb, StreamOptions& options);
// A resumed summary goes on as it was made. This rejects an option that asks for something else; `has` says what the
// summary has, such as "has eps 0.1".
[[noreturn]] void refuse_resumed(const StreamOptions& options, const std::string& option, const std::string& has);
// Rejects --eps if the resumed summary has another one.
void check_resumed_eps(const StreamOptions& options, double given, double eps);
// Also used by merge.
void add_json_option(CLI::App& verb, Format& format);
CLI::Option* add_save_option(CLI::App& verb, std::string& save);
inline const std::vector<double> default_phis{0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
void add_phi_option(CLI::App& verb, std::vector<double>& phis);
// For quantiles and verbs based on them.
void add_eps_option(CLI::App& verb, double& eps);
void add_n_option(CLI::App& verb, std::optional<std::uint64_t>& n);

// The values of the support options.
struct SupportChoice {
    double support = 0;
    std::optional<double> given_eps{};

    [[nodiscard]] double eps() const { return given_eps.value_or(support / 10); }
    void check() const;
    // Rejects a support below the eps of the resumed summary, which cannot tell such values.
    void check_resumed(const StreamOptions& options, double eps) const;
};
CLI::Option* add_support_option(CLI::App& verb, double& support);
// Adds the support and --eps, with its range in words.
void add_support_options(CLI::App& verb, SupportChoice& choice,
                         const std::string& range = "from 1e-9 to 0.5, at most S");

// For heavy prefixes.
void add_all_prefixes_option(CLI::App& verb, HeavyRule& rule);

// A window over the last values.
struct SlidingChoice {
    std::uint64_t window = 0, width = 0;
    double seconds = 0;     // instead of a window
    SlidingOptions form{};  // how the window is kept; its eps, window and widths are not used

    [[nodiscard]] bool on() const { return window > 0; }
    // Rejects wrong combinations.
    void check(double eps, const StreamOptions& stream) const;
    [[nodiscard]] SlidingOptions options(double eps) const;
    [[nodiscard]] std::uint64_t asked() const { return width > 0 ? width : window; }
    // Rejects another window or width than the resumed summary has.
    void check_resumed(const StreamOptions& stream, const SlidingOptions& has) const;
    void check_resumed(const StreamOptions& stream, double has_seconds) const;
};
void add_sliding_options(CLI::App& verb, SlidingChoice& sliding);
// --time. Call it after both.
void add_time_option(CLI::App& verb, StreamOptions& options, CLI::Option* column);
// A time in seconds: a number, or a date and time of day since 1970, such as 2026-11-27T09:30:00.5Z.
[[nodiscard]] input::Fault parse_time(std::string_view text, double& seconds);
// A whole number.
[[nodiscard]] input::Fault parse_weight(std::string_view text, std::uint64_t& weight);
// Options for the forms of sliding windows. They need the option `sliding`.
void add_sliding_form_options(CLI::App& verb, SlidingOptions& form, CLI::Option* sliding = nullptr);

}  // namespace quadmill::detail::cli
