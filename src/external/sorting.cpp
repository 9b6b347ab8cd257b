#include "external/sorting.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "files/fault.hpp"
#include "files/files.hpp"
#include "files/temporary_file.hpp"

namespace quadmill::detail::external {

namespace {

using files::BlockIo;
using Phase = ExternalProgress::Phase;

std::vector<std::string> folders_of(const ExternalSortOptions& options) {
    return options.temp.empty() ? std::vector{files::temporary_folder()} : options.temp;
}

class NoRecords final : public RecordStream {
  public:
    [[nodiscard]] std::span<const std::byte> next() override { return {}; }
    [[nodiscard]] std::size_t fill(std::span<std::byte> /*memory*/) override { return 0; }
};

// Counts the bytes that are read.
class Counted final : public RecordStream {
  public:
    Counted(RecordStream& records, std::uint64_t& bytes) : records_(records), bytes_(bytes) {}
    [[nodiscard]] std::span<const std::byte> next() override {
        const auto record = records_.next();
        bytes_ += record.size();
        return record;
    }
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override {
        const auto filled = records_.fill(memory);
        bytes_ += filled;
        return filled;
    }

  private:
    RecordStream& records_;
    std::uint64_t& bytes_;
};

const ExternalSortOptions& checked(const char* function, const ExternalSortOptions& options,
                                   const std::optional<Context>& context) {
    if (context && context->info().platform == "adopted") {
        throw InvalidArgument(std::string(function) +
                              ": the sort has a thread of its own for the context, and an adopted "
                              "one belongs to its host's; give a headless one");
    }
    if (options.merge == RunMerge::Gpu && (!context || options.format.kind != RecordFormat::Kind::Fixed)) {
        throw InvalidArgument(std::string(function) + ": RunMerge::Gpu needs " +
                              (context ? "records of one length" : "a context") + "; use RunMerge::Tree");
    }
    const auto min = min_memory(Format(function, options.format));
    if (options.memory >= min) return options;
    throw InvalidArgument(std::string(function) + ": to sort such records takes at least " + std::to_string(min) +
                          " bytes of memory, not " + std::to_string(options.memory));
}

// Bytes of textures and staging memory. A software renderer's textures are main memory, too.
std::size_t engine_bytes(const std::optional<Context>& context, Engine engine) {
    if (engine == Engine::Cpu || !context) return 0;
    return context->info().software ? 64 : 24;
}

}  // namespace

Sorting::Sorting(const char* function, const ExternalSortOptions& options, Devices devices, Plans plans)
    : function_(function),
      options_(options),
      devices_(std::move(devices)),
      plans_(std::move(plans)),
      format_(function, checked(function, options, devices_.first()).format),
      resident_(resident_bytes()),
      report_(options.progress),
      space_(folders_of(options)),
      maker_(format_, options, devices_, space_, tick()),
      passes_before_(devices_.passes()),
      engine_bytes_(engine_bytes(devices_.first(), options.merge == RunMerge::Gpu ? Engine::Merge : maker_.engine())) {
    const auto now = resident_bytes();
    engine_held_ = now > resident_ ? now - resident_ : 0;
}

// Subtracts what the engine and its driver hold. The CPU engine holds memory only while it sorts.
std::size_t Sorting::memory_left(std::size_t records) const {
    // Small indexes are part of the reserve.
    const auto indexes = index_memory(options_.memory);
    auto taken = reserve + (indexes - std::min(indexes, reserve / 4));
    if (engine_bytes_ > 0)
        taken += 2 * devices_.sorters(options_.engine) * reserve + engine_held_ +
                 engine_bytes_ * records * devices_.sorters(options_.engine);  // drivers keep their memory
    return options_.memory - std::min(options_.memory, taken);
}

void Sorting::begin(const RunNeeds& needs, FilePlace source) {
    auto all = needs;
    all.engine_bytes = engine_bytes_;
    all.sorters = devices_.sorters(options_.engine);
    all.run_bytes = options_.paper.run_bytes;
    const auto plan = plans_.runs(format_, memory_left(0), all);
    if (!plan) {
        throw InvalidArgument(std::string(function_) + ": of " + std::to_string(options_.memory) +
                              " bytes of memory the engine leaves " + std::to_string(memory_left(0)) +
                              ", too few for a run; give more, or take Engine::Cpu");
    }
    block_ = plan->block;
    run_records_ = plan->size.records;
    maker_.start(*plan);
    const auto longest = [](std::size_t memory, const RunPlan& runs) {
        return std::min(longest_line(memory), runs.size.bytes - 1);
    };
    const auto memory_for = [this, all, longest](std::uint64_t bytes) {
        auto memory = std::max<std::size_t>(16 * bytes, options_.memory);
        for (;; memory += memory / 16) {
            const auto runs = plans_.runs(format_, memory_left(0) + (memory - options_.memory), all);
            if (runs && (longest(memory, *runs) >= bytes || all.run_bytes > 0)) return memory;
        }
    };
    longest_ = longest(options_.memory, *plan);
    filler_.emplace(format_, maker_, LineLimit{longest_, memory_for}, std::move(source));
    step_ = Step::Filling;
    report_.begin(Phase::Runs, needs.input_bytes.value_or(0));
}

void Sorting::ticked() {
    if (step_ != Step::Nothing) report_(step_ == Step::Filling ? filler_->bytes() : given_);
}

void Sorting::shape(Shape shape, EqualKeys equal) {
    shape_ = std::move(shape);
    equal_keys_ = equal;
}

void Sorting::finish() {
    in_memory_ = filler_->finish();
    runs_seconds_ = total_.ms() / 1e3;
    stats_.bytes = filler_->bytes();
    stats_.records = filler_->records();
    if (in_memory_) {
        workers_.emplace(options_.threads);
        if (!give_in_parts()) stream_ = std::make_unique<Gather>(*in_memory_, *workers_);
    } else {
        merge_runs();
    }
    records_ = dynamic_cast<RecordStream*>(stream_.get());
    if (shape_ && !parts_) {
        counted_ = std::make_unique<Counted>(*records_, given_);
        shaped_ = shape_(*counted_);
    }
    step_ = Step::Giving;
    report_.begin(Phase::Merge, stats_.bytes);
}

MergePlan Sorting::plan_for(std::size_t runs) const {
    const auto longest = maker_.longest_record();  // the merger keeps a key
    const auto left = memory_left(run_records_);
    const auto plan = plans_.merge(left - std::min(left, longest), runs, longest);
    if (!plan) throw InvalidArgument(std::string(function_) + ": the memory is too small to merge two runs; give more");
    return *plan;
}

std::size_t Sorting::gpu_block(std::size_t runs, const MergePlan& plan) const {
    const auto record = format_.fixed().value().record_bytes();
    const auto left = memory_left(run_records_);
    const auto takes = [&](std::size_t block) {
        const auto items = runs * (2 * block / record + 1);
        const bool software = devices_.first()->info().software;
        return GpuMerger::memory(format_, runs, block) + BlockWriter::blocks * plan.write_block +
               (software ? items * engine_bytes_ : 0);
    };
    const auto min = files::page_up(record);
    auto block = std::max(plan.block, min);
    while (block > min && takes(block) > left) block = std::max(files::page_down(block / 2), min);
    if (takes(block) <= left) return block;
    throw InvalidArgument(std::string(function_) + ": to merge " + std::to_string(runs) +
                          " runs on the GPU takes more memory than the " + std::to_string(options_.memory) +
                          " bytes given; give more, or take RunMerge::Tree");
}

std::unique_ptr<Stream> Sorting::merger(std::span<const RunMaker::Run> runs, const MergePlan& plan) {
    std::vector<Merger::Input> inputs;
    for (const auto& run : runs) inputs.push_back({.place = space_.place(run), .bytes = run.bytes});
    if (options_.merge == RunMerge::Gpu)
        return std::make_unique<GpuMerger>(format_, inputs, gpu_block(runs.size(), plan), *devices_.first(),
                                           options_.threads, merge_read_, tick());
    return std::make_unique<Merger>(format_, inputs, plan, merge_read_, tick());
}

// Merges runs until one merge takes all that are left, and begins that merge.
void Sorting::merge_runs() {
    runs_ = maker_.take_runs();
    stats_.runs = runs_.size();
    if (runs_.empty()) {
        stream_ = std::make_unique<NoRecords>();
        return;
    }
    sampling_ = maker_.sampling();
    auto plan = plan_for(runs_.size());
    for (; plan.fan_in < runs_.size(); plan = plan_for(runs_.size())) merge_some(plan);
    block_ = plan.write_block;
    for (const auto& run : runs_) stats_.merge_passes = std::max(stats_.merge_passes, run.passes + 1);
    if (!merge_in_ranges()) stream_ = merger(runs_, plan);
}

// Several threads merge, if there is memory for them. False otherwise.
bool Sorting::merge_in_ranges() {
    const auto threads = cpu::threads_or_all(options_.threads);
    if (threads < 2 || options_.merge == RunMerge::Gpu) return false;
    const auto longest = maker_.longest_record();  // each merger keeps a key
    RangeNeeds needs{.runs = runs_.size(), .longest_record = longest, .threads = threads};
    std::vector<IndexedRun> runs;
    for (const auto& run : runs_) {
        needs.bytes += run.bytes;
        needs.longest_gap = std::max(needs.longest_gap, run.index.longest_gap(run.bytes));
        runs.push_back({space_.place(run), run.bytes, &run.index});
    }
    const auto left = memory_left(run_records_), taken = BlockWriter::blocks * block_ + threads * longest;
    const auto plan = plans_.ranges(left - std::min(left, taken), needs);
    if (!plan) return false;
    ranges_.emplace(format_, std::move(runs), plan->range, equal_keys_);
    if (ranges_->size() == 1) return false;
    auto parts = merge_ranges(format_, *ranges_, *plan, shape_, merge_read_, merging_, tick());
    parts_ = parts.get();
    stream_ = std::move(parts);
    return true;
}

// Several threads shape sorted records in memory, in the memory of the sort, which has ended. False if they are few.
bool Sorting::give_in_parts() {
    constexpr std::size_t most = std::size_t{1} << 20U, least = std::size_t{64} << 10U;
    const auto threads = cpu::threads_or_all(options_.threads);
    if (!shape_ || threads < 2) return false;
    const auto free = WideSorter::memory(in_memory_->records()) / 2;
    const auto memory = files::page_down(std::min(most, free / Parts::memories(threads)));
    if (memory < least || in_memory_->bytes() / memory < threads) return false;
    const Parts::Plan plan{.parts = in_memory_->bytes() / memory, .threads = threads, .memory = memory};
    auto parts = give_parts(*in_memory_, plan, equal_keys_, shape_, maker_.clocks().reorder, tick());
    parts_ = parts.get();
    stream_ = std::move(parts);
    return true;
}

// Merges the consecutive runs with the fewest bytes in all: as many runs as are too many for the last merge.
void Sorting::merge_some(const MergePlan& plan) {
    auto& runs = runs_;
    const auto n = std::min(plan.fan_in, runs.size() - plan.fan_in + 1);
    std::uint64_t bytes = 0, fewest = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        bytes += runs[i].bytes;
        if (i + 1 > n) bytes -= runs[i - n].bytes;
        if (i + 1 == n || (i + 1 > n && bytes < fewest)) {
            fewest = bytes;
            first = i + 1 - n;
        }
    }
    const std::span some(runs.data() + first, n);
    auto merged = RunMaker::Run{space_.begin()};
    {
        const auto stream = merger(some, plan);
        IndexedStream indexed(format_, *stream, sampling_.interval, merged.index);
        BlockWriter writer(BlockIo::Method::Auto, plan.write_block, merge_write_, tick());
        writer.begin(space_.place(merged));
        merged.bytes = writer.write_all(indexed, merging_);
    }
    for (const auto& run : some) {
        merged.passes = std::max(merged.passes, run.passes + 1);
        merged.records += run.records;
        space_.release(run);
    }
    space_.end(merged);
    const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(first);
    *begin = std::move(merged);
    runs.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(n));
    RunMaker::limit_indexes(runs, sampling_);
}

