#include "linalg/cpu_lu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quadmill::detail::linalg {

namespace {

constexpr std::size_t columns_of_panel = 64;

// The matrix that is factorized, and columns [first, end) of its current panel.
template <class Value>
struct Blocked {
    Value* values;
    std::size_t rows, columns, first = 0, end = 0;
    std::vector<std::uint32_t>& order;

    [[nodiscard]] Value* row(std::size_t i) const { return values + i * columns; }

    // row(to)[begin..end) -= factor * row(from)[begin..end)
    void subtract(std::size_t to, std::size_t from, Value factor, std::size_t begin, std::size_t stop) const {
        Value* const out = row(to);
        const Value* const in = row(from);
        for (auto j = begin; j < stop; ++j) out[j] -= factor * in[j];
    }

    // Returns the number of the first zero pivot, counted from 1, or 0.
    std::size_t factor_panel() const {
        std::size_t info = 0;
        for (auto k = first; k < end; ++k) {
            auto pivot = k;
            for (auto i = k + 1; i < rows; ++i)
                if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
            if (pivot != k) {
                std::swap_ranges(row(k), row(k) + columns, row(pivot));
                std::swap(order[k], order[pivot]);
            }
            const Value divisor = row(k)[k];
            if (divisor == 0) {
                if (info == 0) info = k + 1;
                continue;
            }
            for (auto i = k + 1; i < rows; ++i) {
                row(i)[k] /= divisor;
                subtract(i, k, row(i)[k], k + 1, end);
            }
        }
        return info;
    }

    // Computes U's rows of the panel, to the right of it.
    void finish_rows() const {
        for (auto k = first; k < end; ++k)
            for (auto i = k + 1; i < end; ++i) subtract(i, k, row(i)[k], end, columns);
    }

    // Subtracts the products of the panel's parts from everything below and to the right, in tiles that stay in the
    // cache.
    void update(const cpu::Workers& workers) const {
        constexpr std::size_t down = 32, across = 512;
        workers.for_each((rows - end + down - 1) / down, [&](std::size_t task) {
            const auto top = end + task * down, bottom = std::min(top + down, rows);
            for (auto left = end; left < columns; left += across) {
                const auto right = std::min(left + across, columns);
                for (auto i = top; i < bottom; ++i)
                    for (auto k = first; k < end; ++k) subtract(i, k, row(i)[k], left, right);
            }
        });
    }
};

double dot(const auto* row, const std::vector<double>& x, std::size_t begin, std::size_t end) {
    double sum = 0;
    for (auto j = begin; j < end; ++j) sum += static_cast<double>(row[j]) * x[j];
    return sum;
}

void subtract(std::vector<double>& x, const auto* row, double factor, std::size_t begin, std::size_t end) {
    for (auto j = begin; j < end; ++j) x[j] -= static_cast<double>(row[j]) * factor;
}

double sum_of_sizes(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += std::abs(value);
    return std::isnan(sum) ? INFINITY : sum;
}

}  // namespace

template <class Value>
std::size_t factor_on_cpu(const cpu::Workers& workers, std::span<Value> matrix, std::size_t rows, std::size_t columns,
                          std::vector<std::uint32_t>& order) {
    order.resize(rows);
    std::iota(order.begin(), order.end(), 0U);
    std::size_t info = 0;
    Blocked<Value> work{.values = matrix.data(), .rows = rows, .columns = columns, .order = order};
    const auto steps = std::min(rows, columns);
    for (; work.first < steps; work.first = work.end) {
        work.end = std::min(work.first + columns_of_panel, steps);
        const auto zero = work.factor_panel();
        if (info == 0) info = zero;
        work.finish_rows();
        work.update(workers);
    }
    return info;
}

template <class Value>
std::vector<double> solve_on_cpu(const FactorsView<Value>& factors, std::span<const double> b) {
    const auto n = b.size();
    std::vector<double> y(n), x(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = b[factors.rows[i]] - dot(factors.lu.data() + i * n, y, 0, i);
    for (auto i = n; i-- > 0;) {
        const auto* const row = factors.lu.data() + i * n;
        y[i] = (y[i] - dot(row, y, i + 1, n)) / static_cast<double>(row[i]);
        x[factors.columns[i]] = y[i];
    }
    return x;
}

template <class Value>
std::vector<double> solve_transposed_on_cpu(const FactorsView<Value>& factors, std::span<const double> b) {
    const auto n = b.size();
    std::vector<double> y(n), x(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = b[factors.columns[i]];
    for (std::size_t i = 0; i < n; ++i) {
        const auto* const row = factors.lu.data() + i * n;
        y[i] /= static_cast<double>(row[i]);
        subtract(y, row, y[i], i + 1, n);
    }
    for (auto i = n; i-- > 0;) {
        subtract(y, factors.lu.data() + i * n, y[i], 0, i);
        x[factors.rows[i]] = y[i];
    }
    return x;
}

template <class Value>
double inverse_norm(const FactorsView<Value>& factors) {
    const auto n = factors.rows.size();
    if (n == 0) return 0;
    constexpr int max_steps = 5;
    std::vector<double> x(n, 1 / static_cast<double>(n));
    double found = 0;
    auto last = n;
    for (int step = 0; step < max_steps; ++step) {
        auto y = solve_on_cpu(factors, x);
        const double norm = sum_of_sizes(y);
        if (!(norm > found)) break;
        found = norm;
        for (double& value : y) value = std::signbit(value) ? -1 : 1;
        const auto z = solve_transposed_on_cpu(factors, y);
        const auto largest = static_cast<std::size_t>(
            std::ranges::max_element(z, {}, [](double value) { return std::abs(value); }) - z.begin());
        if (largest == last || !std::isfinite(z[largest])) break;
        last = largest;
        std::ranges::fill(x, 0.0);
        x[largest] = 1;
    }
    // A vector with alternating signs finds what the steps above miss if terms cancel.
    for (std::size_t i = 0; i < n; ++i)
        x[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / std::max(1.0, static_cast<double>(n) - 1));
    const double alternating = 2 * sum_of_sizes(solve_on_cpu(factors, x)) / (3 * static_cast<double>(n));
    return std::max(found, alternating);
}

template std::size_t factor_on_cpu(const cpu::Workers&, std::span<float>, std::size_t, std::size_t,
                                   std::vector<std::uint32_t>&);
template std::size_t factor_on_cpu(const cpu::Workers&, std::span<double>, std::size_t, std::size_t,
                                   std::vector<std::uint32_t>&);
template std::vector<double> solve_on_cpu(const FactorsView<double>&, std::span<const double>);
template double inverse_norm(const FactorsView<float>&);
template double inverse_norm(const FactorsView<double>&);

}  // namespace quadmill::detail::linalg
