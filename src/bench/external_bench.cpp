#include "bench/external_bench.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <thread>
#include <utility>

#include "bench/pass_count.hpp"
#include "bench/refusal.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/sample_keys.hpp"
#include "cpu/stopwatch.hpp"
#include "external/gpu_merger.hpp"
#include "external/merger.hpp"
#include "external/wide_sort.hpp"
#include "files/block_io.hpp"
#include "files/files.hpp"
#include "input/program.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {
namespace {

namespace fs = std::filesystem;

// Waits until a file is written to the disk.
void sync_file(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw IoError(path + ": " + std::strerror(errno), path, 0);
    const int error = fsync(file) == 0 ? 0 : errno;
    close(file);
    if (error != 0) throw IoError(path + ": " + std::strerror(error), path, 0);
}

// Removes a file that is on the disk from the system's cache.
void evict(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    static_cast<void>(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
    close(file);
}

struct FileRun {
    double ms = 0;
    std::string output;
};

// One run, until the output is on the disk. Returns the reason if it failed.
std::string run_once(const FileContender& contender, const FileJob& job, FileRun& run) {
    std::error_code none;
    fs::remove(job.output, none);
    evict(job.input);
    const cpu::Stopwatch watch;
    input::ProgramRun ended;
    if (contender.words) ended = input::run_program(contender.words(job));
    if (!ended.failure.empty())
        return ended.errors.empty() ? ended.failure : ended.errors.substr(0, ended.errors.find('\n'));
    try {
        if (contender.work) contender.work(job);
        sync_file(job.output);
    } catch (const IoError& error) {  // it wrote no output, or the disk is full
        return error.what();
    }
    run = {watch.ms(), std::move(ended.output)};
    return {};
}

// Each block is read, then written, then used for the next read.
void copy_past_the_cache(const FileJob& job) {
    constexpr std::size_t block = std::size_t{1} << 20U, blocks = 16;
    const files::InputFile in(job.input);
    files::OutputFile out(job.output);
    for (const int file : {in.descriptor(), out.descriptor()}) {
        files::make_direct(file);
        if ((fcntl(file, F_GETFL) & O_DIRECT) == 0)
            throw IoError("this file system has no transfers past the system's cache", job.input, 0);
    }
    const auto size = in.size().value();
    const files::Memory memory(block * blocks);
    files::BlockIo io;
    std::array<std::uint64_t, blocks> positions{};
    std::uint64_t next = 0;
    const auto part = [&](std::size_t i) { return std::span(memory.data() + i * block, block); };
    const auto read = [&](std::size_t i) {
        if (next >= size) return;
        positions.at(i) = std::exchange(next, next + block);
        io.read(in.descriptor(), part(i), positions.at(i), 2 * i);
    };
    for (std::size_t i = 0; i < blocks; ++i) read(i);
    while (io.in_flight() > 0) {
        const auto done = io.next(std::chrono::seconds(1));
        if (!done) continue;
        const auto i = static_cast<std::size_t>(done->tag / 2);
        const bool was_read = done->tag % 2 == 0;
        const auto& path = was_read ? job.input : job.output;
        if (done->error != 0) throw IoError(path + ": " + std::strerror(done->error), path, positions.at(i));
        if (was_read) {
            io.write(out.descriptor(), part(i).first(files::page_up(done->bytes)), positions.at(i), 2 * i + 1);
        } else {
            read(i);
        }
    }
    if (ftruncate(out.descriptor(), static_cast<off_t>(size)) != 0)
        throw IoError(job.output + ": " + std::strerror(errno), job.output, size);
    out.sync();
    out.commit();
}

bool is_right(const FileContender& contender, const std::string& path, Number128 checksum) {
    files::InputFile file(path);
    const auto check = check_file(file);
    return check.checksum == checksum && (contender.role == FileRole::Copy || check.unordered == 0);
}

}  // namespace

FileContender terasort_program(std::string name, const std::string& engine, const std::string& memory, int device,
                               std::vector<std::string> more) {
    if (device >= 0) more.insert(more.end(), {"--device", std::to_string(device)});
    const auto itself = fs::read_symlink("/proc/self/exe").string();
    return {std::move(name), FileRole::Engine, [=](const FileJob& job) {
                std::vector<std::string> words{itself,   "terasort", job.input,  job.output, "--memory", memory,
                                               "--temp", job.folder, "--engine", engine,     "--json"};
                words.insert(words.end(), more.begin(), more.end());
                return words;
            }};
}

FileContender gnu_sort(const std::string& memory) {
    const auto parallel = fmt::format("--parallel={}", std::thread::hardware_concurrency());
    return {"GNU sort", FileRole::Sort, [=](const FileJob& job) {
                return std::vector<std::string>{"env", "LC_ALL=C", "sort", "-S",       memory,   parallel,
                                                "-T",  job.folder, "-o",   job.output, job.input};
            }};
}

FileContender cp_program() {
    return {"cp", FileRole::Copy, [](const FileJob& job) {
                return std::vector<std::string>{"cp", job.input, job.output};
            }};
}

FileContender direct_copy() {
    return {.name = "copy past the cache", .role = FileRole::Copy, .words = {}, .work = copy_past_the_cache};
}

BenchFolder::BenchFolder(const std::string& in) : path_(in + "/quadmill-bench-XXXXXX") {
    if (!mkdtemp(path_.data())) {
        throw IoError(
            fmt::format("cannot make a folder in '{}': {}; name another one with --folder", in, std::strerror(errno)),
            in, 0);
    }
}

BenchFolder::~BenchFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
}