std::size_t Sorting::fill(std::span<std::byte> memory) {
    if (!stream_) throw InvalidArgument(std::string(function_) + ": the sort has failed before; there is nothing");
    if (shaped_) return shaped_->fill(memory);
    const auto filled = stream_->fill(memory);
    given_ = parts_ ? static_cast<std::uint64_t>(parts_->given() * static_cast<double>(stats_.bytes)) : given_ + filled;
    if (format_.kind() == RecordFormat::Kind::Lines) decode_lines(memory.first(filled));
    return filled;
}

std::span<const std::byte> Sorting::next() {
    if (!records_) throw InvalidArgument(std::string(function_) + ": the sort has failed before; there is nothing");
    const auto record = records_->next();
    given_ += record.size();
    return record;
}

std::uint64_t Sorting::write(FilePlace place, BlockIo::Method method) {
    auto& clocks = maker_.clocks();
    BlockWriter writer(method, block_, in_memory_ ? clocks.write : merge_write_, tick());
    writer.begin(std::move(place));
    return writer.write_all(*this, in_memory_ ? clocks.reorder : merging_);
}

void Sorting::write(Stream& stream, files::OutputFile& out) {
    auto& clocks = maker_.clocks();
    write_stream(stream, out, block_, in_memory_ ? clocks.write : merge_write_, in_memory_ ? clocks.reorder : merging_,
                 tick());
}

