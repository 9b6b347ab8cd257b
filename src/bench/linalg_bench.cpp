#include "bench/linalg_bench.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>

#include "bench/spread.hpp"
#include "cpu/stopwatch.hpp"
#include "linalg/measures.hpp"

#ifdef QUADMILL_EIGEN
#include <Eigen/LU>
#endif

namespace quadmill::detail::bench {

namespace {

using Sgetrf = void (*)(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info);

// Opened on first use. If the program were linked to it, its threads would start before main(), and would receive
// signals that the command blocks.
Sgetrf openblas_sgetrf() {
    static const auto found = [] {
        void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        return library ? reinterpret_cast<Sgetrf>(dlsym(library, "sgetrf_")) : nullptr;
    }();
    return found;
}

int openblas(float* matrix, std::size_t n, LuOrder order) {
    const int size = static_cast<int>(n);
    std::vector<int> pivots(n);
    int info = 0;
    openblas_sgetrf()(&size, &size, matrix, &size, pivots.data(), &info);
    for (std::size_t i = 0; i < n; ++i) std::swap(order.rows[i], order.rows[static_cast<std::size_t>(pivots[i] - 1)]);
    return info;
}

#ifdef QUADMILL_EIGEN
using Columns = Eigen::Map<Eigen::MatrixXf>;
// Row P(i) of P A is row i of A.
template <class Permutation>
void note_rows(const Permutation& permutation, std::span<std::uint32_t> rows) {
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        rows[static_cast<std::size_t>(permutation.indices()[static_cast<Eigen::Index>(i)])] = i;
}
// Does not report zero pivots.
int eigen_partial(float* matrix, std::size_t n, LuOrder order) {
    Columns columns(matrix, static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    const Eigen::PartialPivLU<Eigen::Ref<Eigen::MatrixXf>> lu(columns);
    note_rows(lu.permutationP(), order.rows);
    return 0;
}
// Stops when only zeros are left.
int eigen_full(float* matrix, std::size_t n, LuOrder order) {
    Columns columns(matrix, static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    const Eigen::FullPivLU<Eigen::Ref<Eigen::MatrixXf>> lu(columns);
    note_rows(lu.permutationP(), order.rows);
    for (std::size_t i = 0; i < n; ++i)  // column Q(i) of A Q is column i of A
        order.columns[i] = static_cast<std::uint32_t>(lu.permutationQ().indices()[static_cast<Eigen::Index>(i)]);
    const auto pivots = static_cast<std::size_t>(lu.nonzeroPivots());
    return pivots < n ? static_cast<int>(pivots) + 1 : 0;
}
#else
constexpr int (*eigen_partial)(float*, std::size_t, LuOrder) = nullptr;
constexpr int (*eigen_full)(float*, std::size_t, LuOrder) = nullptr;
#endif

// Diagonally dominant for factorizations without pivoting, which would otherwise be unstable.
std::vector<float> sample(std::size_t n, Pivot pivot) {
    std::vector<float> matrix(n * n);
    std::mt19937 random(static_cast<unsigned>(n));
    std::uniform_real_distribution<float> value(-1, 1);
    for (auto& x : matrix) x = value(random);
    for (std::size_t i = 0; i < n && pivot == Pivot::Diagonal; ++i) matrix[i * n + i] += static_cast<float>(n);
    return matrix;
}

void judge(LuTimes& times, double residual) {
    constexpr double max = 30;  // the limit in LAPACK's own tests
    times.residual = std::max(times.residual, residual);
    times.verified = times.residual < max;
}

std::vector<float> transposed(std::span<const float> matrix, std::size_t n) {
    std::vector<float> out(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) out[j * n + i] = matrix[i * n + j];
    }
    return out;
}

// The largest residual of consecutive matrices in the rivals' layout, column after column.
double residual_by_columns(std::span<const float> matrices, std::span<const float> factors, LuOrder order,
                           std::size_t n) {
    double max = 0;
    for (std::size_t at = 0; at < order.rows.size(); at += n) {
        const auto matrix = transposed(matrices.subspan(at * n, n * n), n);
        const auto rows = order.rows.subspan(at, n), columns = order.columns.subspan(at, n);
        max = std::max(max, linalg::residual_ratio({matrix, n, n}, {.lu = transposed(factors.subspan(at * n, n * n), n),
                                                                    .rows = {rows.begin(), rows.end()},
                                                                    .columns = {columns.begin(), columns.end()}}));
    }
    return max;
}

// RGBA32F texels that a fragment of an update in tiles fetches: the old positions of its 8 rows, these rows, and for
// every 4 products 8 texels of L and 4 of U.
double fetches_of_tile(std::size_t block) {
    return 8 + 8 + static_cast<double>(block) / 4 * (8 + 4);
}

}  // namespace

const std::vector<LuRival>& lu_rivals() {
    constexpr std::size_t max = std::size_t{1} << 14U;
    static const std::vector<LuRival> all{
        {"OpenBLAS sgetrf", "libopenblas-dev", Pivot::Partial, max, openblas_sgetrf() ? openblas : nullptr},
        {"Eigen PartialPivLU", "libeigen3-dev", Pivot::Partial, max, eigen_partial},
        {"Eigen FullPivLU", "libeigen3-dev", Pivot::Full, 1024, eigen_full}};
    return all;
}

LinalgBench::LinalgBench(std::optional<Context> context, std::string why_not, std::vector<LuContender> contenders,
                         int repeat)
    : context_(std::move(context)), why_not_(std::move(why_not)), contenders_(std::move(contenders)), repeat_(repeat) {
    if (context_) fill_.emplace(*context_);
}

std::optional<LuBound> LinalgBench::bound(const LuContender& contender, const std::vector<PassProfiler::Row>& rows) {
    for (const auto& row : rows) {
        if (row.name == "eliminate") {
            const std::string limit = "write " + row.format;
            return LuBound{row.name, limit, row.gpu_ms, fill_->min_ms(row.texels, row.format, row.write)};
        }
        if (row.name != "update") continue;
        if (contender.options.layout == Layout::Scalars) {
            return LuBound{row.name, "write " + row.format, row.gpu_ms,
                           fill_->min_ms(row.texels, row.format, row.write)};
        }
        if (!fetch_) fetch_ = fetch_limit(*context_);
        constexpr double layers = 8;
        const double fetches =
            static_cast<double>(row.texels) / layers * fetches_of_tile(contender.options.block.value_or(32));
        return LuBound{row.name, fetch_->name, row.gpu_ms, fetches * 1e-6 / fetch_->value};
    }
    return std::nullopt;
}

void LinalgBench::take(LuTimes& times, std::vector<double> ms, const std::function<void()>& once_more) {
    Spread(std::move(ms)).note_in(times);
    if (!once_more) return;
    PassProfiler profiler(*context_);
    once_more();
    times.parts = profiler.rows();
}

LuTimes LinalgBench::on_gpu(const LuContender& contender, MatrixView matrix) {
    LuTimes times{.contender = &contender};
    if (!context_) {
        times.refusal = why_not_;
        return times;
    }
    Lu lu(*context_, contender.options);
    // The first factorization compiles programs. A small matrix is enough for that.
    const auto warm_n = std::min<std::size_t>(matrix.rows, 2048);
    static_cast<void>(lu.factor({matrix.values.first(warm_n * warm_n), warm_n, warm_n}));
    std::vector<double> ms;
    for (int i = 0; i < repeat_; ++i) {
        const auto stats = lu.factor(matrix);
        ms.push_back(stats.factor_ms);
        times.upload_ms = stats.upload_ms;
        times.passes = stats.passes;
    }
    judge(times, linalg::residual_ratio(matrix, lu.factors()));
    take(times, ms, [&] { static_cast<void>(lu.factor(matrix)); });
    times.bound = bound(contender, times.parts);
    return times;
}

LuTimes LinalgBench::batch_on_gpu(const std::vector<float>& matrices, std::size_t n) {
    static const LuContender itself{"all together", {}};
    LuTimes times{.contender = &itself};
    if (!context_) {
        times.refusal = why_not_;
        return times;
    }
    LuBatch batch(*context_);
    std::vector<double> ms;
    for (int i = 0; i <= repeat_; ++i) {  // one more, since the first one compiles
        const auto stats = batch.factor(matrices, n);
        if (i > 0) ms.push_back(stats.factor_ms);
        times.upload_ms = stats.upload_ms;
        times.passes = stats.passes;
    }
    judge(times, linalg::residual_ratio(matrices, batch.factors(), n));
    take(times, ms, [&] { static_cast<void>(batch.factor(matrices, n)); });
    return times;
}

LuTimes LinalgBench::by_rival(const LuContender& contender, const std::vector<float>& matrices, std::size_t n,
                              std::size_t systems) {
    LuTimes times{.contender = &contender};
    if (n > contender.rival->max_n) {
        times.refusal = "takes too long beyond n = " + std::to_string(contender.rival->max_n);
        return times;
    }
    constexpr std::size_t of_task = 256;
    std::vector<double> ms;
    std::vector<std::uint32_t> unmoved(systems * n);
    for (std::size_t i = 0; i < unmoved.size(); ++i) unmoved[i] = static_cast<std::uint32_t>(i % n);
    for (int i = 0; i <= repeat_; ++i) {
        auto copy = matrices;
        auto rows = unmoved, columns = unmoved;
        const LuOrder order{rows, columns};
        std::atomic<int> info = 0;  // of a factorization that failed
        const auto factor = [&](std::size_t system) {
            const int failed =
                contender.rival->factor(copy.data() + system * n * n, n,
                                        {order.rows.subspan(system * n, n), order.columns.subspan(system * n, n)});
            if (failed != 0) info = failed;
        };
        const cpu::Stopwatch time;
        if (systems == 1) {
            factor(0);  // starts the rival's own threads
        } else {
            workers_.for_each((systems + of_task - 1) / of_task, [&](std::size_t task) {
                for (auto system = task * of_task; system < std::min((task + 1) * of_task, systems); ++system)
                    factor(system);
            });
        }
        const auto taken = time.ms();
        if (info != 0) {
            times.refusal = "failed: its info was " + std::to_string(info.load());
            return times;
        }
        judge(times, residual_by_columns(matrices, copy, order, n));
        if (i > 0) ms.push_back(taken);
    }
    take(times, ms, {});
    return times;
}

LuCase LinalgBench::run(std::size_t n, Pivot pivot) {
    const auto matrix = sample(n, pivot);
    LuCase found{pivot, n, 1, {}};
    for (const auto& contender : contenders_) {
        // Contenders with partial pivoting are also compared with those without pivoting.
        const auto of_contender = contender.is_rival() ? contender.rival->pivot : contender.options.pivot;
        if (of_contender != pivot &&
            !(contender.is_rival() && pivot == Pivot::Diagonal && of_contender == Pivot::Partial))
            continue;
        found.results.push_back(contender.is_rival() ? by_rival(contender, matrix, n, 1)
                                                     : on_gpu(contender, {matrix, n, n}));
    }
    return found;
}

LuCase LinalgBench::run_batch(std::size_t n, std::size_t systems) {
    std::vector<float> matrices;
    matrices.reserve(systems * n * n);
    std::mt19937 random(static_cast<unsigned>(n));
    std::uniform_real_distribution<float> value(-1, 1);
    while (matrices.size() < systems * n * n) matrices.push_back(value(random));
    LuCase found{Pivot::Partial, n, systems, {}};
    found.results.push_back(batch_on_gpu(matrices, n));
    for (const auto& contender : contenders_) {
        if (contender.is_rival() && contender.rival->pivot == Pivot::Partial)
            found.results.push_back(by_rival(contender, matrices, n, systems));
    }
    return found;
}

std::optional<double> LuCase::blocks_over_rows() const {
    std::optional<double> rows, blocks;
    for (const auto& result : results) {
        if (result.contender->is_rival() || !result.ran()) continue;
        auto& best = result.contender->options.block.value_or(pivot == Pivot::Full ? 1 : 32) == 1 ? rows : blocks;
        best = std::min(best.value_or(result.ms), result.ms);
    }
    if (!rows || !blocks) return std::nullopt;
    return *rows / *blocks;
}

std::vector<Limit> LinalgBench::limits() const {
    auto all = fill_ ? fill_->measured() : std::vector<Limit>();
    if (fetch_) all.push_back(*fetch_);
    return all;
}

}  // namespace quadmill::detail::bench
