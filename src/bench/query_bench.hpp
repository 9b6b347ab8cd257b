// Query engines and rivals on the same columns, alternately: the time of each answer, and whether all answers agree.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/limits.hpp"
#include "bench/query_cases.hpp"
#include "bench/scan.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::gl {
class Scope;
}

namespace quadmill::detail::bench {

enum class QueryBy { Depth, Bitmap, Cpu, Scan, ScanAllThreads, NthElement, Sqlite };

struct QueryContender {
    std::string name;
    QueryBy by;
    [[nodiscard]] bool is_rival() const { return by > QueryBy::Cpu; }
    [[nodiscard]] bool on_gpu() const { return by < QueryBy::Cpu; }
    [[nodiscard]] bool draws() const { return on_gpu(); }
};

struct QueryTimes {
    const QueryContender* contender;
    std::string refusal{};                   // why it did not run; empty if it ran
    bool verified = true;                    // every answer equals the plain scan's
    double ms = 0, low_ms = 0, high_ms = 0;  // until the answer is on the CPU: median, min, max
    std::uint64_t passes = 0;                // drawn in all runs, including untimed ones
    std::optional<std::uint64_t> pixels{};   // depth engine: pixels whose depth or stencil was tested
    std::optional<double> min_ms{};          // min time for that
    std::optional<double> passes_time{};     // depth engine: `ms` divided by the time of one depth test of each row

    [[nodiscard]] bool ran() const { return refusal.empty(); }
    [[nodiscard]] std::optional<double> percent_of_limit() const {
        if (!min_ms || ms <= 0) return std::nullopt;
        return 100 * *min_ms / ms;
    }
};

struct QueryCaseResult {
    QueryCase which;
    std::size_t n;
    std::vector<QueryTimes> results;  // in the order of the contenders
};

// Times of uploads before any query.
struct LoadTime {
    const QueryContender* contender;
    std::string columns;
    std::size_t bytes;
    double ms, low_ms, high_ms;
};

struct QueryBenchOptions {
    int repeat = 5;
    unsigned threads = 0;  // CPU threads; 0: all
    std::size_t sqlite_rows = std::size_t{1} << 22U;
};

class QueryBench {
  public:
    // Without a context, GPU engines are reported as refused for the reason `why_no_context`.
    QueryBench(std::optional<Context> context, std::string why_no_context, std::vector<QueryContender> contenders,
               const QueryBenchOptions& options);
    QueryBench(const QueryBench&) = delete;
    QueryBench& operator=(const QueryBench&) = delete;
    ~QueryBench();

    // For a table of n rows: each contender answers once untimed, then all answer in a random order each time. GPU
    // contenders work untimed before each run.
    [[nodiscard]] std::vector<LoadTime> run(std::size_t n, const std::vector<QueryKind>& kinds,
                                            const std::function<void(const QueryCaseResult&)>& found);
    // The limit "depth test and occlusion count", if there is a context.
    [[nodiscard]] const std::optional<Limit>& depth_limit() const { return depth_limit_; }

    // The engine together with the table.
    class Runner;

  private:
    void open(const std::shared_ptr<const query::TableData>& table, std::vector<LoadTime>& loads);
    [[nodiscard]] std::unique_ptr<Runner> open(std::size_t i, const std::shared_ptr<const query::TableData>& table,
                                               std::vector<LoadTime>& loads);
    [[nodiscard]] std::vector<LoadTime> upload_times(std::size_t i, const query::TableData& table);
    [[nodiscard]] QueryCaseResult measure(const QueryCase& which, const query::TableData& table);
    void warm_up(const QueryCase& which, std::uint64_t right, std::size_t i, QueryTimes& times);
    void wake(std::size_t i, const QueryCase& which);
    [[nodiscard]] query::Engine& engine(std::size_t i);

    std::optional<Context> context_;
    std::string why_no_context_;
    std::vector<QueryContender> contenders_;
    QueryBenchOptions options_;
    std::optional<Limit> depth_limit_;
    std::unique_ptr<gl::Scope> scope_;  // lives longer than the engines
    std::vector<std::unique_ptr<query::Engine>> engines_;
    std::vector<std::unique_ptr<Runner>> runners_;
    std::vector<std::string> refusals_;  // for the table
    Scan plain_{1};
};

}  // namespace quadmill::detail::bench
