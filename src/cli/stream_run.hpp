// Common parts of the verbs on streams: options, and the path from the input through a summary to answers.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "cli/devices.hpp"
#include "cli/ranks.hpp"
#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "files/files.hpp"
#include "input/reading.hpp"
#include "input/stream_input.hpp"
#include "input/words.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::detail::cli {

// Whether an incomplete summary may replace a file.
enum class Partial { Beside, Replaces };

struct StreamOptions {
    const CLI::App* verb = nullptr;  // the verb with these options
    std::vector<std::string> inputs{"-"};
    std::string save{};
    Partial partial = Partial::Beside;
    input::Reading reading{};
    Format format = Format::Table;
    Engine engine = Engine::Auto;
    PbsnOptions pbsn{};
    unsigned threads = 0;
    Devices device{};
    std::size_t window = 0;
    std::uint64_t every = 0;
    bool profile = false;

    [[nodiscard]] KeyType type() const { return reading.type(); }
};

// `types` are those that the verb accepts. `text` tells what lines of text mean.
void add_stream_options(CLI::App& verb, StreamOptions& options, const input::Words<KeyType>& types,
                        const std::string& text = "Input is text, one number per line");
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
    SlidingOptions form{};  // how the window is kept; its eps, window and widths are not used

    [[nodiscard]] bool on() const { return window > 0; }
    // Rejects wrong combinations.
    void check(double eps, const StreamOptions& stream) const;
    [[nodiscard]] SlidingOptions options(double eps) const;
    [[nodiscard]] std::uint64_t asked() const { return width > 0 ? width : window; }
};
void add_sliding_options(CLI::App& verb, SlidingChoice& sliding);
// Options for the forms of sliding windows. They need the option `sliding`.
void add_sliding_form_options(CLI::App& verb, SlidingOptions& form, CLI::Option* sliding = nullptr);

// Suffix of an incomplete output if the file exists already.
inline constexpr const char* partial_suffix = ".partial";
// Rejects an output if its name with the suffix is also in use.
void refuse_inputs_or_partial(const std::string& option, const std::string& output,
                              const std::vector<std::string>& inputs);
// Commits an incomplete output, with the suffix if it would replace a file.
void commit_part(files::OutputFile& file, const std::string& path);

// Where a summary is saved: nowhere, to a file, or to standard output, which then gets nothing else.
class SaveFile {
  public:
    // Throws CLI::ValidationError if that is not possible.
    SaveFile(const std::string& path, Format format);
    [[nodiscard]] bool takes_standard_output() const { return path_ == "-"; }
    template <class Summary>
    void save(const Summary& summary) {
        if (!file_) return;
        file_->write(summary.save());
        file_->commit();
    }
    // Saves an incomplete summary.
    template <class Summary>
    void save_part(const Summary& summary, Partial partial) {
        if (!file_ || partial == Partial::Replaces) return save(summary);
        file_->write(summary.save());
        commit_part(*file_, path_);
    }

  private:
    std::string path_;
    std::optional<files::OutputFile> file_;
};

// A progress line; only on terminals.
class Progress {
  public:
    Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { hide(); }
    void show(std::uint64_t values);
    void show_line(const std::string& line);
    void hide();

  private:
    cpu::Stopwatch time_;
    double shown_ms_ = 0;
    enum class Line { Impossible, Hidden, Shown } line_;
};

// Passes a stream to a summary.
class StreamRun {
  public:
    // Opens all files, but reads nothing. `record_bytes` is the size of a raw record.
    StreamRun(const StreamOptions& options, std::size_t record_bytes);

    // The sorter for the summary. Call it once.
    [[nodiscard]] std::unique_ptr<WindowSorter> sorter();

    // Reads the whole input. `add` takes spans of raw records (Raw) and of records from lines of text (Text). It
    // returns nothing, or the number that it took and the fault of the next one. `ask` gives a summary's answer. `load`
    // reads a saved summary: with several ranks, the first one answers for all. After Ctrl-C (and other signals) and
    // after bad input the answer is printed and saved. Then the program ends with the exit status of the signal or with
    // BadInput.
    template <class Raw, class Text, class Summary>
    void run(const Summary& summary, const input::RawRecords<Raw>& raw, input::ParseLine<Text> parse, const auto& add,
             const auto& ask, const auto& load) {
        constexpr bool can_merge = requires(Summary & other) {
            other.merge(summary);
        };
        if (!can_merge && ranks_.are_several())
            throw CLI::ValidationError("--sliding", "is about the last values of one stream, not of several ranks'");
        const auto print = [&] { static_cast<void>(answer(summary, ask, load, Mine::GoesOn)); };
        const auto take = [&](auto records) {
            while (!records.empty()) {
                const auto part = records.first(std::min<std::uint64_t>(records.size(), until_answer()));
                if constexpr (std::is_void_v<decltype(add(part))>) {
                    add(part);
                    count(part.size());
                } else {
                    const auto [taken, fault] = add(part);
                    count(taken);
                    if (!fault.empty()) throw input::BadInput(fault);
                }
                if (answer_is_due()) print();
                records = records.subspan(part.size());
            }
        };
        try {
            do {
                input::read_stream<Raw, Text>(*input_, reading(), raw, parse, skipped_, take);
            } while (next_share());
        } catch (const input::BadInput& error) {
            if (count_ == 0 && !ranks_.are_several()) throw;
            fault_ = error.what();
        }
        input_->release_interrupt();
        if (!ranks_.are_several() && fault_.empty() && !input_->interrupted()) input::refuse_all_bad(skipped_, count_);
        finish(summary, ask, load);
    }
    template <class Raw, class Text, class Summary>
    void run(const Summary& summary, const input::RawRecords<Raw>& raw, input::ParseLine<Text> parse, const auto& add,
             const auto& ask) {
        run<Raw, Text>(summary, raw, parse, add, ask,
                       [](std::span<const std::byte> bytes) { return Summary::load(bytes); });
    }
    // run() for a stream of single values.
    template <class T>
    void run(auto& summary, const auto& ask) {
        run<T>(summary, ask, options_.reading.parse<T>());
    }
    template <class T>
    void run(auto& summary, const auto& ask, input::ParseLine<T> parse) {
        const auto add = [&](std::span<const T> values) { summary.add(values); };
        run<T, T>(summary, input::RawRecords<T>{input::word_for(input::type_words, options_.type()) + " value"}, parse,
                  add, ask);
    }