ExternalSortStats Sorting::stats(const char* io) {
    auto& clocks = maker_.clocks();
    auto stats = stats_;
    stats.io = io;
    stats.run_bytes = maker_.longest_run();
    stats.tied = maker_.tied();
    stats.engine = maker_.engine();
    stats.passes = devices_.passes() - passes_before_;
    stats.seconds = total_.ms() / 1e3;
    stats.runs_seconds = stats.runs > 0 ? runs_seconds_ : stats.seconds;
    stats.merge_seconds = stats.seconds - stats.runs_seconds;
    stats.peak_bytes = peak_resident_bytes();
    stats.stages = stages_of({{"read", &clocks.read},
                              {"keys", &clocks.keys},
                              {"sort", &clocks.sort},
                              {"reorder", &clocks.reorder},
                              {"write", &clocks.write}});
    if (stats.runs == 0) return stats;
    const auto merge = stages_of({{"merge_read", &merge_read_}, {"merge", &merging_}, {"merge_write", &merge_write_}});
    stats.stages.insert(stats.stages.end(), merge.begin(), merge.end());
    return stats;
}

namespace {

FilePlace place_of(const files::InputFile& file) {
    return {file.descriptor(), 0, file.name(), file.path(), file.size() && file.path() != "-"};
}

void must_differ(const files::InputFile& input, const std::string& output) {
    if (!files::same_file(input.path(), output)) return;
    throw InvalidArgument("sort_file: the output '" + output + "' is the input " + input.name() +
                          "; give it another name, since the input is only read");
}

// Estimated bytes per line, from the first lines. Rather too low, since too many lines would end a run early.
std::size_t mean_line(const files::InputFile& file) {
    std::vector<char> head(std::size_t{1} << 16U);
    if (file.size()) {
        const auto got = files::read_at(file.descriptor(), std::as_writable_bytes(std::span(head)), 0);
        head.resize(got.bytes);
    }
    if (!file.size() || head.empty()) return 16;
    const auto lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')) + 1;
    return std::max<std::size_t>(head.size() / lines * 3 / 4, 1);
}

void read_all(Sorting& sorting, const files::InputFile& in, BlockIo::Method method, std::string& io_name) {
    Transfers io(method, sorting.read_clock(), sorting.tick());
    io_name = io.name();
    if (method == BlockIo::Method::Stream) {
        sorting.filler().read_stream(sorting.block(), io);
    } else {
        sorting.filler().read_file(*in.size(), sorting.block(), io);
    }
}

}  // namespace

