// The experiments of MDS'09 (Tsakalozos, Tsangaris, Delis): single operators on streams, and a graph of them. An
// executor that keeps intermediate results on the GPU is compared with one that returns to the CPU after each operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/query.hpp"

namespace quadmill::detail::bench {

enum class JoinFigure { Greater = 5, Matching = 6, Multiple = 7, Graph = 9 };

struct JoinCase {
    JoinFigure figure;
    std::size_t rows;      // in each table
    std::size_t x;         // values; percent of elements with a partner; pairs per element; 0
    std::uint64_t result;  // number of rows or pairs in the result
};
// In the order of the paper's figures.
[[nodiscard]] std::vector<JoinCase> join_cases(const std::vector<JoinFigure>& figures);

// The algorithm: nested loops, as in the paper, or joins with sorting.
enum class JoinBy { Pipelined, OneOperation, CpuLoops, Merge, CpuMerge };

struct JoinContender {
    std::string name;
    JoinBy by;
    [[nodiscard]] bool is_rival() const { return by >= JoinBy::Merge; }
    // Merge may sort short columns on the CPU.
    [[nodiscard]] bool draws() const { return by == JoinBy::Pipelined || by == JoinBy::OneOperation; }
};

// Rows of one table as bits, as in the paper, or pairs of rows in the order of QueryProcessor.
struct JoinAnswer {
    std::vector<std::uint32_t> bits{};
    std::vector<RowPair> pairs{};
    bool operator==(const JoinAnswer&) const = default;
    [[nodiscard]] std::size_t size() const;
};

// From columns in memory to a result in memory, so including uploads.
struct JoinTimes {
    const JoinContender* contender;
    std::string refusal{};     // why it did not run; empty if it ran
    bool verified = true;      // every answer equals that of a plain lookup, row by row
    std::uint64_t passes = 0;  // drawn in all runs, including untimed ones
    double ms = 0, low_ms = 0, high_ms = 0;
    [[nodiscard]] bool ran() const { return refusal.empty(); }
};

struct JoinCaseResult {
    JoinCase which;
    std::vector<JoinTimes> results;  // in the order of the contenders
};

class JoinBench {
  public:
    // `engine` is Bitmap or Depth, for work on the GPU.
    JoinBench(std::optional<Context> context, std::string why_no_context, std::vector<JoinContender> contenders,
              QueryEngine engine, int repeat);
    [[nodiscard]] JoinCaseResult run(const JoinCase& which);

  private:
    // The reason if it cannot run; otherwise empty.
    [[nodiscard]] std::string unfit(const JoinContender& contender, const JoinCase& which) const;
    // The milliseconds for new tables that no processor has seen, and whether the result is right.
    struct Run {
        double ms;
        bool right;
    };
    [[nodiscard]] Run time(std::size_t contender, const JoinCase& which);
    [[nodiscard]] QueryProcessor& processor(std::size_t contender);

    std::optional<Context> context_;
    std::string why_no_context_;
    std::vector<JoinContender> contenders_;
    QueryEngine engine_;
    int repeat_;
    std::vector<std::optional<QueryProcessor>> processors_;
    JoinAnswer found_;  // kept, so that timed runs do not allocate memory for it
};

}  // namespace quadmill::detail::bench