    // For messages: " of the share of rank 1"; empty with a single rank.
    [[nodiscard]] std::string share_words() const;

  private:
    [[nodiscard]] bool worth_a_context() const;
    [[nodiscard]] std::unique_ptr<WindowSorter> sorter_on_several();
    // After Ctrl-C, bytes that have been read still go into the last answer.
    [[nodiscard]] std::uint64_t until_answer();
    [[nodiscard]] bool answer_is_due() const { return every_ > 0 && count_ % every_ == 0; }
    // How to read this share. A share that begins within a file has no header.
    [[nodiscard]] input::Reading reading() const;
    // Continues with the next share; false if there is none.
    [[nodiscard]] bool next_share();
    using Progressed = std::pair<std::uint64_t, std::uint64_t>;  // values and lines that were skipped
    [[nodiscard]] Progressed progressed() const {
        if (ranks_.are_several()) return {all_count_, all_skipped_};
        return {count_, skipped_.lines};
    }
    void count(std::size_t values);
    void print(Answer answer, std::uint64_t nans, std::size_t bytes);
    void print_profile(const StreamTimes& times);

    enum class Mine { GoesOn, HasEnded };  // whether this rank's share goes on
    // Prints an answer. With several ranks, all call this and the first one prints. A rank that has read its share
    // keeps calling until all have. Then the first rank gets the summary of all, unless there is only one rank.
    template <class Summary>
    std::optional<Summary> answer(const Summary& summary, const auto& ask, const auto& load, Mine mine) {
        if (!ranks_.are_several()) {
            print(ask(summary), nans_of(summary), summary.bytes());
            return {};
        }
        if constexpr (requires(Summary & other) { other.merge(summary); }) {
            for (;;) {
                auto all = ranks_.merged(load(summary.save()), load);
                all_count_ = ranks_.sum(count_);
                all_skipped_ = ranks_.sum(skipped_.lines);
                const bool last = ranks_.sum(mine == Mine::GoesOn ? 1 : 0) == 0;
                if (last) input::refuse_all_bad({.lines = all_skipped_, .first = skipped_.first}, all_count_);
                if (all && answered_at_ != progressed()) print(ask(*all), nans_of(*all), all->bytes());
                if (last || mine == Mine::GoesOn) return all;
            }
        }
        return {};  // sliding windows were rejected before
    }
    // If printing the answer fails, the summary is saved nevertheless, and vice versa.
    template <class Summary>
    void finish(const Summary& summary, const auto& ask, const auto& load) {
        std::exception_ptr failure;
        const auto attempt = [&](const auto& work) {
            try {
                work();
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        };
        std::optional<Summary> all;
        attempt([&] {
            if (ranks_.are_several() || answered_at_ != progressed()) all = answer(summary, ask, load, Mine::HasEnded);
        });
        progress_.hide();
        if (failure && ranks_.are_several()) std::rethrow_exception(failure);  // ends the job
        const bool whole = ranks_.sum(fault_.empty() && !input_->interrupted() ? 0 : 1) == 0;
        if (ranks_.is_first()) {
            const auto& saved = all ? *all : summary;
            attempt([&] { whole ? save_.save(saved) : save_.save_part(saved, options_.partial); });
        }
        if (failure) std::rethrow_exception(failure);
        if (options_.profile && ranks_.is_first()) print_profile(summary.times());
        end();
    }
    // Reports an error of the stream, and returns the exit status.
    void end();
    void write(std::span<const std::byte> text);

    const StreamOptions& options_;
    Ranks ranks_;
    std::vector<input::Share> shares_;
    std::size_t share_ = 0;  // that is being read
    std::uint64_t every_;    // values of this rank between two answers
    SaveFile save_;
    files::OutputFile output_{"-"};
    std::optional<input::StreamInput> input_;
    std::string engine_;
    std::optional<Context> context_;    // for the sorter
    std::optional<DeviceGroup> group_;  // used instead of context_
    std::optional<Session> session_;
    std::optional<PassProfiler> profiler_;
    cpu::Stopwatch time_;
    Progress progress_;
    std::uint64_t count_ = 0;                        // values so far
    std::uint64_t all_count_ = 0, all_skipped_ = 0;  // of all ranks, at the last answer
    std::optional<Progressed> answered_at_;
    input::Skipped skipped_;
    std::string fault_;  // the error that ended the stream
};

}  // namespace quadmill::detail::cli
