#include "external/item_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cpu/radix.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {
namespace {

// By radix: the word takes all bits that places leave.
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
    static constexpr std::size_t long_run = std::size_t{1} << 16;  // is sorted by all threads together
    cpu::Workers& workers_;
};

// By an engine for integers: a word of 4 bytes above a place, a key of 64 bits. No two are equal.
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
    // Keys of the pairs of blocks that segments fill in the merge engine.
    static std::size_t filled(std::span<const std::size_t> ends) {
        constexpr std::size_t pair = 32;
        std::size_t sum = 0, begin = 0;
        for (const auto end : ends) sum += (end - std::exchange(begin, end) + pair - 1) / pair * pair;
        return sum;
    }
    // All runs as one sort: by (number of the run, word), and the place moves with them.
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

// By blending. Words are floats: 30 bits, to which a smallest exponent is added, so that all are positive, normal and in
// the order of the words. MIN and MAX compare each channel by itself, so no place can follow its word: the sorted words
// say where each word belongs, and the CPU looks them up.
class PbsnItems final : public ItemSorter {
  public:
    PbsnItems(const Context& context, cpu::Workers& workers)
        : sorter_(context, {.engine = Engine::Pbsn, .threads = workers.threads()}), workers_(workers) {}
    [[nodiscard]] Engine engine() const override { return Engine::Pbsn; }
    [[nodiscard]] unsigned place_bits(std::size_t) const override { return 32; }
    [[nodiscard]] unsigned word_bits(std::size_t) const override { return 30; }

    // Runs of like lengths are windows of one length, up to twice as long.
    void sort(const ItemRuns& runs) override {
        std::array<std::vector<Span>, 65> of_width;
        std::size_t begin = 0;
        for (const auto end : runs.ends) {
            const auto size = end - std::exchange(begin, end);
            of_width[static_cast<std::size_t>(std::bit_width(size - 1))].push_back({end - size, size});
        }
        for (std::size_t width = 0; width < of_width.size(); ++width) {
            // Windows that would be long are sorted one at a time, without padding.
            const std::size_t at_once = width > 18 ? 1 : std::numeric_limits<std::size_t>::max();
            for (std::span<const Span> rest = of_width[width]; !rest.empty();) {
                const auto count = std::min(rest.size(), at_once);
                sort_windows(runs, rest.first(count), std::size_t{1} << width);
                rest = rest.subspan(count);
            }
        }
    }

  private:
    struct Span {
        std::size_t begin, size;
    };
    static float float_of(std::uint64_t item) {
        constexpr std::uint32_t smallest_exponent = 0x00800000U;
        return std::bit_cast<float>(static_cast<std::uint32_t>(item >> 32U) + smallest_exponent);
    }

    void sort_windows(const ItemRuns& runs, std::span<const Span> spans, std::size_t window) {
        if (spans.size() == 1) window = spans[0].size;
        floats_.assign(spans.size() * window, std::numeric_limits<float>::infinity());
        for (std::size_t w = 0; w < spans.size(); ++w) {
            const auto items = runs.items.subspan(spans[w].begin, spans[w].size);
            std::transform(items.begin(), items.end(), &floats_[w * window], float_of);
        }
        if (spans.size() == 1) {
            sorter_.sort(floats_);
        } else {
            sorter_.sort_windows(floats_, window);
        }
        for (std::size_t w = 0; w < spans.size(); ++w) {
            const auto [begin, size] = spans[w];
            place(runs.items.subspan(begin, size), runs.scratch.subspan(begin, size),
                  std::span(floats_).subspan(w * window, size));
        }
    }

    // Moves each item to where its word is among the sorted ones; equal ones keep their order.
    void place(std::span<std::uint64_t> items, std::span<std::uint64_t> scratch, std::span<const float> sorted) {
        first_.resize(items.size());
        const auto find = [&](std::size_t i) {
            const auto at = std::lower_bound(sorted.begin(), sorted.end(), float_of(items[i]));
            first_[i] = static_cast<std::uint32_t>(at - sorted.begin());
        };
        constexpr std::size_t piece = std::size_t{1} << 14;
        workers_.for_each((items.size() + piece - 1) / piece, [&](std::size_t task) {
            for (auto i = task * piece; i < std::min(items.size(), (task + 1) * piece); ++i) find(i);
        });
        taken_.assign(items.size(), 0);
        for (std::size_t i = 0; i < items.size(); ++i) scratch[first_[i] + taken_[first_[i]]++] = items[i];
        std::copy(scratch.begin(), scratch.end(), items.begin());
    }

    Sorter sorter_;
    cpu::Workers& workers_;
    std::vector<float> floats_;
    std::vector<std::uint32_t> first_, taken_;
};

// The GPU for what is worth a transfer, else the CPU.
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
    if (engine == Engine::Hybrid)
        throw InvalidArgument("WideSorter: the hybrid engine cannot carry pointers; use Auto, Merge, Bitonic or Cpu");
    if (engine == Engine::Auto && (!context || context->info().software)) engine = Engine::Cpu;
    if (engine == Engine::Cpu) return std::make_unique<CpuItems>(workers);
    if (!context) throw InvalidArgument("WideSorter: this engine works on the GPU and needs a context");
    if (engine == Engine::Auto) return std::make_unique<AutoItems>(*context, workers);
    if (engine == Engine::Pbsn) return std::make_unique<PbsnItems>(*context, workers);
    return std::make_unique<GpuItems>(*context, engine, workers.threads());
}

}  // namespace quadmill::detail::external
