#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "cli/external_run.hpp"
#include "cli/help.hpp"
#include "cli/passes.hpp"
#include "cli/ranks.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "external/filler.hpp"
#include "external/plan.hpp"
#include "gl/egl.hpp"
#include "input/checks.hpp"
#include "input/interrupt.hpp"
#include "input/text.hpp"
#include "input/words.hpp"
#include "quadmill/external.hpp"
#if defined(QUADMILL_HAS_MPI)
#include "mpi/terasort.hpp"
#include "mpi/world.hpp"
#endif

namespace quadmill::detail::cli {

namespace {

// Engines that can move indices of records.
const input::Words<Engine> pointer_engine_words{
    {"auto", Engine::Auto}, {"cpu", Engine::Cpu}, {"merge", Engine::Merge}, {"bitonic", Engine::Bitonic}};

// OFFSET:BYTES or OFFSET:TYPE, optionally followed by :asc or :desc.
std::optional<KeyField> parse_field(std::string_view spec) {
    std::array<std::string, 3> parts{"", "", "asc"};
    std::size_t n = 0;
    for (;; ++n) {
        if (n == parts.size()) return {};
        const auto colon = spec.find(':');
        parts[n] = spec.substr(0, colon);
        if (colon == std::string_view::npos) break;
        spec.remove_prefix(colon + 1);
    }
    if (n < 1) return {};
    KeyField field;
    std::uint64_t offset = 0, bytes = 0;
    if (input::parse_number(parts[0], offset) != nullptr) return {};
    field.offset = offset;
    const auto type = std::ranges::find(input::field_words, parts[1], &std::pair<std::string, FieldType>::first);
    if (type != input::field_words.end()) {
        field.type = type->second;
    } else if (input::parse_number(parts[1], bytes) == nullptr) {
        field.bytes = bytes;
    } else {
        return {};
    }
    const auto order = std::ranges::find(input::order_words, parts[2], &std::pair<std::string, Order>::first);
    if (order == input::order_words.end()) return {};
    field.order = order->second;
    return field;
}

const input::Words<RunMerge> merge_words{{"tree", RunMerge::Tree}, {"gpu", RunMerge::Gpu}};

struct TerasortCommand {
    std::string input, output;
    std::size_t record_bytes = 100, key_offset = 0, key_bytes = 10;
    std::vector<std::string> keys, temp;
    bool lines = false, profile = false, parts = false, resume = false;
    std::uint64_t memory = std::uint64_t{256} << 20U;
    Engine engine = Engine::Auto;
    RunMerge merge = RunMerge::Tree;
    unsigned threads = 0;
    std::uint64_t run_size = 0;
    Devices devices;
    Format format = Format::Table;

    void run();

