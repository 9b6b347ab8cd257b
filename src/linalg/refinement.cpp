#include "linalg/refinement.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "linalg/cpu_lu.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::linalg {

namespace {

// Errors of a solution: the max over all right-hand sides.
struct Miss {
    double by_norms = 0;       // |r| / (|B| |y| + |b|)
    double by_components = 0;  // the max over all rows of |r| / (|B| |y| + |b|)
};

template <class Value>
class Residuals {
  public:
    Residuals(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
              std::size_t sides)
        : workers_(workers), matrix_(matrix), b_(b), sides_(sides), sizes_(b.size()), norms_(matrix.rows) {
        for_each_row([&](std::size_t row) {
            matrix.for_row(row, [&](std::size_t, double value) { norms_[row] += std::abs(value); });
        });
        norm_ = largest(norms_);
    }

    // r = b - B y.
    void compute(std::span<const double> y, std::vector<double>& r) {
        r.assign(b_.begin(), b_.end());
        for_each_row([&](std::size_t row) {
            double* const out = r.data() + row * sides_;
            double* const size = sizes_.data() + row * sides_;
            for (std::size_t side = 0; side < sides_; ++side) size[side] = std::abs(out[side]);
            matrix_.for_row(row, [&](std::size_t j, double value) {
                for (std::size_t side = 0; side < sides_; ++side) {
                    const double product = value * y[j * sides_ + side];
                    out[side] -= product;
                    size[side] += std::abs(product);
                }
            });
        });
    }

    [[nodiscard]] Miss miss(std::span<const double> y, std::span<const double> r) const {
        std::vector<double> of_y(sides_), of_b(sides_), of_r(sides_);
        Miss found;
        for (std::size_t i = 0; i < r.size(); ++i) {
            const auto side = i % sides_;
            of_y[side] = std::max(of_y[side], std::abs(y[i]));
            of_b[side] = std::max(of_b[side], std::abs(b_[i]));
            of_r[side] = std::max(of_r[side], not_nan(std::abs(r[i])));
            if (sizes_[i] != 0)
                found.by_components = std::max(found.by_components, not_nan(std::abs(r[i]) / sizes_[i]));
        }
        for (std::size_t side = 0; side < sides_; ++side) {
            const double scale = norm_ * of_y[side] + of_b[side];
            if (scale > 0) found.by_norms = std::max(found.by_norms, not_nan(of_r[side] / scale));
        }
        return found;
    }

  private:
    static double not_nan(double value) { return std::isnan(value) ? INFINITY : value; }

    template <class Work>
    void for_each_row(const Work& work) const {
        constexpr std::size_t rows_of_task = 16;
        workers_.for_each((matrix_.rows + rows_of_task - 1) / rows_of_task, [&](std::size_t task) {
            for (auto i = task * rows_of_task; i < std::min((task + 1) * rows_of_task, matrix_.rows); ++i) work(i);
        });
    }

    const cpu::Workers& workers_;
    const ScaledMatrix<Value>& matrix_;
    std::span<const double> b_;
    std::size_t sides_;
    std::vector<double> sizes_;  // magnitudes of b and of the products in a residual
    std::vector<double> norms_;  // norm of each row
    double norm_ = 0;
};

}  // namespace

double largest(std::span<const double> values) {
    double max = 0;
    for (const double value : values) max = std::max(max, std::isnan(value) ? INFINITY : std::abs(value));
    return max;
}

template <class Value>
Refinement refine(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
                  std::span<double> y, std::size_t sides, const Correct& correct) {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    const double enough = std::sqrt(static_cast<double>(matrix.rows)) * eps;  // as in LAPACK's dsgesv
    std::ranges::fill(y, 0.0);
    Refinement found{.converged = true};
    Residuals residuals(workers, matrix, b, sides);
    std::vector<double> left(b.begin(), b.end()), tried(y.size());
    Miss best{largest(b) > 0 ? 1.0 : 0.0, largest(b) > 0 ? 1.0 : 0.0}, min = best, now = best;
    while (now.by_norms > enough || now.by_components > eps) {
        const auto correction = correct(left);
        for (std::size_t i = 0; i < tried.size(); ++i) tried[i] += correction[i];
        residuals.compute(tried, left);
        ++found.steps;
        now = residuals.miss(tried, left);
        const bool is_nearer = now.by_norms < best.by_norms;
        if (is_nearer || (now.by_norms <= enough && now.by_components < best.by_components)) {
            best = now;
            std::ranges::copy(tried, y.begin());
        }
        // Compares with the smallest error so far, not with the last one: otherwise steps that alternately improve one
        // error and worsen the other would never end.
        const bool halved = now.by_norms <= min.by_norms / 2 && min.by_norms > enough;
        if (!halved && !(now.by_components <= min.by_components / 2)) break;
        min = {std::min(min.by_norms, now.by_norms), std::min(min.by_components, now.by_components)};
    }
    found.residual = best.by_norms;
    found.converged = best.by_norms <= enough;
    return found;
}

template <class Value>
Refinement refine_on_cpu(const cpu::Workers& workers, const ScaledMatrix<Value>& matrix, std::span<const double> b,
                         std::span<double> y, std::size_t sides) {
    const auto n = matrix.rows;
    std::vector<double> lu(n * n);
    for (std::size_t i = 0; i < n; ++i) matrix.for_row(i, [&](std::size_t j, double value) { lu[i * n + j] = value; });
    std::vector<std::uint32_t> rows, columns(n);
    std::iota(columns.begin(), columns.end(), 0U);
    if (const auto info = factor_on_cpu<double>(workers, lu, n, n, rows))
        throw Error("Lu::solve: the matrix is singular: pivot " + std::to_string(info) + " is zero, also in double");
    const FactorsView<double> factors{lu, rows, columns};
    auto found = refine(workers, matrix, b, y, sides, [&](std::span<const double> left) {
        std::vector<double> x(left.size());
        workers.for_each(sides, [&](std::size_t side) {
            std::vector<double> one(n);
            for (std::size_t i = 0; i < n; ++i) one[i] = left[i * sides + side];
            one = solve_on_cpu(factors, one);
            for (std::size_t i = 0; i < n; ++i) x[i * sides + side] = one[i];
        });
        return x;
    });
    found.condition = one_norm(matrix) * inverse_norm(factors);
    return found;
}

template <class Value>
double one_norm(const ScaledMatrix<Value>& matrix) {
    std::vector<double> sums(matrix.columns);
    for (std::size_t i = 0; i < matrix.rows; ++i)
        matrix.for_row(i, [&](std::size_t j, double value) { sums[j] += std::abs(value); });
    return largest(sums);
}

template Refinement refine(const cpu::Workers&, const ScaledMatrix<float>&, std::span<const double>, std::span<double>,
                           std::size_t, const Correct&);
template Refinement refine(const cpu::Workers&, const ScaledMatrix<double>&, std::span<const double>, std::span<double>,
                           std::size_t, const Correct&);
template Refinement refine_on_cpu(const cpu::Workers&, const ScaledMatrix<float>&, std::span<const double>,
                                  std::span<double>, std::size_t);
template Refinement refine_on_cpu(const cpu::Workers&, const ScaledMatrix<double>&, std::span<const double>,
                                  std::span<double>, std::size_t);
template double one_norm(const ScaledMatrix<float>&);
template double one_norm(const ScaledMatrix<double>&);

}  // namespace quadmill::detail::linalg
