// What the verbs on streams share: their options, and the way from the input through a summary to answers.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "cli/files.hpp"
#include "cli/stream_input.hpp"
#include "cli/words.hpp"
#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/context.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::cli {

enum class Form { Raw, Text };

struct StreamOptions {
    std::string input = "-", save{};
    KeyType type = KeyType::F32;
    Form form = Form::Raw;
    Format format = Format::Table;
    Engine engine = Engine::Auto;
    unsigned threads = 0;
    int device = -1;
    std::size_t window = 0;
    std::uint64_t every = 0;
    bool profile = false;
};

// `types`: those that the verb takes; `text`: what lines of text are.
void add_stream_options(CLI::App& verb, StreamOptions& options, const Words<KeyType>& types,
                        const std::string& text = "Input is text, one number a line");
// Also for merge.
void add_json_option(CLI::App& verb, Format& format);
void add_save_option(CLI::App& verb, std::string& save);
inline const std::vector<double> default_phis{0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
void add_phi_option(CLI::App& verb, std::vector<double>& phis);
// For quantiles and what is made of them.
void add_eps_option(CLI::App& verb, double& eps);
void add_n_option(CLI::App& verb, std::optional<std::uint64_t>& n);

// What is frequent.
struct SupportChoice {
    double support = 0;
    std::optional<double> given_eps{};

    [[nodiscard]] double eps() const { return given_eps.value_or(support / 10); }
    void check() const;
};
CLI::Option* add_support_option(CLI::App& verb, double& support);
// And --eps.
void add_support_options(CLI::App& verb, SupportChoice& choice);

// A window over the last values.
struct SlidingChoice {
    std::uint64_t window = 0, width = 0;

    [[nodiscard]] bool on() const { return window > 0; }
    // Refuses what does not go together.
    void check(double eps, const StreamOptions& stream) const;
    [[nodiscard]] SlidingOptions options(double eps) const;
    [[nodiscard]] std::uint64_t asked() const { return width > 0 ? width : window; }
};
void add_sliding_options(CLI::App& verb, SlidingChoice& sliding);

// Where a summary is saved: nowhere, in a file, or on standard output, which then has nothing else.
class SaveFile {
  public:
    // Throws CLI::ValidationError when that cannot be.
    SaveFile(const std::string& path, Format format);
    [[nodiscard]] bool takes_standard_output() const { return path_ == "-"; }
    template <class Summary>
    void save(const Summary& summary) {
        if (!file_) return;
        file_->write(summary.save());
        file_->commit();
    }

  private:
    std::string path_;
    std::optional<OutputFile> file_;
};

// A line on a terminal that says how far it is; none elsewhere.
class Progress {
  public:
    Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { hide(); }
    void show(std::uint64_t values);
    void hide();

  private:
    detail::cpu::Stopwatch time_;
    double shown_ms_ = 0;
    enum class Line { Impossible, Hidden, Shown } line_;
};

// One stream on its way through a summary.
class StreamRun {
  public:
    // Opens all files. Reads nothing.
    explicit StreamRun(const StreamOptions& options);

    // For the summary. Pre: called once.
    [[nodiscard]] std::unique_ptr<WindowSorter> sorter();

    // Reads all: raw records are Raw, those of a line of text are Text; `add` takes spans of both. `ask` gives the
    // answer so far. Ends the program with status 130 after Ctrl-C.
    template <class Raw, class Text, class Summary>
    void run(const Summary& summary, const std::string& what, ParseLine<Text> parse, const auto& add, const auto& ask) {
        const auto print = [&] { answer(ask(), summary); };
        const auto take = [&](auto records) {
            while (!records.empty()) {
                const auto part = records.first(std::min<std::uint64_t>(records.size(), until_answer()));
                add(part);
                count(part.size());
                if (answer_is_due()) print();
                records = records.subspan(part.size());
            }
        };
        if (options_.form == Form::Raw) {
            read_raw<Raw>(input_, what, take);
        } else {
            read_text<Text>(input_, parse, take);
        }
        input_.release_interrupt();
        if (answered_at_ != count_) print();
        finish(summary);
    }
    // The same for a stream of single values.
    template <class T>
    void run(auto& summary, const auto& ask, ParseLine<T> parse = parse_number<T>) {
        const auto add = [&](std::span<const T> values) { summary.add(values); };
        run<T, T>(summary, word_for(type_words, options_.type) + " value", parse, add, ask);
    }

  private:
    [[nodiscard]] bool worth_a_context() const;
    // After Ctrl-C, what has been read already goes into the last answer.
    [[nodiscard]] std::uint64_t until_answer();
    [[nodiscard]] bool answer_is_due() const { return options_.every > 0 && count_ % options_.every == 0; }
    void count(std::size_t values);
    void print(Answer answer, std::uint64_t nans, std::size_t bytes);
    void print_profile(const StreamTimes& times) const;

    template <class Summary>
    void answer(Answer answer, const Summary& summary) {
        print(std::move(answer), nans_of(summary), summary.bytes());
    }
    template <class Summary>
    void finish(const Summary& summary) {
        progress_.hide();
        save_.save(summary);
        if (options_.profile) print_profile(summary.times());
        if (input_.interrupted()) throw CLI::RuntimeError(128 + SIGINT);
    }

    const StreamOptions& options_;
    SaveFile save_;
    OutputFile output_{"-"};
    StreamInput input_;
    std::string engine_;
    std::optional<Session> session_;  // of the sorter's context
    detail::cpu::Stopwatch time_;
    Progress progress_;
    std::uint64_t count_ = 0;
    std::optional<std::uint64_t> answered_at_;
};

}  // namespace quadmill::cli