  private:
    void run_alone();
#if defined(QUADMILL_HAS_MPI)
    void run_on_ranks();
    void sort_on_ranks(const RecordFormat& records, input::Interrupt& interrupt);
    void print(const mpi::TerasortStats& stats) const;
#endif
    [[nodiscard]] RecordFormat record_format() const;
    [[nodiscard]] std::optional<Context> open_context() const {
        return external_context("terasort", engine, merge, memory, devices);
    }
    void print(const ExternalSortStats& stats, const std::vector<DeviceShare>& shares) const;
    static void print_stages(const ExternalSortStats& stats);
};

RecordFormat TerasortCommand::record_format() const {
    RecordFormat records{.bytes = record_bytes, .key = {{.offset = key_offset, .bytes = key_bytes}}};
    if (lines) records.kind = RecordFormat::Kind::Lines;
    if (!keys.empty()) records.key.clear();
    for (const auto& spec : keys) {
        const auto field = parse_field(spec);
        if (!field) {
            throw CLI::ValidationError(
                "--key",
                fmt::format("'{}' is not OFFSET:BYTES or OFFSET:TYPE, such as 0:10 or 12:u32:desc; types are {}", spec,
                            input::joined(input::field_words, ", ")));
        }
        records.key.push_back(*field);
    }
    try {
        static_cast<void>(min_memory(records));
    } catch (const InvalidArgument& error) {
        throw CLI::ValidationError(keys.empty() ? "--key-offset, --key-bytes" : "--key", without_function(error));
    }
    return records;
}

void TerasortCommand::print_stages(const ExternalSortStats& stats) {
    fmt::print(stderr, "{:<12} {:>9} {:>8}\n", "stage", "seconds", "hidden");
    for (const auto& stage : stats.stages)
        fmt::print(stderr, "{:<12} {:>9.3f} {:>7.0f}%\n", stage.name, stage.seconds, 100 * stage.hidden);
}

void TerasortCommand::print(const ExternalSortStats& s, const std::vector<DeviceShare>& shares) const {
    Json stages;
    for (const auto& stage : s.stages) stages[stage.name] = {{"seconds", stage.seconds}, {"hidden", stage.hidden}};
    Json out{{"bytes", s.bytes},
             {"records", s.records},
             {"runs", s.runs},
             {"run_bytes", s.run_bytes},
             {"merge_passes", s.merge_passes},
             {"seconds", s.seconds},
             {"runs_seconds", s.runs_seconds},
             {"merge_seconds", s.merge_seconds},
             {"mb_per_s", megabytes_a_second(s.bytes, s.seconds)},
             {"runs_mb_per_s", megabytes_a_second(s.bytes, s.runs_seconds)},
             {"merge_mb_per_s", megabytes_a_second(s.bytes, s.merge_seconds)},
             {"memory", memory},
             {"peak_bytes", s.peak_bytes},
             {"engine", input::word_for(input::engine_words, s.engine)},
             {"passes", s.passes},
             {"merge", input::word_for(merge_words, merge)},
             {"io", s.io},
             {"tied", s.tied},
             {"stages", stages}};
    if (!shares.empty()) out["devices"] = shares_json(shares);
    const auto text = out.dump() + "\n";
    files::OutputFile("-").write(std::as_bytes(std::span(text)));
}

void TerasortCommand::run() {
#if defined(QUADMILL_HAS_MPI)
    if (has_ranks()) return run_on_ranks();
#endif
    if (parts || resume) {
        throw CLI::ValidationError(parts ? "--parts" : "--resume",
                                   "goes with several ranks: mpirun -n 4 quadmill terasort ..., of a build with MPI");
    }
    run_alone();
}

void TerasortCommand::run_alone() {
    if (output.empty()) throw CLI::ValidationError("OUT", "the name of the output file is empty");
    if (output == "-" && format == cli::Format::JsonLine)
        throw CLI::ValidationError("--json", "goes to standard output, where the records go; name an output file");
    if (output == "-" && !lines) refuse_terminal("OUT", files::OutputFile(output));
    const auto records = record_format();
    input::Interrupt interrupt;  // before threads start, which inherit the signals that it blocks
    if (devices.several() && engine == Engine::Cpu)
        throw CLI::ValidationError("--device", "several devices sort by an engine of the GPU, not by cpu");
    if (devices.several() && profile) throw CLI::ValidationError("--profile", "goes with one device");
    std::optional<DeviceGroup> group;
    if (devices.several()) group = devices.group();
    auto context = group ? std::nullopt : open_context();
    std::optional<PassProfiler> profiler;
    if (profile && context) profiler.emplace(*context);
    ExternalSortOptions options{.format = records,
                                .memory = memory_for(records, memory),
                                .temp = temp,
                                .engine = engine,
                                .merge = merge,
                                .threads = threads,
                                .paper = {.run_bytes = run_size},
                                .progress = {}};
    Progress progress;
    options.progress = [&](const auto& p) { return show_and_proceed(progress, p, interrupt.came()); };
    ExternalSortStats stats;
    try {
        stats = group ? sort_file(input, output, options, *group) : sort_file(input, output, options, context);
    } catch (const SortStopped&) {
        throw CLI::RuntimeError(interrupt.status());
    } catch (const external::LineTooLong& error) {
        // What the program holds varies a little, so one more.
        throw Error(fmt::format("{}; --memory {}M is enough", error.fact(),
                                whole_megabytes(memory - options.memory + error.memory()) + 1));
    } catch (const std::bad_alloc&) {
        throw Error(out_of_memory(memory));
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::resource_unavailable_try_again) throw;  // else no room for a stack
        throw Error(out_of_memory(memory));
    }
    progress.hide();
    const auto shares = group ? group->shares() : std::vector<DeviceShare>();
    warn_of_failures(shares);
    if (profile) print_stages(stats);
    if (profiler) {
        const auto rows = profiler->rows();
        profiler.reset();  // limits are measured with passes, too
        print_passes(*context, rows);
    }
    if (format == cli::Format::JsonLine) print(stats, shares);
}

#if defined(QUADMILL_HAS_MPI)
void TerasortCommand::print(const mpi::TerasortStats& s) const {
    const Json out{{"bytes", s.bytes},
                   {"records", s.records},
                   {"ranks", s.ranks},
                   {"most_records", s.max_records},
                   {"least_records", s.min_records},
                   {"moved_bytes", s.moved_bytes},
                   {"resumed", s.resumed},
                   {"seconds", s.seconds},
                   {"sort_seconds", s.sort_seconds},
                   {"cut_seconds", s.cut_seconds},
                   {"exchange_seconds", s.exchange_seconds},
                   {"merge_seconds", s.merge_seconds},
                   {"mb_per_s", megabytes_a_second(s.bytes, s.seconds)},
                   {"memory", memory},
                   {"peak_bytes", s.peak_bytes},
                   {"engine", input::word_for(input::engine_words, s.engine)}};
    const auto text = out.dump() + "\n";
    files::OutputFile("-").write(std::as_bytes(std::span(text)));
}

// For a job of mpirun: each rank sorts its share with its own device of its machine.
void TerasortCommand::sort_on_ranks(const RecordFormat& records, input::Interrupt& interrupt) {
    const mpi::World world;
    const mpi::Comm comm("terasort", world.comm());
    const auto local = quadmill::mpi::local_rank(comm.get());
    std::optional<Context> context;
    mpi::TerasortOptions options{.parts = parts ? mpi::Parts::Apart : mpi::Parts::Together,
                                 .earlier = resume ? mpi::Earlier::Resume : mpi::Earlier::Remove};
    comm.together([&] {
        const auto count = static_cast<int>(gl::has_hardware() ? Context::devices().size() : 0);
        if (devices.indices.empty() && count > 0) devices.indices.push_back(local.rank % count);
        context = open_context();
        options.sort = {.format = records,
                        .memory = memory_for(records, memory),
                        .temp = temp,
                        .engine = engine,
                        .threads = mpi::threads_of(local, threads),
                        .paper = {.run_bytes = run_size},
                        .progress = {}};
    });
    Progress progress;
    options.sort.progress = [&](const ExternalProgress& p) {
        if (interrupt.came()) return Proceed::Stop;
        if (comm.rank() == 0 && p.phase == ExternalProgress::Phase::Runs) progress.show_line(progress_line(p));
        return Proceed::GoOn;
    };
    const auto stats = mpi::terasort(comm, input, output, options, context);
    progress.hide();
    if (comm.rank() == 0 && format == cli::Format::JsonLine) print(stats);
}

void TerasortCommand::run_on_ranks() {
    if (output.empty()) throw CLI::ValidationError("OUT", "the name of the output file is empty");
    if (merge == RunMerge::Gpu) throw CLI::ValidationError("--merge", "gpu does not go with several ranks");
    if (profile) throw CLI::ValidationError("--profile", "goes with one process; --json has the times of ranks");
    if (devices.several())
        throw CLI::ValidationError("--device", "each rank takes one device; start a rank per device");
    const auto records = record_format();
    input::Interrupt interrupt;
    try {
        sort_on_ranks(records, interrupt);
    } catch (const SortStopped&) {
        throw CLI::RuntimeError(interrupt.status());
    } catch (const Error& error) {
        // The rank that failed reports it.
        if (!std::string_view(error.what()).starts_with("rank ")) throw;
        constexpr int failed = 1;
        let_failed_rank_speak();
        throw CLI::RuntimeError(failed);
    }
}
#endif

void add_record_options(CLI::App& verb, TerasortCommand& command) {
    auto* record = verb.add_option("--record-bytes", command.record_bytes, "Bytes of a record")
                       ->check(input::shown_number(1, 65535))
                       ->capture_default_str();
    auto* offset =
        verb.add_option("--key-offset", command.key_offset, "Index of the first byte of the key in a record, from 0")
            ->capture_default_str();
    auto* bytes = verb.add_option("--key-bytes", command.key_bytes, "Bytes of the key")
                      ->check(input::shown_number(1, 255))
                      ->capture_default_str();
    auto* key =
        verb.add_option(
                "--key", command.keys,
                "A key field: OFFSET:BYTES or OFFSET:TYPE, then optionally :desc for the largest first. Types: u8, i8, "
                "u16, i16, f16, u32, i32, f32, u64, i64, f64, little-endian; i16be, i32be, f32be, i64be, "
                "f64be, big-endian (unsigned big-endian numbers are bytes). 8:f64:desc is the double at byte "
                "8, largest first. Records that are equal in the first --key are ordered by the second one, "
                "and so on")
            ->type_name("SPEC")
            ->allow_extra_args(false)
            ->excludes(offset)
            ->excludes(bytes);
    verb.add_flag("--lines", command.lines,
                  "Records are lines of text, ordered by their bytes as LC_ALL=C sort does. Max length of a line: "
                  "1/16 of --memory (16M by default)")
        ->excludes(record)
        ->excludes(offset)
        ->excludes(bytes)
        ->excludes(key);
}

}  // namespace