FileCaseResult run_files(const BenchFolder& folder, const std::vector<FileContender>& contenders, std::uint64_t records,
                         int repeat) {
    Number128 checksum = 0;
    const auto make = [&](files::OutputFile& out) {
        make_file(out, {RecordKind::Ascii, KeySpread::Uniform}, 0, records);
        return records * record_bytes;
    };
    const auto look = [&](const std::string& path) {
        files::InputFile input(path);
        checksum = check_file(input).checksum;
    };
    const auto right = [&](const FileContender& contender, const std::string& path) {
        return is_right(contender, path, checksum);
    };
    return run_files(folder, contenders, {.records = records, .make = make, .look = look, .is_right = right}, repeat);
}

FileCaseResult run_files(const BenchFolder& folder, const std::vector<FileContender>& contenders, const FileTask& task,
                         int repeat) {
    const FileJob job{folder.file("input"), folder.file("output"), folder.path()};
    FileCaseResult found{task.records, 0, {}};
    {
        files::OutputFile input(job.input);
        found.bytes = task.make(input);
        input.commit();
    }
    sync_file(job.input);
    task.look(job.input);
    for (const auto& contender : contenders) found.results.push_back({.contender = &contender});
    std::vector<std::vector<FileRun>> runs(contenders.size());
    for (int repetition = 0; repetition < repeat; ++repetition) {
        for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
            const auto i = (turn + static_cast<std::size_t>(repetition)) % contenders.size();
            auto& result = found.results[i];
            if (!result.ran()) continue;
            FileRun run;
            result.refusal = run_once(contenders[i], job, run);
            if (!result.ran()) continue;
            result.verified = result.verified && task.is_right(contenders[i], job.output);
            runs[i].push_back(std::move(run));
        }
    }
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        if (!found.results[i].ran()) continue;
        spread_of(runs[i], &FileRun::ms).note_in(found.results[i]);
        found.results[i].output = std::move(middle_run(runs[i], &FileRun::ms).output);
    }
    return found;
}