void write_stream(Stream& stream, files::OutputFile& out, std::size_t block, StageClock& writing, StageClock& filling,
                  const Tick& tick) {
    if (out.is_regular()) files::make_direct(out.descriptor());
    const FilePlace place{out.descriptor(), 0, out.name(), out.path()};
    BlockWriter writer(out.is_regular() ? BlockIo::Method::Auto : BlockIo::Method::Stream, block, writing, tick);
    writer.begin(place);
    const auto bytes = writer.write_all(stream, filling);
    if (!out.is_regular()) return;
    // The last page was written completely.
    if (files::fails(files::Call::Truncate) || ftruncate(out.descriptor(), static_cast<off_t>(bytes)) != 0)
        fail_io("write", place, bytes, errno);
    out.sync();
}

ExternalSortStats sort_between(const std::string& input, const std::string& output, const ExternalSortOptions& options,
                               Devices devices, const Plans& plans) {
    const files::InputFile in(input);
    must_differ(in, output);
    Sorting sorting("sort_file", options, std::move(devices), plans);
    files::OutputFile out(output, files::OutputFile::OnSignal::LeaveAlone);
    out.must_be_open();
    const bool has_offsets = in.size() && input != "-";
    sorting.begin({.input_bytes = has_offsets ? in.size() : std::nullopt, .mean_line = mean_line(in)}, place_of(in));
    if (has_offsets) files::make_direct(in.descriptor());
    std::string io;
    read_all(sorting, in, has_offsets ? BlockIo::Method::Auto : BlockIo::Method::Stream, io);
    sorting.finish();
    sorting.write(sorting, out);
    out.commit();
    return sorting.stats(io.c_str());
}

}  // namespace quadmill::detail::external