void add_terasort_command(CLI::App& app) {
    auto command = std::make_shared<TerasortCommand>();
    auto* verb = app.add_subcommand("terasort", "Sort a file of records that may be larger than memory");
    verb->add_option("IN", command->input, "Input, which is never modified; - is standard input")->required();
    verb->add_option("OUT", command->output, "Output; - is standard output. Appears only when complete")->required();
    add_record_options(*verb, *command);
    verb->add_option("--memory", command->memory, "Max memory of the program, such as 1G")
        ->transform(input::byte_count())
        ->default_str("256M")
        ->type_name("SIZE");
    verb->add_option(
            "--temp", command->temp,
            "Folder for temporary files (sorted runs) if the input does not fit into memory; several are used in turn "
            "(default: TMPDIR, or /tmp)")
        ->type_name("DIR")
        ->allow_extra_args(false);
    verb->add_option("--engine", command->engine,
                     "The engine that sorts keys in memory. merge, bitonic: on the GPU; cpu: CPU threads; auto: merge "
                     "if a GPU is available and --memory is at least 1G (the driver needs some of that), otherwise "
                     "cpu")
        ->transform(input::one_of(pointer_engine_words))
        ->default_str("auto");
    verb->add_option("--merge", command->merge,
                     "The merge of the runs. tree: a tree of losers on the CPU; gpu: the merge engine, slower in all "
                     "measurements, only for records of one length")
        ->transform(input::one_of(merge_words))
        ->default_str("tree")
        ->group(performance_group);
    verb->add_option("--threads", command->threads, "CPU threads (default: all)")->check(input::thread_count());
    verb->add_option("--run-size", command->run_size,
                     "Max size of a run, such as 8M (default: as much as --memory allows)")
        ->transform(input::byte_count())
        ->type_name("SIZE");
    verb->add_flag("--parts", command->parts,
                   "Under mpirun: one output file per rank (OUT-00000-of-00004, ...) instead of a single file");
    verb->add_flag("--resume", command->resume,
                   "Under mpirun: continue from the sorted runs of an earlier start of the same job, and keep the "
                   "runs if this one fails");
    add_json_option(*verb, command->format);
    verb->add_flag("--profile", command->profile,
                   "Tables on standard error: seconds of each stage, and how much of it overlaps with the slowest "
                   "stage; GPU time by pass");
    add_devices_option(*verb, command->devices);
    verb->footer(
        "Records with equal keys keep the order of the input. If a sort was killed, the next one removes its temporary "
        "files.\n"
        "Under mpirun (mpirun -n 8 quadmill terasort IN OUT), each rank sorts its share of IN, with its own --memory "
        "and --temp (default: the folder of OUT). Rank i of a machine uses GPU i of that machine.\n"
        "\n"
        "Examples:\n"
        "  quadmill terasort records.dat sorted.dat --memory 1G --temp /tmp --temp .\n"
        "  quadmill terasort trades.bin by_price.bin --record-bytes 24 --key 8:f64:desc --key 0:u64\n"
        "  quadmill terasort access.log sorted.log --lines");
    verb->callback([command, verb] {
        only_with(*verb, {"--merge"}, !command->lines || command->merge == RunMerge::Tree,
                  "records of one length, not with --lines");
        command->run();
    });
}

}  // namespace quadmill::detail::cli
