/// Sorting files that are larger than memory, by keys of any width: GPUTeraSort. sort_file() (line 97) sorts a file.
/// ExternalSorter (line 114) sorts records that a program pushes. Before them are the format of records and the
/// options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/device_group.hpp"
#include "quadmill/error.hpp"
#include "quadmill/paper.hpp"
#include "quadmill/sort.hpp"

namespace quadmill {

enum class Proceed;
struct ExternalProgress;
struct ExternalSortStats;

/// The type of a key field. Numbers are little-endian, except those that end in Be, which are big-endian. (A big-endian
/// unsigned number is Bytes.)
enum class FieldType { Bytes, U8, I8, U16, I16, F16, U32, I32, F32, U64, I64, F64, I16Be, I32Be, F32Be, I64Be, F64Be };

/// A field of a record that determines its order. Bytes compare as unsigned numbers, one after the other; numbers as
/// Order describes, -0 before +0 and NaNs last.
struct KeyField {
    std::size_t offset = 0;             ///< from the beginning of the record
    std::size_t bytes = 10;             ///< of FieldType::Bytes; other types have their own size
    FieldType type = FieldType::Bytes;  ///< of its bytes
    Order order = Order::Ascending;     ///< of this field; each has its own
};

/// The records of a file.
struct RecordFormat {
    /// Fixed length, lines or records that tell their length.
    enum class Kind {
        Fixed,  ///< records of `bytes` bytes each, ordered by the first key field, then by the second, ...
        Lines,  ///< lines of text, ordered by all their bytes, as `LC_ALL=C sort` does. If the last line does not end
                ///< with a newline, it gets one. A line may take at most a sixteenth of the memory
        Sized   ///< records with a header of three little-endian 32-bit numbers: the bytes of the record with its
                ///< header, the offset of the key in the record, the bytes of the key. Keys compare as unsigned bytes;
                ///< if one key is the beginning of another, it comes first. The limit of lines applies
    };
    Kind kind = Kind::Fixed;        ///< which of the three
    std::size_t bytes = 100;        ///< of a record, 1 to 65535
    std::vector<KeyField> key{{}};  ///< at least one; together at most 255 bytes
};

/// How runs are merged if a file does not fit into memory.
enum class RunMerge {
    Tree,  ///< a tree of losers on the CPU: faster in all measurements (docs/notes/files.md)
    Gpu,   ///< the merge engine on keys and pointers, block by block; records of one length, and a context
};

/// How a file is sorted.
struct ExternalSortOptions {
    RecordFormat format{};  ///< of input and output
    /// Max memory of the sort in bytes, in addition to what the program already has.
    std::size_t memory = std::size_t{256} << 20;
    /// Folders for runs, used in turn. Empty: the environment variable TMPDIR, or /tmp. Nothing is written to them if
    /// everything fits into memory.
    std::vector<std::string> temp{};
    /// The engine that sorts the keys of a run. Auto chooses the CPU without a context and on a software renderer.
    /// Hybrid and Pbsn, which carry no index, are refused, and so are GPU engines without a context.
    Engine engine = Engine::Auto;
    RunMerge merge = RunMerge::Tree;  ///< if there are several runs
    /// CPU threads, in addition to those of the pipeline; 0: as many as the machine has.
    unsigned threads = 0;
    ExternalPaperOptions paper{};  ///< the size of runs
    /// Called on the calling thread, about ten times per second. Stop ends the sort with SortStopped.
    std::function<Proceed(const ExternalProgress&)> progress{};
};

/// Sorts a file into another. `-` is standard input or output.
///
/// Guarantee: the output is a permutation of the input's records, in the order of their keys; records of equal keys
/// stay in the order of the input. The input is only read. The output appears under its name only when it is complete
/// and on the disk. Temporary files have no name, so a killed program leaves nothing. (If a file system does not allow
/// that, and for an incomplete output, the next sort removes what is left.)
/// Memory: at most ExternalSortOptions::memory bytes; a test holds it to that.
/// Cost: one pass over the data if it fits into memory, otherwise two (each reads and writes everything), and more only
/// if memory cannot hold a block of each run: with 256 MiB above about 25 GB.
/// Throws: InvalidArgument for an invalid format, options or memory, if the output is the input, and for an adopted
/// context; IoError, with path and offset, for files, also for a truncated last record and for a line that is too long;
/// SortStopped; what Sorter throws; std::bad_alloc.
/// Source: SIGMOD'06 (Govindaraju, Gray, Kumar, Manocha: GPUTeraSort), section 3.3.
///
///     sort_file("in.dat", "out.dat", {.format = {.bytes = 100}, .memory = 256 << 20});
QUADMILL_API ExternalSortStats sort_file(const std::string& input, const std::string& output,
                                         const ExternalSortOptions& options = {},
                                         const std::optional<Context>& context = {});

/// sort_file() with several devices: each takes one run after another; one device sorts a file that fits into memory. A
/// device that fails is left out, its run goes to another one, and DeviceGroup::shares() says so (keys: records).
/// Throws: as sort_file(); InvalidArgument while the group has another sorter, GlError if no device is left.
QUADMILL_API ExternalSortStats sort_file(const std::string& input, const std::string& output,
                                         const ExternalSortOptions& options, const DeviceGroup& group);

/// Sorts records that a program pushes, and returns them in order.
///
/// Guarantee, Memory, Throws: as sort_file().
///
///     ExternalSorter sorter({.format = {.bytes = 8, .key = {{.type = FieldType::U64}}}});
///     sorter.push(std::as_bytes(std::span(numbers)));  // any number of times
///     while (const auto n = sorter.pull(std::as_writable_bytes(std::span(sorted)))) take(n);
class QUADMILL_API ExternalSorter {
  public:
    /// Without a context it needs no OpenGL.
    /// Throws: as sort_file().
    explicit ExternalSorter(const ExternalSortOptions& options = {}, const std::optional<Context>& context = {});
    /// With several devices, which belong to this sorter while it lives.
    /// Throws: as sort_file() of a group.
    ExternalSorter(const ExternalSortOptions& options, const DeviceGroup& group);
    ExternalSorter(ExternalSorter&&) noexcept;
    ExternalSorter& operator=(ExternalSorter&&) noexcept;
    ~ExternalSorter();

