// LU with passes, and rivals on the CPU, on the same matrices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/limits.hpp"
#include "cpu/workers.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::bench {

// Row i of L U is row rows[i] of the matrix, and column j is its column columns[j].
struct LuOrder {
    std::span<std::uint32_t> rows, columns;
};

// A rival factorization, with partial (or full) pivoting.
struct LuRival {
    const char *name, *package;
    Pivot pivot;
    std::size_t max_n;  // larger matrices take too long
    // Factorizes in place; the matrix is stored by columns. `order` is initialized; partial pivoting only writes its
    // rows. Returns LAPACK's `info`, 0 for success. Null: not built in.
    int (*factor)(float* matrix, std::size_t n, LuOrder order);
};
[[nodiscard]] const std::vector<LuRival>& lu_rivals();

struct LuContender {
    std::string name;
    LuOptions options;
    const LuRival* rival = nullptr;
    [[nodiscard]] bool is_rival() const { return rival != nullptr; }
    [[nodiscard]] bool draws() const { return !is_rival(); }
};

// The limit that the passes over the trailing matrix approach.
struct LuBound {
    std::string pass, limit;
    double ms = 0, min_ms = 0;
    [[nodiscard]] double percent() const { return ms > 0 ? 100 * min_ms / ms : 0; }
};

struct LuTimes {
    const LuContender* contender;
    std::string refusal{};
    double ms = 0, low_ms = 0, high_ms = 0;  // of the factorization: median, min, max
    double upload_ms = 0;
    std::uint64_t passes = 0;
    double residual = 0;   // max of those that were measured
    bool verified = true;  // whether it is small enough
    std::optional<LuBound> bound{};
    std::vector<PassProfiler::Row> parts{};  // passes by name, of one more factorization
    [[nodiscard]] bool ran() const { return refusal.empty(); }
};

struct LuCase {
    Pivot pivot;
    std::size_t n;
    std::size_t systems;  // 1, or the number of small matrices in a batch
    std::vector<LuTimes> results;
    [[nodiscard]] double gflops(const LuTimes& times) const {
        const auto size = static_cast<double>(n);
        return times.ms > 0 ? 2.0 / 3 * size * size * size * static_cast<double>(systems) / times.ms * 1e-6 : 0;
    }
    // Time of the best form with rows divided by that of the best form with blocks; nothing if one is missing.
    [[nodiscard]] std::optional<double> blocks_over_rows() const;
};

class LinalgBench {
  public:
    LinalgBench(std::optional<Context> context, std::string why_not, std::vector<LuContender> contenders, int repeat);
    // Runs the contenders with that pivoting.
    [[nodiscard]] LuCase run(std::size_t n, Pivot pivot);
    // Many n x n matrices together, with partial pivoting. Rivals take the matrices one by one on all CPU threads.
    [[nodiscard]] LuCase run_batch(std::size_t n, std::size_t systems);
    // The limits measured so far.
    [[nodiscard]] std::vector<Limit> limits() const;

  private:
    [[nodiscard]] LuTimes on_gpu(const LuContender& contender, MatrixView matrix);
    [[nodiscard]] LuTimes batch_on_gpu(const std::vector<float>& matrices, std::size_t n);
    [[nodiscard]] LuTimes by_rival(const LuContender& contender, const std::vector<float>& matrices, std::size_t n,
                                   std::size_t systems);
    // Stores the median and range of the times, and the profile of one more run.
    void take(LuTimes& times, std::vector<double> ms, const std::function<void()>& once_more);
    [[nodiscard]] std::optional<LuBound> bound(const LuContender& contender,
                                               const std::vector<PassProfiler::Row>& rows);

    std::optional<Context> context_;
    std::string why_not_;
    std::vector<LuContender> contenders_;
    int repeat_;
    cpu::Workers workers_;
    std::optional<FillLimits> fill_;
    std::optional<Limit> fetch_;
};

}  // namespace quadmill::detail::bench