std::vector<PairContender> pair_contenders() {
    auto four_arrays = paper_form_of_bitonic();
    four_arrays.paper.bitonic.representation = Representation::FourArray;
    four_arrays.paper.bitonic.block = 0;
    return {{"merge", {.engine = Engine::Merge}},
            {"bitonic", {.engine = Engine::Bitonic}},
            {paper_form, paper_form_of_bitonic()},
            {"the same in four arrays", four_arrays},
            {"pbsn, no pointers", {.engine = Engine::Pbsn}, Sorted::Keys},
            {"cpu", {.engine = Engine::Cpu}}};
}

PairCaseResult run_pairs(const std::optional<Context>& context, const std::string& why_no_context,
                         const std::vector<PairContender>& contenders, std::size_t n, int repeat) {
    PairCaseResult found{n, {}};
    std::vector<std::optional<Sorter>> sorters(contenders.size());
    std::vector<std::vector<SortStats>> runs(contenders.size());
    for (const auto& contender : contenders) {
        auto& result = found.results.emplace_back(PairResult{.contender = &contender});
        if (!context && !contender.is_rival()) result.refusal = why_no_context;
    }
    for (int repetition = 0; repetition <= repeat; ++repetition) {  // the first repetition is not counted
        SortData input{
            cpu::KeyBuffer(KeyType::F32, cpu::Distribution::Uniform, n, static_cast<std::uint64_t>(repetition))};
        for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
            const auto i = (turn + static_cast<std::size_t>(repetition)) % contenders.size();
            auto& result = found.results[i];
            if (!result.ran()) continue;
            const auto sorted = contenders[i].sorted;
            input.index.resize(sorted == Sorted::Keys ? 0 : n);
            result.refusal = refusal_of([&] {
                const PassCount count(context, result.passes);
                auto& sorter = sorters[i];
                if (!sorter && !contenders[i].is_rival()) sorter.emplace(*context, contenders[i].options);
                const auto sort = [&](SortData& data) {
                    return sort_by(sorter ? &*sorter : nullptr, sorted, data.keys.keys(), data.index);
                };
                if (sorter) {
                    wake(*context, [&] {
                        auto data = input;
                        sort(data);
                    });
                }
                auto data = input;
                const cpu::Stopwatch watch;
                auto stats = sort(data);
                stats.total_ms = watch.ms();  // measured by the same clock for all
                if (repetition > 0) runs[i].push_back(stats);
                result.verified = result.verified && is_right(sorted, input, data);
            });
        }
    }
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        auto& result = found.results[i];
        if (!result.ran()) continue;
        spread_of(runs[i], &SortStats::total_ms).note_in(result);
        result.parts = middle_run(runs[i], &SortStats::total_ms);
    }
    return found;
}

namespace {

constexpr std::size_t given_bytes = (std::size_t{1} << 20U) / record_bytes * record_bytes;  // per call

// Runs of records, one after the other in a file. Together they have all record numbers, and each run is sorted.
class RunFile {
  public:
    RunFile(const std::string& folder, const MergeCase& which) : file_(folder) {
        external::WideSorter sorter({}, Engine::Cpu, 0);
        std::uint64_t offset = 0;
        for (std::size_t run = 0; run < which.runs; ++run) {
            const auto first = which.records * run / which.runs, end = which.records * (run + 1) / which.runs;
            std::vector<std::byte> records((end - first) * record_bytes);
            RecordMaker({}, first).make(records);
            checksum_ += check_records(records).checksum;
            std::vector<std::uint32_t> order(end - first);
            sorter.argsort({.bytes = records, .stride = record_bytes, .length = record_key_bytes}, order);
            std::vector<std::byte> sorted(files::page_up(records.size()));
            for (std::size_t i = 0; i < order.size(); ++i)
                std::memcpy(sorted.data() + i * record_bytes, records.data() + order[i] * record_bytes, record_bytes);
            write(folder, sorted, offset);
            inputs_.push_back({{file_.descriptor(), offset, "runs in " + folder, folder}, records.size()});
            offset += sorted.size();
        }
    }
    [[nodiscard]] const std::vector<external::RunReader::Input>& inputs() const { return inputs_; }
    [[nodiscard]] Number128 checksum() const { return checksum_; }

