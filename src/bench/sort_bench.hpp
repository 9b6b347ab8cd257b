// Engines of the library and rivals on the same keys, alternately: the time of each, and a check of its result.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bench/early_sorts.hpp"
#include "bench/limits.hpp"
#include "bench/rivals.hpp"
#include "cpu/sample_keys.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

// Keys alone, keys with pointers, only pointers without moving keys, or the pointers of keys in a texture, which are
// written to a texture: no transfers are timed.
enum class Sorted { Keys, Pairs, Pointers, Texture };
[[nodiscard]] constexpr bool moves_keys(Sorted sorted) {
    return sorted == Sorted::Keys || sorted == Sorted::Pairs;
}

// The data of one sort: keys, and the original index of each.
struct SortData {
    cpu::KeyBuffer keys;
    std::vector<std::uint32_t> index{};  // empty if keys are sorted alone
};
// Sorts with that sorter, or on the CPU without one.
SortStats sort_by(Sorter* sorter, Sorted sorted, Keys keys, std::span<std::uint32_t> index);
// Whether the output is the sorted input.
[[nodiscard]] bool is_right(Sorted sorted, SortData& input, SortData& output);

// The papers' own forms of the networks: PBSN with one run per channel and no early stop (SIGMOD'05), and GPUTeraSort's
// with one step per pass.
[[nodiscard]] SortOptions paper_form_of_pbsn();
[[nodiscard]] SortOptions paper_form_of_bitonic();

struct SortCase {
    KeyType type;
    cpu::Distribution distribution;
    std::size_t n;
    Sorted sorted = Sorted::Keys;
};

// A contender: an engine with its name in the command, or a rival on the GPU or on the CPU.
struct Contender {
    std::string name;
    std::variant<SortOptions, EarlySort, const Rival*> what;
    [[nodiscard]] bool is_rival() const { return !std::holds_alternative<SortOptions>(what); }
    // Whether every sort draws passes. Auto and Hybrid may leave small inputs to the CPU.
    [[nodiscard]] bool draws() const {
        const auto* options = std::get_if<SortOptions>(&what);
        return needs_context() && !(options && (options->engine == Engine::Auto || options->engine == Engine::Hybrid));
    }
    [[nodiscard]] bool needs_context() const {
        const auto* options = std::get_if<SortOptions>(&what);
        return options ? options->engine != Engine::Cpu : std::holds_alternative<EarlySort>(what);
    }
};

struct Result {
    const Contender* contender;
    std::string refusal{};                   // why it did not run; empty if it ran
    bool verified = true;                    // all runs: in order, and the same multiset
    double ms = 0, low_ms = 0, high_ms = 0;  // median, min, max
    SortStats parts{};                       // for contenders on a GPU; medians of times
    std::uint64_t passes = 0;                // drawn in all runs, including untimed ones
    std::optional<double> min_ms{};          // min time of its passes at the rates of FillLimits

    [[nodiscard]] bool ran() const { return refusal.empty(); }
    [[nodiscard]] std::optional<double> percent_of_limit() const {
        if (!min_ms || parts.sort_ms <= 0) return std::nullopt;
        return 100 * *min_ms / parts.sort_ms;
    }
};

struct CaseResult {
    SortCase which;
    std::vector<Result> results;  // in the order of the contenders
};

class SortBench {
  public:
    // Without a context, engines that need one are reported as refused for the reason `why_no_context`.
    SortBench(std::optional<Context> context, std::string why_no_context, std::vector<Contender> contenders,
              int repeat);

    // Each contender once untimed, then all alternately, each time with new keys, which are the same for all unless
    // they are few. Results are checked outside of the timed part.
    [[nodiscard]] CaseResult run(const SortCase& which);
    // The limits used so far.
    [[nodiscard]] std::vector<Limit> limits() const { return limits_ ? limits_->measured() : std::vector<Limit>{}; }

  private:
    [[nodiscard]] static SortData make_data(const SortCase& which, std::uint64_t seed);
    void wake(std::size_t i, Sorted sorted, SortData data);
    void warm_up(const SortCase& which, std::size_t i, Result& result);
    SortStats sort(std::size_t i, Sorted sorted, SortData& data);
    SortStats sort_texture(Sorter& sorter, SortData& data);
    SortStats sort(std::size_t i, Sorted sorted, Keys keys, std::span<std::uint32_t> index);

    std::optional<Context> context_;
    std::string why_no_context_;
    std::vector<Contender> contenders_;
    int repeat_;
    std::vector<std::variant<std::monostate, Sorter, EarlySorter>> sorters_;  // for those that need the context
    std::optional<FillLimits> limits_;
};

}  // namespace quadmill::detail::bench
