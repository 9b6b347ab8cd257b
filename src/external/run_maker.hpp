// Phase 1: one thread, or one per device, sorts full slots. Another thread writes them as runs, while the next slot is
// filled.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "external/devices.hpp"
#include "external/gate.hpp"
#include "external/plan.hpp"
#include "external/run_index.hpp"
#include "external/wide_sort.hpp"

namespace quadmill::detail::external {

class RunMaker {
  public:
    struct Clocks {
        StageClock read, keys, sort, reorder, write;
    };
    struct Run : TemporarySpace::Run {
        std::uint64_t records = 0, number = 0;  // number: in the order of the input
        RunIndex index{};
    };

    // The sorting threads own the contexts until the end. The constructor returns when the engines are ready.
    RunMaker(const Format& format, const ExternalSortOptions& options, const Devices& devices, TemporarySpace& space,
             Tick tick);
    RunMaker(const RunMaker&) = delete;
    RunMaker& operator=(const RunMaker&) = delete;
    ~RunMaker();

    // Makes the slots. Pre: called once, before any of the following.
    void start(const RunPlan& plan);
    // An empty slot. Waits until there is one.
    Slot& slot();
    // Sorts records and writes them as the next run.
    void submit(Slot& slot);
    // Sorts all records in memory.
    void sort(Slot& slot);
    // Waits for all runs, and frees all memory except a slot that was sorted in memory.
    void finish();

    // Pre: called once, after finish().
    [[nodiscard]] std::vector<Run> take_runs() { return std::move(runs_); }
    [[nodiscard]] const Sampling& sampling() const { return sampling_; }
    // Thins the indexes of runs until they fit into their memory.
    static void limit_indexes(std::vector<Run>& runs, Sampling& sampling);
    [[nodiscard]] std::size_t longest_record() const { return longest_; }
    [[nodiscard]] std::uint64_t longest_run() const { return longest_run_; }
    [[nodiscard]] std::uint64_t tied() const { return tied_; }
    [[nodiscard]] Engine engine() const { return engine_; }
    [[nodiscard]] Clocks& clocks() { return clocks_; }

  private:
    struct Work {
        Slot* slot = nullptr;
        enum class Then { Write, Keep } then = Then::Write;
        std::uint64_t number = 0;
    };
    template <class Loop>
    std::thread thread(Loop loop);
    // Sorts with devices_.contexts()[place], or with the CPU if there are no contexts.
    void sort_loop(std::size_t place, Engine engine);
    // Leaves the device's work to other devices, or throws `why` if they cannot do it either.
    void leave_out(std::size_t place, const std::optional<Work>& work, const std::exception_ptr& why);
    void write_loop();
    void write_run(const Work& work, BlockWriter& writer, cpu::Workers& workers);
    template <class T>
    T wait_for(Queue<T>& queue) {
        return external::wait_for(queue, gate_, tick_);
    }
    void join();

    const Format& format_;
    const Devices& devices_;
    TemporarySpace& space_;
    Tick tick_;
    unsigned threads_;
    std::size_t block_ = 0;
    Gate gate_;
    Queue<Slot*> free_{gate_};
    Queue<Work> full_{gate_}, sorted_{gate_}, kept_{gate_};
    Queue<std::optional<Engine>> ready_{gate_};  // nothing for a device that has failed
    Queue<bool> done_{gate_}, written_{gate_};   // a run is sorted; all runs are written
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<Run> runs_;
    Sampling sampling_;
    std::size_t longest_ = 0;
    std::uint64_t longest_run_ = 0, submitted_ = 0;
    std::atomic<std::uint64_t> tied_ = 0;
    Engine engine_ = Engine::Cpu;
    Clocks clocks_;
    std::atomic<std::size_t> sorters_left_;
    std::vector<std::thread> sorters_;
    std::thread writer_;
};

}  // namespace quadmill::detail::external