  private:
    void write(const std::string& folder, std::span<const std::byte> bytes, std::uint64_t offset) const {
        while (!bytes.empty()) {
            const auto done = pwrite(file_.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (done < 0) throw IoError(folder + ": " + std::strerror(errno), folder, offset);
            bytes = bytes.subspan(static_cast<std::size_t>(done));
            offset += static_cast<std::uint64_t>(done);
        }
    }
    files::TemporaryFile file_;
    std::vector<external::RunReader::Input> inputs_;
    Number128 checksum_ = 0;
};

// Merges to memory, piece by piece. Returns the number of bytes.
std::size_t drain(external::Stream& stream, std::span<std::byte> memory) {
    for (std::size_t all = 0;;) {
        const auto piece = memory.subspan(all, std::min(given_bytes, memory.size() - all));
        const auto got = stream.fill(piece);
        all += got;
        if (got < piece.size() || all == memory.size()) return all;
    }
}

class PhaseTwo {
  public:
    PhaseTwo(const RunFile& runs, const MergeCase& which, const std::optional<Context>& context)
        : runs_(runs), which_(which), context_(context), memory_((which.records + 1) * record_bytes) {}

    external::GpuMergeStats run(MergeBy by) {
        external::StageClock reading;
        if (by == MergeBy::Losers) {
            const auto page = files::page;
            external::Merger tree(format_, runs_.inputs(),
                                  {.fan_in = which_.runs, .margin = page, .block = which_.block, .write_block = 0},
                                  reading, {});
            merged_ = drain(tree, memory_);
            return {};
        }
        external::GpuMerger merger(format_, runs_.inputs(), which_.block, context_.value(), 0, reading, {});
        merged_ = drain(merger, memory_);
        return merger.stats();
    }
    // Whether the last run merged exactly the input's records, in order. Resets the check.
    [[nodiscard]] bool is_right() {
        const auto check = check_records(std::span(memory_).first(merged_));
        std::ranges::fill(memory_, std::byte{});
        return check.unordered == 0 && check.checksum == runs_.checksum();
    }

  private:
    const RunFile& runs_;
    const MergeCase& which_;
    const std::optional<Context>& context_;
    external::Format format_{"bench external", {}};
    std::vector<std::byte> memory_;  // with space for one record too many; kept, so that timed runs do not allocate
    std::size_t merged_ = 0;         // bytes in memory_
};

}  // namespace

std::vector<MergeContender> merge_contenders() {
    return {{"merge engine", MergeBy::Gpu}, {"tree of losers", MergeBy::Losers}};
}

MergeCaseResult run_merges(const std::string& folder, const std::optional<Context>& context,
                           const std::string& why_no_context, const std::vector<MergeContender>& contenders,
                           const MergeCase& which, int repeat) {
    const RunFile runs(folder, which);
    PhaseTwo phase(runs, which, context);
    MergeCaseResult found{which, {}};
    std::vector<std::vector<double>> times(contenders.size());
    for (const auto& contender : contenders) {
        auto& result = found.results.emplace_back(MergeResult{.contender = &contender});
        if (contender.by == MergeBy::Gpu && !context) result.refusal = why_no_context;
    }
    for (int repetition = 0; repetition <= repeat; ++repetition) {  // the first repetition is not counted
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            auto& result = found.results[i];
            if (!result.ran()) continue;
            const auto by = contenders[i].by;
            result.refusal = refusal_of([&] {
                if (by == MergeBy::Gpu) wake(*context, [&] { phase.run(by); });
                const cpu::Stopwatch watch;
                result.parts = phase.run(by);
                const auto ms = watch.ms();
                if (repetition > 0) times[i].push_back(ms);
                result.verified = phase.is_right() && result.verified;
            });
        }
    }
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        if (found.results[i].ran()) Spread(std::move(times[i])).note_in(found.results[i]);
    }
    return found;
}

}  // namespace quadmill::detail::bench
