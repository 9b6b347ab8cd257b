// Both phases of the external sort.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cpu/stopwatch.hpp"
#include "cpu/workers.hpp"
#include "external/devices.hpp"
#include "external/filler.hpp"
#include "external/gpu_merger.hpp"
#include "external/merger.hpp"
#include "external/range_merge.hpp"
#include "files/files.hpp"

namespace quadmill::detail::external {

// Sizes of slots and blocks, computed from the memory or given by a test.
struct Plans {
    std::function<std::optional<RunPlan>(const Format& format, std::size_t memory, const RunNeeds& needs)> runs =
        plan_runs;
    std::function<std::optional<MergePlan>(std::size_t memory, std::size_t runs, std::size_t longest)> merge =
        plan_merge;
    std::function<std::optional<RangePlan>(std::size_t memory, const RangeNeeds& needs)> ranges = plan_ranges;
};

// Calls the progress callback from time to time.
class Reporter {
  public:
    explicit Reporter(std::function<Proceed(const ExternalProgress&)> callback) : callback_(std::move(callback)) {}
    void begin(ExternalProgress::Phase phase, std::uint64_t total) {
        progress_ = {.phase = phase, .bytes = 0, .total = total, .seconds = 0};
        phase_time_ = {};
        report();
    }
    void operator()(std::uint64_t bytes) {
        progress_.bytes = bytes;
        if (since_.ms() > 100) report();
    }

  private:
    void report() {
        since_ = {};
        progress_.seconds = phase_time_.ms() / 1e3;
        if (callback_ && callback_(progress_) == Proceed::Stop) throw SortStopped("the sort was stopped");
    }
    std::function<Proceed(const ExternalProgress&)> callback_;
    ExternalProgress progress_;
    cpu::Stopwatch since_, phase_time_;
};

// Both phases. As a stream it gives the records in order, or what their shape makes of them.
class Sorting final : public RecordStream {
  public:
    Sorting(const char* function, const ExternalSortOptions& options, Devices devices, Plans plans);

    // Call it before adding input. `source` is for messages.
    void begin(const RunNeeds& needs, FilePlace source);
    [[nodiscard]] Filler& filler() { return *filler_; }
    [[nodiscard]] std::size_t block() const { return block_; }
    [[nodiscard]] StageClock& read_clock() { return maker_.clocks().read; }
    [[nodiscard]] Tick tick() {
        return [this] { ticked(); };
    }
    // Makes the output of consecutive records. With EqualKeys::Together it gets all records with a key. Call it before
    // finish(). The output is then read with fill().
    void shape(Shape shape, EqualKeys equal);
    // Ends the input. From then on the output can be read.
    void finish();
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    // Pre: records tell their length.
    [[nodiscard]] std::span<const std::byte> next() override;
    // Writes all bytes to a place. Returns their number.
    std::uint64_t write(FilePlace place, files::BlockIo::Method method);
    // Writes a stream that takes its bytes from this one, such as this one itself, and waits until it is on the disk.
    void write(Stream& stream, files::OutputFile& out);
    // Max bytes of a record, if records have different lengths.
    [[nodiscard]] std::size_t longest_record() const { return longest_; }
    [[nodiscard]] ExternalSortStats stats(const char* io);

  private:
    // CPU memory that is left if the engine sorts that many records together.
    [[nodiscard]] std::size_t memory_left(std::size_t records) const;
    void ticked();
    void merge_runs();
    [[nodiscard]] MergePlan plan_for(std::size_t runs) const;
    void merge_some(const MergePlan& plan);
    [[nodiscard]] std::unique_ptr<Stream> merger(std::span<const RunMaker::Run> runs, const MergePlan& plan);
    bool merge_in_ranges();
    bool give_in_parts();
    // Bytes of each run that the merge engine has in memory. Throws InvalidArgument if memory is too small.
    [[nodiscard]] std::size_t gpu_block(std::size_t runs, const MergePlan& plan) const;

    const char* function_;
    ExternalSortOptions options_;
    Devices devices_;
    Plans plans_;
    Format format_;
    std::size_t resident_;  // bytes of the program at the beginning
    cpu::Stopwatch total_;
    double runs_seconds_ = 0;
    Reporter report_;
    enum class Step { Nothing, Filling, Giving } step_ = Step::Nothing;
    std::uint64_t given_ = 0;
    TemporarySpace space_;
    RunMaker maker_;
    std::uint64_t passes_before_;
    std::size_t engine_bytes_, engine_held_ = 0, run_records_ = 0, block_ = 0, longest_ = 0;
    std::optional<Filler> filler_;
    Slot* in_memory_ = nullptr;
    std::optional<cpu::Workers> workers_;
    StageClock merge_read_, merging_, merge_write_;
    Shape shape_;
    EqualKeys equal_keys_ = EqualKeys::Apart;
    std::vector<RunMaker::Run> runs_;
    Sampling sampling_;
    std::optional<Ranges> ranges_;
    std::unique_ptr<Stream> stream_;
    RecordStream* records_ = nullptr;  // the same stream, if it gives records
    std::unique_ptr<RecordStream> counted_;
    std::unique_ptr<Stream> shaped_;  // of these records
    Parts* parts_ = nullptr;          // the stream, if threads make its parts
    ExternalSortStats stats_;
};

// Writes a stream, and waits until it is on the disk. `filling` counts the stream's time.
void write_stream(Stream& stream, files::OutputFile& out, std::size_t block, StageClock& writing, StageClock& filling,
                  const Tick& tick);

// sort_file() with other plans, for tests.
ExternalSortStats sort_between(const std::string& input, const std::string& output, const ExternalSortOptions& options,
                               Devices devices, const Plans& plans = {});

}  // namespace quadmill::detail::external
