// Phase 1: slots full of records are sorted by one thread and written as runs by another, while the next one is filled.
#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "external/gate.hpp"
#include "external/plan.hpp"
#include "external/wide_sort.hpp"

namespace quadmill::detail::external {

class RunMaker {
  public:
    struct Clocks {
        StageClock read, keys, sort, reorder, write;
    };
    struct Run : TemporarySpace::Run {
        std::uint64_t records = 0;
    };

    // The thread that sorts owns the context until the end. Returns when the engine is ready.
    RunMaker(const Format& format, const ExternalSortOptions& options, const std::optional<Context>& context,
             TemporarySpace& space, Tick tick);
    RunMaker(const RunMaker&) = delete;
    RunMaker& operator=(const RunMaker&) = delete;
    ~RunMaker();

    // Makes the slots. Pre: called once, before any of the following.
    void start(const RunPlan& plan);
    // An empty slot; waits for one.
    Slot& slot();
    // Records to be sorted and written as the next run.
    void submit(Slot& slot);
    // The only records that there are: sorts them in memory.
    void sort(Slot& slot);
    // Waits for all runs, and gives all memory back but a slot that was sorted in memory.
    void finish();

    [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
    [[nodiscard]] std::size_t longest_record() const { return longest_; }
    [[nodiscard]] std::uint64_t longest_run() const { return longest_run_; }
    [[nodiscard]] std::uint64_t tied() const { return tied_; }
    [[nodiscard]] Engine engine() const { return engine_; }
    [[nodiscard]] Clocks& clocks() { return clocks_; }

  private:
    struct Work {
        Slot* slot;
        enum class Then { Write, Keep } then;
    };
    template <class Loop>
    std::thread thread(Loop loop);
    void sort_loop(const std::optional<Context>& context, Engine engine, unsigned threads);
    void write_loop();
    void write_run(Slot& slot, BlockWriter& writer, cpu::Workers& workers);
    template <class T>
    T wait_for(Queue<T>& queue);
    void join();

    const Format& format_;
    TemporarySpace& space_;
    Tick tick_;
    unsigned threads_;
    std::size_t block_ = 0;
    Gate gate_;
    Queue<Slot*> free_{gate_}, sorted_{gate_}, kept_{gate_};
    Queue<Work> full_{gate_};
    Queue<Engine> ready_{gate_};
    Queue<bool> written_{gate_};
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<Run> runs_;
    std::size_t longest_ = 0;
    std::uint64_t longest_run_ = 0, tied_ = 0;
    Engine engine_ = Engine::Cpu;
    Clocks clocks_;
    std::thread sorter_, writer_;
};

}  // namespace quadmill::detail::external
