#include "external/item_sort.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "cpu/radix.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {
namespace {

// With radix sort. The word takes all bits that the index leaves.
class CpuItems final : public ItemSorter {
  public:
    explicit CpuItems(cpu::Workers& workers) : workers_(workers) {}
    [[nodiscard]] Engine engine() const override { return Engine::Cpu; }
    [[nodiscard]] unsigned place_bits(std::size_t n) const override {
        return static_cast<unsigned>(std::bit_width(std::max<std::size_t>(n, 1) - 1));
    }
    [[nodiscard]] unsigned word_bits(std::size_t n) const override { return std::min(56U, 64 - place_bits(n)); }
    [[nodiscard]] std::size_t worth_a_round() const override { return 64; }

    void sort(const ItemRuns& runs) override {
        std::size_t begin = 0;
        std::vector<std::pair<std::size_t, std::size_t>> short_ones;
        for (const auto end : runs.ends) {
            if (end - begin >= long_run) {
                cpu::radix_sort(runs.items.subspan(begin, end - begin), runs.scratch, runs.place_bits, workers_);
            } else {
                short_ones.emplace_back(begin, end);
            }
            begin = end;
        }
        constexpr std::size_t at_once = 64;
        workers_.for_each((short_ones.size() + at_once - 1) / at_once, [&](std::size_t task) {
            const auto last = std::min(short_ones.size(), (task + 1) * at_once);
            for (auto i = task * at_once; i < last; ++i) {
                const auto [from, to] = short_ones[i];
                cpu::radix_sort(runs.items.subspan(from, to - from), runs.scratch.subspan(from, to - from),
                                runs.place_bits);
            }
        });
    }

  private:
    static constexpr std::size_t long_run = std::size_t{1} << 16;  // all threads together sort it
    cpu::Workers& workers_;
};

// With an engine for integers: an item is a word of 4 bytes above an index, as a 64-bit key. No two are equal.
class GpuItems final : public ItemSorter {
  public:
    GpuItems(const Context& context, Engine engine, unsigned threads)
        : engine_(engine), sorter_(context, {.engine = engine, .threads = threads}) {}
    [[nodiscard]] Engine engine() const override { return engine_; }
    [[nodiscard]] unsigned place_bits(std::size_t) const override { return 32; }
    [[nodiscard]] unsigned word_bits(std::size_t) const override { return 32; }

    void sort(const ItemRuns& runs) override {
        if (runs.ends.size() == 1) {
            sorter_.sort(runs.items);
        } else if (engine_ != Engine::Bitonic && filled(runs.ends) <= 4 * runs.items.size()) {
            sorter_.sort_segments(runs.items, runs.ends);
        } else {
            sort_with_run_numbers(runs);
        }
    }

  private:
    // Number of keys in the pairs of blocks that the segments fill in the merge engine.
    static std::size_t filled(std::span<const std::size_t> ends) {
        constexpr std::size_t pair = 32;
        std::size_t sum = 0, begin = 0;
        for (const auto end : ends) sum += (end - std::exchange(begin, end) + pair - 1) / pair * pair;
        return sum;
    }
    // Sorts all runs together by (run number, word). The index moves with them.
    void sort_with_run_numbers(const ItemRuns& runs) {
        keys_.resize(runs.items.size());
        index_.resize(runs.items.size());
        std::size_t item = 0;
        for (std::size_t run = 0; run < runs.ends.size(); ++run) {
            for (; item < runs.ends[run]; ++item) keys_[item] = std::uint64_t{run} << 32U | runs.items[item] >> 32U;
        }
        sorter_.sort_with_index(keys_, index_);
        std::copy(runs.items.begin(), runs.items.end(), runs.scratch.begin());
        for (std::size_t i = 0; i < runs.items.size(); ++i) runs.items[i] = runs.scratch[index_[i]];
    }

    Engine engine_;
    Sorter sorter_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> index_;
};

// The GPU if there are enough items to be worth a transfer, otherwise the CPU.
class AutoItems final : public ItemSorter {
  public:
    AutoItems(const Context& context, cpu::Workers& workers)
        : gpu_(context, Engine::Auto, workers.threads()), cpu_(workers) {}
    [[nodiscard]] Engine engine() const override { return Engine::Merge; }
    [[nodiscard]] unsigned place_bits(std::size_t n) const override { return gpu_.place_bits(n); }
    [[nodiscard]] unsigned word_bits(std::size_t n) const override { return gpu_.word_bits(n); }
    [[nodiscard]] std::size_t worth_a_round() const override { return cpu_.worth_a_round(); }
    void sort(const ItemRuns& runs) override {
        constexpr std::size_t worth_a_transfer = std::size_t{1} << 14;
        if (runs.items.size() < worth_a_transfer) {
            cpu_.sort(runs);
        } else {
            gpu_.sort(runs);
        }
    }

  private:
    GpuItems gpu_;
    CpuItems cpu_;
};

}  // namespace

std::unique_ptr<ItemSorter> make_item_sorter(const std::optional<Context>& context, Engine engine,
                                             cpu::Workers& workers) {
    if (engine == Engine::Hybrid || engine == Engine::Pbsn) {
        throw InvalidArgument(std::string("WideSorter: the ") + (engine == Engine::Pbsn ? "PBSN" : "hybrid") +
                              " engine cannot carry pointers; use Auto, Merge, Bitonic or Cpu");
    }
    if (engine == Engine::Auto && (!context || context->info().software)) engine = Engine::Cpu;
    if (engine == Engine::Cpu) return std::make_unique<CpuItems>(workers);
    if (!context) throw InvalidArgument("WideSorter: this engine works on the GPU and needs a context");
    if (engine == Engine::Auto) return std::make_unique<AutoItems>(*context, workers);
    return std::make_unique<GpuItems>(*context, engine, workers.threads());
}

}  // namespace quadmill::detail::external
