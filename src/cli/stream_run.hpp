// Common parts of the verbs on streams: the path from the input through a summary to answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/any_summary.hpp"
#include "cli/ranks.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_options.hpp"
#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "files/files.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::cli {

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
    void save(const AnySummary& summary);
    // Saves an incomplete summary.
    void save_part(const AnySummary& summary, Partial partial);
    // Saves what there is so far under the file's name.
    void save_now(const AnySummary& summary) const;

  private:
    std::string path_;
    std::optional<files::OutputFile> file_;
};

// Reports that a saved summary is damaged, or of another kind than wanted.
[[noreturn]] void refuse_saved(const std::string& file, std::span<const std::byte> bytes, const InvalidArgument& error);

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

// Rejects --window and --n if the resumed summary has others. make(window) is an empty summary with its eps and with
// the n of the options.
void check_resumed_plan(const StreamOptions& options, const AnySummary& resumed,
                        const std::function<std::unique_ptr<OneSummary>(std::size_t window)>& make);

// How the records of a stream are read.
struct StreamForm {
    input::Parser parser;                    // of lines, or of the fields of a column
    std::optional<input::RawRecords> raw{};  // nothing: the input is always text
    // Parses the field of a second column, and makes 8 bytes of it.
    std::function<input::Fault(std::string_view field, void* second)> second{};
};

// Passes a stream to a summary.
class StreamRun {
  public:
    // Opens all files, but reads nothing. `record_bytes` is the size of a raw record.
    StreamRun(const StreamOptions& options, std::size_t record_bytes);

    // The sorter for the summary. Call it once.
    [[nodiscard]] std::unique_ptr<WindowSorter> sorter();
    // For summaries with sorters of their own.
    void use_cpu() { engine_ = "cpu"; }
    // The summary to go on with: load(bytes) of --resume, or make() without it, or if there is no such file yet.
    // `check` rejects options that a loaded one does not follow.
    template <class Load, class Make, class Check>
    [[nodiscard]] auto resumed(const Load& load, const Make& make, const Check& check) const {
        const auto saved = saved_bytes();
        if (!saved) return make();
        auto summary = [&] {
            try {
                return load(saved->span());
            } catch (const InvalidArgument& error) {
                refuse_saved(options_.resume, saved->span(), error);
            }
        }();
        check(summary);
        return summary;
    }
    [[nodiscard]] std::unique_ptr<OneSummary> resumed(const Summaries& how, std::unique_ptr<WindowSorter> sorter) const;

    // The form of a stream of numbers of --type.
    [[nodiscard]] StreamForm numbers() const;
    // The number of records that were taken, and the error of the next record.
    struct Taken {
        std::size_t count;
        std::string fault{};
    };
    // Takes records, with those of the second column.
    using Add = std::function<Taken(const input::Records&, const input::Records&)>;
    // Reads the whole input. After Ctrl-C (and other signals) and after bad input the answer is printed and saved. Then
    // the program ends with the exit status of the signal or with BadInput.
    void run(const Summaries& how, const AnySummary& summary, const StreamForm& form, const Add& add);
    // The same for values, also with --weight.
    void run(const Summaries& how, OneSummary& summary, StreamForm form);
    // With --every TIME and --time: prints the answer if this time is in another interval than those so far.
    void answer_before(double time);

    // For messages: " of the share of rank 1"; empty with a single rank.
    [[nodiscard]] std::string share_words() const;
    [[nodiscard]] bool are_several() const { return ranks_.are_several(); }

  private:
    [[nodiscard]] std::optional<files::Bytes> saved_bytes() const;
    [[nodiscard]] bool worth_a_context() const;
    [[nodiscard]] std::unique_ptr<WindowSorter> sorter_on_several();
    // After Ctrl-C, bytes that have been read still go into the last answer.
    [[nodiscard]] std::uint64_t until_answer();
    [[nodiscard]] bool answer_is_due();
    [[nodiscard]] bool answers_by_arrival() const { return options_.every.seconds > 0 && options_.time.empty(); }
    // Saves if --save-every says so and there is something new.
    void save_if_due();
    // Gives answers and saves while no value arrives. Returns the milliseconds until that is due again; -1 if never.
    int work_in_silence();
    // How to read this share. A share that begins within a file has no header.
    [[nodiscard]] input::Reading reading() const;
    // Continues with the next share; false if there is none.
    [[nodiscard]] bool next_share();
    using Progressed = std::pair<std::uint64_t, std::uint64_t>;  // values and lines that were skipped
    [[nodiscard]] Progressed progressed() const {
        if (ranks_.are_several()) return {all_count_, all_skipped_};
        return {count_, skipped_.lines};
    }
    void read(const StreamForm& form, const Add& add);
    void read_column(const StreamForm& form, const Add& add);
    // Takes records and prints the answers that are due on the way.
    void take_parts(const input::Records& records, const input::Records& second, const Add& add);
    void count(std::size_t values);
    void print(const AnySummary& summary);
    // The same on the way, where values for which there is no answer do not end the stream.
    void print_if_possible();
    void print_profile(const StreamTimes& times);

    enum class Mine { GoesOn, HasEnded };  // whether this rank's share goes on
    // Prints an answer. With several ranks, all call this and the first one prints. A rank that has read its share
    // keeps calling until all have. Then the first rank gets the summary of all, unless there is only one rank.
    std::optional<Part> answer(Mine mine);
    // If printing the answer fails, the summary is saved nevertheless, and vice versa.
    void finish();
    // Reports an error of the stream, and returns the exit status.
    void end();
    void write(std::span<const std::byte> text);

    const StreamOptions& options_;
    const Summaries* how_ = nullptr;
    const AnySummary* summary_ = nullptr;
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
    std::optional<double> interval_;         // the latest one of --every, by --time
    double answered_ms_ = 0, saved_ms_ = 0;  // when the last answer was printed, and the summary saved
    std::uint64_t saved_count_ = 0;          // values then
    Progress progress_;
    std::uint64_t count_ = 0;                        // values so far
    std::uint64_t all_count_ = 0, all_skipped_ = 0;  // of all ranks, at the last answer
    std::optional<Progressed> answered_at_;
    input::Skipped skipped_;
    std::string fault_;  // the error that ended the stream
};

}  // namespace quadmill::detail::cli
