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
    void save(const auto& summary) {
        if (!file_) return;
        file_->write(summary.save());
        file_->commit();
    }
    // Saves an incomplete summary.
    void save_part(const auto& summary, Partial partial) {
        if (!file_ || partial == Partial::Replaces) return save(summary);
        file_->write(summary.save());
        commit_part(*file_, path_);
    }
    // Saves what there is so far under the file's name.
    void save_now(const auto& summary) const {
        files::OutputFile file(path_);
        file.write(summary.save());
        file.commit();
    }

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

// A summary of any kind: what StreamRun does with it.
struct AnySummary {
    std::function<Answer()> ask;
    std::function<std::vector<std::byte>()> save;
    std::function<std::uint64_t()> nans;
    std::function<std::size_t()> bytes;
    std::function<StreamTimes()> times;
    // The summary of all ranks; on other ranks than the first, one without `ask`. Null if summaries cannot be merged.
    std::function<AnySummary(const Ranks&)> of_all{};
    std::shared_ptr<const void> owner{};
};

// `ask` gives a summary's answer. `load` reads a saved summary: with several ranks, the first one answers for all.
template <class Summary>
[[nodiscard]] AnySummary any_summary(const Summary& summary, std::function<Answer(const Summary&)> ask,
                                     std::function<Summary(std::span<const std::byte>)> load) {
    AnySummary any{.ask = [&summary, ask] { return ask(summary); },
                   .save = [&summary] { return summary.save(); },
                   .nans = [&summary] { return nans_of(summary); },
                   .bytes = [&summary] { return summary.bytes(); },
                   .times = [&summary] { return summary.times(); }};
    if constexpr (requires(Summary & other) { other.merge(summary); }) {
        any.of_all = [&summary, ask, load](const Ranks& ranks) {
            auto all = ranks.merged(load(summary.save()), load);
            if (!all) return AnySummary{};
            const auto kept = std::make_shared<const Summary>(std::move(*all));
            auto of_all = any_summary<Summary>(*kept, ask, load);
            of_all.owner = kept;
            return of_all;
        };
    }
    return any;
}
template <class Summary>
[[nodiscard]] AnySummary any_summary(const Summary& summary, std::function<Answer(const Summary&)> ask) {
    return any_summary<Summary>(summary, std::move(ask),
                                [](std::span<const std::byte> bytes) { return Summary::load(bytes); });
}

// How the verb reads a value: a number, or a name, which is the whole field.
template <class T>
[[nodiscard]] input::ParseLine<T> input_parser(const StreamOptions& options) {
    if constexpr (std::is_same_v<T, std::string>) {
        return [](std::string_view word, std::string& name) -> input::Fault {
            name = word;
            return nullptr;
        };
    } else {
        return options.reading.parse<T>();
    }
}

// Makes a record of a value and the field of another column.
template <class Record, class T>
using Keep = std::function<input::Fault(T, std::string_view, Record&)>;