    /// Adds bytes of records, which may end within a record. Waits while the sorter is behind.
    /// Pre: nothing was pulled.
    void push(std::span<const std::byte> bytes);
    /// Copies the next bytes of the records in order to `bytes` and returns their number: all that fit, fewer only at
    /// the end, then 0. The first call ends the input.
    [[nodiscard]] std::size_t pull(std::span<std::byte> bytes);
    /// Statistics so far. The times of stages are available when everything is pulled.
    [[nodiscard]] ExternalSortStats stats() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A stage of the pipeline and its time.
struct ExternalStage {
    std::string name;    ///< "read", "keys", "sort", "reorder", "write"; "merge_read", "merge", "merge_write"
    double seconds = 0;  ///< of work
    double hidden = 0;   ///< fraction of `seconds` during which the slowest stage of its phase worked, too
};

/// Statistics of a sort.
struct ExternalSortStats {
    std::uint64_t bytes = 0;         ///< of the sorted records
    std::uint64_t records = 0;       ///< sorted
    std::uint64_t runs = 0;          ///< written to temporary files; 0 if everything fitted into memory
    std::uint64_t run_bytes = 0;     ///< of the longest run
    std::uint64_t merge_passes = 0;  ///< max number of times that a byte was merged
    std::uint64_t peak_bytes = 0;    ///< peak resident memory of the whole process; 0 if unknown
    std::uint64_t tied = 0;          ///< keys that needed more than their first word
    Engine engine = Engine::Cpu;     ///< the engine that sorted the runs
    std::uint64_t passes = 0;        ///< passes drawn, on all devices; 0 without a device
    std::string io;                  ///< how files were read and written: "io_uring", "threads" or "stream"
    double seconds = 0, runs_seconds = 0, merge_seconds = 0;  ///< total, and of both phases
    std::vector<ExternalStage> stages;                        ///< in the order of the pipeline
};

/// Progress of a sort.
struct ExternalProgress {
    /// The phases of a sort.
    enum class Phase {
        Runs,  ///< parts that fit into memory are read, sorted and written
        Merge  ///< they are read again, merged and written
    };
    Phase phase = Phase::Runs;  ///< the current one
    std::uint64_t bytes = 0;    ///< done in this phase
    std::uint64_t total = 0;    ///< bytes of this phase; 0 if unknown, as for a pipe
    double seconds = 0;         ///< since the phase began
};

/// The progress callback's answer.
enum class Proceed { GoOn, Stop };

/// The progress callback has stopped the sort. The output is as it was before.
class QUADMILL_API SortStopped final : public Error {
  public:
    using Error::Error;
    ~SortStopped() override;
};

/// The smallest ExternalSortOptions::memory for records of that format with the CPU as engine.
/// Units: bytes.
/// Throws: InvalidArgument for an invalid format.
[[nodiscard]] QUADMILL_API std::size_t min_memory(const RecordFormat& format);

}  // namespace quadmill
