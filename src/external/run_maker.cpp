#include "external/run_maker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace quadmill::detail::external {

namespace {

// The first sort compiles and loads programs, which takes memory that the plan must know.
void warm_up(WideSorter& sorter) {
    if (sorter.engine() == Engine::Cpu) return;
    std::vector<std::byte> keys(std::size_t{1} << 19U);
    std::vector<std::uint32_t> order(keys.size() / 16);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::byte>(i / 16 * 2654435761U >> i % 16);
    static_cast<void>(sorter.argsort({keys, 16, 16, {}}, order));
}

}  // namespace

template <class Loop>
std::thread RunMaker::thread(Loop loop) {
    return std::thread([this, loop] { gate_.run(loop); });
}

RunMaker::RunMaker(const Format& format, const ExternalSortOptions& options, const Devices& devices,
                   TemporarySpace& space, Tick tick)
    : format_(format),
      devices_(devices),
      space_(space),
      tick_(std::move(tick)),
      threads_(options.threads),
      sampling_{.memory = index_memory(options.memory)},
      sorters_left_(devices.sorters(options.engine)) {
    threads_ = cpu::threads_or_all(threads_);
    const std::size_t sorters = sorters_left_;
    try {
        for (std::size_t place = 0; place < sorters; ++place)
            sorters_.push_back(thread([this, place, engine = options.engine] { sort_loop(place, engine); }));
        for (std::size_t i = 0; i < sorters; ++i) engine_ = wait_for(ready_).value_or(engine_);
    } catch (...) {
        join();
        throw;
    }
}

RunMaker::~RunMaker() {
    join();
}

void RunMaker::join() {
    gate_.fail({});
    for (auto& sorter : sorters_) sorter.join();
    sorters_.clear();
    if (writer_.joinable()) writer_.join();
}

void RunMaker::start(const RunPlan& plan) {
    block_ = plan.block;
    sampling_.interval = plan.interval;
    for (std::size_t i = 0; i < plan.slots; ++i) {
        slots_.push_back(std::make_unique<Slot>(format_, plan.size));
        free_.push(slots_.back().get());
    }
    writer_ = thread([this] { write_loop(); });
}

Slot& RunMaker::slot() {
    auto& slot = *wait_for(free_);
    slot.reset(0);
    return slot;
}

void RunMaker::submit(Slot& slot) {
    longest_ = std::max(longest_, slot.longest());
    longest_run_ = std::max<std::uint64_t>(longest_run_, slot.bytes());
    full_.push({&slot, Work::Then::Write, submitted_++});
}

void RunMaker::sort(Slot& slot) {
    longest_ = slot.longest();
    longest_run_ = slot.bytes();
    full_.push({&slot, Work::Then::Keep});
    wait_for(kept_);
    std::erase_if(slots_, [&](const auto& other) { return other.get() != &slot; });
}

void RunMaker::finish() {
    // Devices may fail until the last run is sorted, and another one must then still be there.
    for (std::uint64_t i = 0; i < submitted_; ++i) wait_for(done_);
    full_.close();
    wait_for(written_);
    for (auto& sorter : sorters_) sorter.join();
    sorters_.clear();
    writer_.join();
    std::ranges::sort(runs_, {}, &Run::number);
    if (!runs_.empty()) slots_.clear();
}

void RunMaker::sort_loop(std::size_t place, Engine engine) {
    std::optional<Work> work;
    try {
        const auto& contexts = devices_.contexts();
        WideSorter sorter(contexts.empty() ? std::nullopt : std::optional(contexts[place]), engine, threads_);
        warm_up(sorter);
        ready_.push(sorter.engine());
        while ((work = full_.pop())) {
            {
                const AtWork at_work(clocks_.sort);
                tied_ += sorter.argsort(work->slot->keys(), work->slot->order()).tied;
            }
            devices_.has_sorted(place, work->slot->records());
            const bool is_kept = work->then == Work::Then::Keep;
            (is_kept ? kept_ : sorted_).push(*work);
            if (!is_kept) done_.push(true);
        }
    } catch (...) {
        return leave_out(place, work, std::current_exception());
    }
    if (--sorters_left_ == 0) sorted_.close();
}

void RunMaker::leave_out(std::size_t place, const std::optional<Work>& work, const std::exception_ptr& why) {
    const bool others_may = devices_.has_failed(place, why);
    if (--sorters_left_ == 0 || !others_may) std::rethrow_exception(why);
    if (work) {
        full_.push(*work);
    } else {
        ready_.push({});  // its construction failed
    }
}

void RunMaker::write_loop() {
    std::optional<BlockWriter> writer;
    cpu::Workers workers(std::max(1U, threads_ / 2));
    while (const auto work = sorted_.pop()) {
        if (!writer) {
            writer.emplace(files::BlockIo::Method::Auto, block_, clocks_.write, [this] {
                if (gate_.failed()) throw Abandoned{};
            });
        }
        write_run(*work, *writer, workers);
        free_.push(work->slot);
    }
    written_.push(true);
}

void RunMaker::write_run(const Work& work, BlockWriter& writer, cpu::Workers& workers) {
    auto& slot = *work.slot;
    Run run{space_.begin(), slot.records(), work.number};
    writer.begin(space_.place(run));
    Gather gather(slot, workers);
    IndexedStream indexed(format_, gather, sampling_.interval, run.index);
    run.bytes = writer.write_all(indexed, clocks_.reorder);
    space_.end(run);
    runs_.push_back(std::move(run));
    limit_indexes(runs_, sampling_);
}

void RunMaker::limit_indexes(std::vector<Run>& runs, Sampling& sampling) {
    const auto memory = [&] {
        std::size_t bytes = 0;
        for (const auto& run : runs) bytes += run.index.memory();
        return 2 * bytes;  // vectors may have twice the memory that they need
    };
    for (; memory() > sampling.memory; sampling.interval *= 2) {
        for (auto& run : runs) run.index.thin();
    }
}

}  // namespace quadmill::detail::external