// Windows and levels in saved bytes; 0 if a kind has none.
struct SavedPlan {
    std::uint64_t window = 0, levels = 0;
};
[[nodiscard]] SavedPlan saved_plan(std::span<const std::byte> saved);
// Rejects --window and --n if the resumed summary has others. make(window) is an empty summary with its eps and with
// the n of the options.
template <class Summary, class Make>
void check_resumed_plan(const StreamOptions& options, const Summary& resumed, const Make& make) {
    const auto given = [&](const char* option) {
        return options.verb->get_option_no_throw(option) != nullptr && options.verb->count(option) > 0;
    };
    if (!given("--window") && !given("--n")) return;
    const auto has = saved_plan(resumed.save());
    const auto wanted = saved_plan(make(given("--window") ? options.window : has.window).save());
    if (wanted.window != has.window)
        refuse_resumed(options, "--window", "has windows of " + std::to_string(has.window) + " values");
    if (given("--n") && wanted.levels != has.levels)
        refuse_resumed(options, "--n", "was made for another number of values");
}

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

    // The number of records that were taken, and the error of the next record.
    struct Taken {
        std::size_t count;
        std::string fault{};
    };
    // Reads the whole input. `add` takes spans of raw records (Raw) and of records from lines of text (Text). After
    // Ctrl-C (and other signals) and after bad input the answer is printed and saved. Then the program ends with the
    // exit status of the signal or with BadInput.
    template <class Raw, class Text>
    void run(const AnySummary& summary, const input::RawRecords<Raw>& raw, input::ParseLine<Text> parse,
             const std::function<Taken(std::span<const Raw>)>& add_raw,
             const std::function<Taken(std::span<const Text>)>& add_text) {
        run_all(summary, [&] {
            const auto take = [&]<class Record>(std::span<const Record> records) {
                take_parts(summary, records.size(), [&](std::size_t first, std::size_t count) {
                    const auto part = records.subspan(first, count);
                    if constexpr (std::is_same_v<Record, Raw>) {
                        return add_raw(part);
                    } else {
                        return add_text(part);
                    }
                });
            };
            input::read_stream<Raw, Text>(*input_, reading(), raw, parse, skipped_, take);
        });
    }
    // The same for a stream of single values.
    template <class T>
    void run(const AnySummary& summary, const std::function<void(std::span<const T>)>& add, input::ParseLine<T> parse) {
        const input::RawRecords<T> raw{input::word_for(input::type_words, options_.type()) + " value"};
        const auto add_all = [&](std::span<const T> values) {
            add(values);
            return Taken{values.size()};
        };
        run_all(summary, [&] {
            const auto take = [&](std::span<const T> values) {
                take_parts(summary, values.size(),
                           [&](std::size_t first, std::size_t count) { return add_all(values.subspan(first, count)); });
            };
            if (options_.column.which.empty())
                return input::read_stream<T, T>(*input_, reading(), raw, parse, skipped_, take);
            read_values<T>(parse, take);
        });
    }
    // The same for values that are always text: lines, or the fields of a column.
    template <class T>
    void run_parsed(const AnySummary& summary, input::ParseLine<T> parse,
                    const std::function<void(std::span<const T>)>& add) {
        run_all(summary, [&] {
            const auto take = [&](std::span<const T> values) {
                take_parts(summary, values.size(), [&](std::size_t first, std::size_t count) {
                    add(values.subspan(first, count));
                    return Taken{count};
                });
            };
            if (!options_.column.which.empty()) return read_values<T>(parse, take);
            auto lines = reading().lines;
            // A monitor of names goes on after a blank line. Other values have none.
            if (std::is_same_v<T, std::string>) lines.blank = input::LineOptions::Blank::Empty;
            input::read_text<T>(*input_, parse, lines, skipped_, take);
        });
    }
    void run_names(const AnySummary& summary, const std::function<void(std::span<const std::string>)>& add) {
        run_parsed<std::string>(summary, input_parser<std::string>(options_), add);
    }
    // The same for values with the field of a second column, of which `keep` makes a record.
    template <class Record, class T>
    void run_records(const AnySummary& summary, input::ParseLine<T> parse, const Keep<Record, T>& keep,
                     const std::function<void(std::span<const Record>)>& add) {
        run_all(summary, [&] {
            read_column<Record, T>(parse, keep, [&](std::span<const Record> records) {
                take_parts(summary, records.size(), [&](std::size_t first, std::size_t count) {
                    add(records.subspan(first, count));
                    return Taken{count};
                });
            });
        });
    }
    // The same for pairs.
    template <class T, class Second>
    void run_pairs(const AnySummary& summary, input::ParseLine<T> parse, input::ParseLine<Second> parse_second,
                   const std::function<void(std::span<const std::pair<T, Second>>)>& add) {
        run_records<std::pair<T, Second>, T>(
            summary, parse,
            [parse_second](T value, std::string_view field, std::pair<T, Second>& pair) {
                pair.first = std::move(value);
                return parse_second(field, pair.second);
            },
            add);
    }
    // The same for values and their weights, which are windows of the summary.
    template <class T>
    void run_weighted(const AnySummary& summary,
                      const std::function<void(std::span<const T>, std::span<const std::uint64_t>)>& add) {
        run_pairs<T, std::uint64_t>(summary, input_parser<T>(options_), parse_weight, [&](auto pairs) {
            std::vector<T> values;
            std::vector<std::uint64_t> weights;
            for (const auto& [value, weight] : pairs) {
                values.push_back(value);
                weights.push_back(weight);
            }
            add(values, weights);
        });
    }
    // With --every TIME and --time: prints the answer if this time is in another interval than those so far.
    void answer_before(const AnySummary& summary, double time);
    template <class T>
    void run(const AnySummary& summary, const std::function<void(std::span<const T>)>& add) {
        run<T>(summary, add, options_.reading.parse<T>());
    }

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
    void save_if_due(const AnySummary& summary);
    // Gives answers and saves while no value arrives. Returns the milliseconds until that is due again; -1 if never.
    int work_in_silence(const AnySummary& summary);
    // How to read this share. A share that begins within a file has no header.
    [[nodiscard]] input::Reading reading() const;
    // Continues with the next share; false if there is none.
    [[nodiscard]] bool next_share();
    using Progressed = std::pair<std::uint64_t, std::uint64_t>;  // values and lines that were skipped
    [[nodiscard]] Progressed progressed() const {
        if (ranks_.are_several()) return {all_count_, all_skipped_};
        return {count_, skipped_.lines};
    }
    template <class T>
    void read_values(input::ParseLine<T> parse, const auto& take) {
        const Keep<T, T> keep = [](T value, std::string_view /*field*/, T& record) -> input::Fault {
            record = std::move(value);
            return nullptr;
        };
        read_column<T, T>(parse, keep, take);
    }
    template <class Record, class T>
    void read_column(input::ParseLine<T> parse, const Keep<Record, T>& keep, const auto& take) {
        std::vector<Record> records;
        const auto parse_field = [&](std::string_view field, std::string_view second) -> input::FieldFault {
            T value{};
            Record record{};
            if (const auto fault = parse(field, value)) return {fault};
            if (const auto fault = keep(std::move(value), second, record)) return {fault, true};
            records.push_back(std::move(record));
            return {};
        };
        auto column = options_.column;
        column.is_text = std::is_same_v<T, std::string>;
        const auto deliver = [&] {
            take(std::span(std::as_const(records)));
            records.clear();
        };
        input::read_column(*input_, column, reading().lines, skipped_, parse_field, deliver);
    }
    // Takes records and prints the answers that are due on the way. add(first, count) takes some of them.
    void take_parts(const AnySummary& summary, std::size_t records,
                    const std::function<Taken(std::size_t, std::size_t)>& add);
    // Calls `read` for each share.
    void run_all(const AnySummary& summary, const std::function<void()>& read);
    void count(std::size_t values);
    void print(Answer answer, std::uint64_t nans, std::size_t bytes);
    void print(const AnySummary& summary) { print(summary.ask(), summary.nans(), summary.bytes()); }
    // The same on the way, where values for which there is no answer do not end the stream.
    void print_if_possible(const AnySummary& summary);
    void print_profile(const StreamTimes& times);

    enum class Mine { GoesOn, HasEnded };  // whether this rank's share goes on
    // Prints an answer. With several ranks, all call this and the first one prints. A rank that has read its share
    // keeps calling until all have. Then the first rank gets the summary of all, unless there is only one rank.
    AnySummary answer(const AnySummary& summary, Mine mine);
    // If printing the answer fails, the summary is saved nevertheless, and vice versa.
    void finish(const AnySummary& summary);
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
