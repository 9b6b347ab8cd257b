// External sorts of files by programs: the library's, GNU sort, and `cp` as the lower bound. Also their work in memory:
// pairs of a key and a pointer, sorted by the engines and by the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/sort_bench.hpp"
#include "bench/sort_records.hpp"
#include "external/gpu_merge.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

// A new folder in another one. It is removed with its content.
class BenchFolder {
  public:
    // Throws IoError.
    explicit BenchFolder(const std::string& in);
    BenchFolder(const BenchFolder&) = delete;
    BenchFolder& operator=(const BenchFolder&) = delete;
    ~BenchFolder();
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// The input and output of one run of a program.
struct FileJob {
    std::string input, output, folder;  // the folder is for temporary files
};

enum class FileRole { Engine, Sort, Copy };

// A program that makes the output from the input. A program that copies is not checked for order.
struct FileContender {
    std::string name;
    FileRole role;
    std::function<std::vector<std::string>(const FileJob&)> words;
    std::function<void(const FileJob&)> work{};  // runs instead of a program
    [[nodiscard]] bool is_rival() const { return role != FileRole::Engine; }
};
// `quadmill terasort` of this program with that engine and further options, on that device unless it is -1.
[[nodiscard]] FileContender terasort_program(std::string name, const std::string& engine, const std::string& memory,
                                             int device, std::vector<std::string> more = {});
// On all threads.
[[nodiscard]] FileContender gnu_sort(const std::string& memory);
[[nodiscard]] FileContender cp_program();
// Reads and writes at the same time, with many blocks in flight, past the system's cache: the rate of the disk. Refused
// if the file system cannot do that.
[[nodiscard]] FileContender direct_copy();

struct FileResult {
    const FileContender* contender;
    std::string refusal{};  // reason if it did not run, or failed
    bool verified = true;   // all runs: the same records, and in order
    double ms = 0, low_ms = 0, high_ms = 0;
    std::string output{};  // standard output of the median run
    [[nodiscard]] bool ran() const { return refusal.empty(); }
};

struct FileCaseResult {
    std::uint64_t records, bytes;
    std::vector<FileResult> results;  // in the order of the contenders
};

// A file to sort. `make` writes it and returns its bytes, `look` takes note of what it has, and `is_right` checks an
// output against that.
struct FileTask {
    std::uint64_t records;
    std::function<std::uint64_t(files::OutputFile& out)> make;
    std::function<void(const std::string& path)> look;
    std::function<bool(const FileContender& contender, const std::string& path)> is_right;
};
// Runs the contenders alternately. The time is from the start of the program until the output is on the disk. The input
// is not in the system's cache.
[[nodiscard]] FileCaseResult run_files(const BenchFolder& folder, const std::vector<FileContender>& contenders,
                                       const FileTask& task, int repeat);

// Runs them on the benchmark's ASCII records.
[[nodiscard]] FileCaseResult run_files(const BenchFolder& folder, const std::vector<FileContender>& contenders,
                                       std::uint64_t records, int repeat);

// A sort of pairs, or only of their keys. The CPU is the rival.
struct PairContender {
    std::string name;
    SortOptions options;
    Sorted sorted = Sorted::Pairs;
    [[nodiscard]] bool is_rival() const { return options.engine == Engine::Cpu; }
    [[nodiscard]] bool draws() const { return !is_rival(); }
};

// GPUTeraSort's own form of its network.
inline constexpr const char* paper_form = "bitonic, a step a pass";
// The contenders of the paper's figures 6, 8 and 9.
[[nodiscard]] std::vector<PairContender> pair_contenders();

struct PairResult {
    const PairContender* contender;
    std::string refusal{};
    bool verified = true;
    double ms = 0, low_ms = 0, high_ms = 0;
    std::uint64_t passes = 0;  // drawn in all runs, including untimed ones
    SortStats parts{};         // of the median run
    [[nodiscard]] bool ran() const { return refusal.empty(); }
    // Transfers of keys and pointers, in percent of the time.
    [[nodiscard]] double transfer_percent() const {
        return ms > 0 ? 100 * (parts.upload_ms + parts.readback_ms) / ms : 0;
    }
};

struct PairCaseResult {
    std::size_t n;
    std::vector<PairResult> results;
};

// Sorts uniform 32-bit floats and their indices, from memory to memory, with contenders alternating.
[[nodiscard]] PairCaseResult run_pairs(const std::optional<Context>& context, const std::string& why_no_context,
                                       const std::vector<PairContender>& contenders, std::size_t n, int repeat);

enum class MergeBy { Losers, Gpu };

struct MergeContender {
    std::string name;
    MergeBy by;
    [[nodiscard]] bool is_rival() const { return by == MergeBy::Losers; }
};

struct MergeResult {
    const MergeContender* contender;
    std::string refusal{};
    bool verified = true;
    double ms = 0, low_ms = 0, high_ms = 0;
    external::GpuMergeStats parts{};  // of the last run on the GPU
    [[nodiscard]] bool ran() const { return refusal.empty(); }
};

// The input of phase 2: sorted runs of the benchmark's binary records, in a temporary file.
struct MergeCase {
    std::size_t records, runs, block;  // bytes of a run that are read at a time
};

struct MergeCaseResult {
    MergeCase which;
    std::vector<MergeResult> results;
};

[[nodiscard]] std::vector<MergeContender> merge_contenders();

// Phase 2 without writing: from runs, possibly in the system's cache, to records in memory.
[[nodiscard]] MergeCaseResult run_merges(const std::string& folder, const std::optional<Context>& context,
                                         const std::string& why_no_context,
                                         const std::vector<MergeContender>& contenders, const MergeCase& which,
                                         int repeat);

}  // namespace quadmill::detail::bench
