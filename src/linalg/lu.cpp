#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "linalg/blocked_lu.hpp"
#include "linalg/matrix_texture.hpp"
#include "linalg/on_gpu.hpp"
#include "linalg/row_lu.hpp"
#include "linalg/substitution.hpp"
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill {

using namespace detail;          // NOLINT(google-build-using-namespace): this file is the front door of the room
using namespace detail::linalg;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t usual_block = 32;

std::size_t block_of(const LuOptions& options) {
    const auto block = options.block.value_or(options.pivot == Pivot::Full ? 1 : usual_block);
    if (block != 1 && block != 8 && block != 16 && block != 32)
        throw InvalidArgument("Lu: block must be 1, 8, 16 or 32, not " + std::to_string(block));
    if (block != 1 && options.pivot == Pivot::Full)
        throw InvalidArgument("Lu: with Pivot::Full a pass eliminates one row; leave block unset, or 1");
    return block;
}

bool is_zero(float pivot) {
    return !(std::abs(pivot) >= std::numeric_limits<float>::min());
}

// The permutation's sign: 1 or -1.
int sign_of(std::span<const std::uint32_t> permutation) {
    std::vector<bool> seen(permutation.size());
    int sign = 1;
    for (std::size_t i = 0; i < permutation.size(); ++i) {
        for (auto at = i; !seen[at]; at = permutation[at]) {
            seen[at] = true;
            if (permutation[at] != i) sign = -sign;
        }
    }
    return sign;
}

double largest(std::span<const double> values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::isnan(value) ? INFINITY : std::abs(value));
    return most;
}

}  // namespace

double Determinant::value() const noexcept {
    return sign * std::exp(log_magnitude);
}

struct Lu::State : OnGpu {
    State(const Context& with, const LuOptions& wanted)
        : OnGpu(with, wanted.threads), options(wanted), block(block_of(wanted)) {}

    template <class Factorize>
    void run(Factorize& factorize, MatrixView matrix, LuStats& stats);
    void find_info(LuStats& stats);
    void check_fits(std::size_t rows, std::size_t columns) const;
    void check_square(const std::string& where) const;
    void check_solves(const std::string& where, std::size_t values, std::size_t columns) const;
    [[nodiscard]] std::vector<float> solve(std::span<const float> b, std::size_t columns);
    [[nodiscard]] std::vector<double> residuals(MatrixView matrix, std::span<const double> b, std::span<const double> x,
                                                std::size_t columns);
    [[nodiscard]] std::vector<double> correction(std::span<const double> residuals, std::size_t columns);

    LuOptions options;
    std::size_t block;
    // What the last factorization left.
    bool is_factorized = false;
    std::size_t rows = 0, columns = 0, info = 0;
    Factorized factorized;  // empty for an empty matrix
    std::vector<float> diagonal;
    std::vector<std::uint32_t> row_order, column_order;
};

void Lu::State::check_fits(std::size_t rows_wanted, std::size_t columns_wanted) const {
    const auto most = static_cast<std::size_t>(context.info().max_texture_size);
    if (rows_wanted <= most && columns_wanted <= most) return;
    throw InvalidArgument("Lu::factor: " + std::to_string(rows_wanted) + " rows and " + std::to_string(columns_wanted) +
                          " columns do not fit into textures here, which take " + std::to_string(most) + " of each");
}

template <class Factorize>
void Lu::State::run(Factorize& factorize, MatrixView matrix, LuStats& stats) {
    auto& device = *detail::Access::of(context);
    const cpu::Stopwatch upload_time;
    upload(device, workers, uploader, matrix.values, factorize.source());
    gl::finish(device);
    stats.upload_ms = upload_time.ms();
    const auto passes = device.passes;
    const cpu::Stopwatch time;
    factorized = factorize();
    gl::finish(device);
    stats.factor_ms = time.ms();
    stats.passes = device.passes - passes;
}

void Lu::State::find_info(LuStats& stats) {
    auto& device = *detail::Access::of(context);
    const int steps = as_int(std::min(rows, columns));
    const pass::Target target(device, gl::Format::R32f, steps, 1);
    fill(device, "diagonal", on_gpu().get("linalg/diagonal.frag", shaders::linalg_diagonal_frag), target,
         {&factorized.lu.texture});
    diagonal = read_back<float>(device, workers, target.texture);
    const auto zero = std::ranges::find_if(diagonal, is_zero);
    info = zero == diagonal.end() ? 0 : static_cast<std::size_t>(zero - diagonal.begin()) + 1;
    stats.info = info;
    const auto pointers = read_back<std::uint32_t>(device, workers, factorized.pointers);
    const auto width = static_cast<std::ptrdiff_t>(std::max(rows, columns));
    row_order.assign(pointers.begin(), pointers.begin() + static_cast<std::ptrdiff_t>(rows));
    column_order.assign(pointers.begin() + width, pointers.begin() + width + static_cast<std::ptrdiff_t>(columns));
}

Lu::Lu(const Context& context, const LuOptions& options) : state_(std::make_unique<State>(context, options)) {}
Lu::Lu(Lu&&) noexcept = default;
Lu& Lu::operator=(Lu&&) noexcept = default;
Lu::~Lu() = default;

LuStats Lu::factor(MatrixView matrix) {
    auto& state = *state_;
    const auto [values, rows, columns] = matrix;
    check_shape("Lu::factor", values.size(), rows, columns);
    check_finite("Lu::factor", values, columns);
    state.check_fits(rows, columns);
    state.is_factorized = false;
    state.factorized = {};
    state.rows = rows;
    state.columns = columns;
    state.info = 0;
    state.diagonal.clear();
    LuStats stats{.rows = rows, .columns = columns, .block = state.block};
    if (values.empty()) {
        state.row_order.resize(rows);
        state.column_order.resize(columns);
        std::iota(state.row_order.begin(), state.row_order.end(), 0U);
        std::iota(state.column_order.begin(), state.column_order.end(), 0U);
    } else {
        auto& device = *detail::Access::of(state.context);
        const gl::Scope scope(device, "Lu::factor");
        auto& programs = state.on_gpu();
        if (state.block == 1) {
            RowLu factorize(device, programs, state.options.pivot, state.options.swap, as_int(rows), as_int(columns));
            state.run(factorize, matrix, stats);
        } else {
            BlockedLu factorize(device, programs, {state.options.pivot, as_int(state.block), state.options.layout},
                                as_int(rows), as_int(columns));
            state.run(factorize, matrix, stats);
        }
        state.find_info(stats);
        scope.check();
    }
    state.is_factorized = true;
    return stats;
}

Factors Lu::factors() {
    auto& state = *state_;
    if (!state.is_factorized) throw InvalidArgument("Lu::factors: nothing was factorized; call factor() first");
    Factors found{{}, state.row_order, state.column_order};
    if (state.rows == 0 || state.columns == 0) return found;
    const gl::Scope scope(*detail::Access::of(state.context), "Lu::factors");
    found.lu = read_back<float>(*detail::Access::of(state.context), state.workers, state.factorized.lu.texture);
    scope.check();
    return found;
}

void Lu::State::check_square(const std::string& where) const {
    if (!is_factorized) throw InvalidArgument(where + ": nothing was factorized; call factor() first");
    if (rows != columns)
        throw InvalidArgument(where + ": the matrix is not square, but has " + std::to_string(rows) + " rows and " +
                              std::to_string(columns) + " columns");
}

void Lu::State::check_solves(const std::string& where, std::size_t values, std::size_t sides) const {
    check_square(where);
    if (values != rows * sides)
        throw InvalidArgument(where + ": " + std::to_string(rows) + " rows and " + std::to_string(sides) +
                              " right-hand sides do not make " + std::to_string(values) + " values");
    if (sides > static_cast<std::size_t>(context.info().max_texture_size))
        throw InvalidArgument(where + ": more right-hand sides than textures have columns, " +
                              std::to_string(context.info().max_texture_size));
    if (info > 0) throw Error(where + ": the matrix is singular: pivot " + std::to_string(info) + " is zero");
}

std::vector<float> Lu::State::solve(std::span<const float> b, std::size_t sides) {
    if (b.empty()) return {};
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "Lu::solve");
    std::vector<float> ordered(b.size());
    for (std::size_t i = 0; i < rows; ++i)
        std::ranges::copy(b.subspan(row_order[i] * sides, sides),
                          ordered.begin() + static_cast<std::ptrdiff_t>(i * sides));
    Substitution substitution(device, on_gpu(), factorized.lu.texture, as_int(sides));
    upload(device, workers, uploader, std::span<const float>(ordered), substitution.source());
    const auto found = read_back<float>(device, workers, substitution());
    std::vector<float> x(b.size());
    for (std::size_t i = 0; i < rows; ++i)
        std::ranges::copy(std::span(found).subspan(i * sides, sides),
                          x.begin() + static_cast<std::ptrdiff_t>(column_order[i] * sides));
    scope.check();
    return x;
}

std::vector<float> Lu::solve(std::span<const float> b, std::size_t columns) {
    state_->check_solves("Lu::solve", b.size(), columns);
    if (columns > 0) check_finite("Lu::solve", b, columns);
    return state_->solve(b, columns);
}

std::vector<double> Lu::State::residuals(MatrixView matrix, std::span<const double> b, std::span<const double> x,
                                         std::size_t sides) {
    std::vector<double> left(b.begin(), b.end());
    constexpr std::size_t rows_of_task = 16;
    workers.for_each((rows + rows_of_task - 1) / rows_of_task, [&](std::size_t task) {
        for (auto i = task * rows_of_task; i < std::min((task + 1) * rows_of_task, rows); ++i) {
            double* const out = left.data() + i * sides;
            for (std::size_t j = 0; j < columns; ++j) {
                const double factor = matrix.values[i * columns + j];
                for (std::size_t side = 0; side < sides; ++side) out[side] -= factor * x[j * sides + side];
            }
        }
    });
    return left;
}

// Corrections of single precision, of right-hand sides that are scaled so that they neither overflow nor vanish.
std::vector<double> Lu::State::correction(std::span<const double> residuals, std::size_t sides) {
    const double most = largest(residuals);
    const int exponent = most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
    std::vector<float> scaled(residuals.size());
    std::ranges::transform(residuals, scaled.begin(),
                           [&](double value) { return static_cast<float>(std::ldexp(value, -exponent)); });
    const auto solved = solve(scaled, sides);
    std::vector<double> found(solved.size());
    std::ranges::transform(solved, found.begin(),
                           [&](float value) { return std::ldexp(static_cast<double>(value), exponent); });
    return found;
}

Refinement Lu::solve(MatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns) {
    auto& state = *state_;
    state.check_solves("Lu::solve", b.size(), columns);
    if (matrix.rows != state.rows || matrix.columns != state.columns || matrix.values.size() != state.rows * state.rows)
        throw InvalidArgument("Lu::solve: the matrix has another shape than the one that was factorized");
    if (x.size() != b.size())
        throw InvalidArgument("Lu::solve: x has " + std::to_string(x.size()) + " elements, and b " +
                              std::to_string(b.size()));
    if (!std::isfinite(largest(b))) throw InvalidArgument("Lu::solve: b has a NaN or an infinity");
    const std::vector<double> sides(b.begin(), b.end());  // x may lie where b does
    std::ranges::fill(x, 0.0);
    Refinement found{.converged = true};
    if (sides.empty()) return found;
    double norm = 0;  // of the matrix
    for (std::size_t i = 0; i < state.rows; ++i) {
        double sum = 0;
        for (const float value : matrix.values.subspan(i * state.rows, state.rows))
            sum += std::abs(static_cast<double>(value));
        norm = std::max(norm, sum);
    }
    const double least = std::sqrt(static_cast<double>(state.rows)) * std::numeric_limits<double>::epsilon() / 2;
    auto left = sides;
    std::vector<double> best(x.size());
    found.residual = largest(sides) > 0 ? 1 : 0;
    while (found.residual > least) {
        const auto correction = state.correction(left, columns);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += correction[i];
        left = state.residuals(matrix, sides, x, columns);
        ++found.steps;
        const double residual = largest(left) / (norm * largest(x) + largest(sides));
        found.converged = residual <= found.residual / 2;
        if (residual < found.residual) {
            found.residual = residual;
            std::ranges::copy(x, best.begin());
        }
        if (!found.converged) break;
    }
    std::ranges::copy(best, x.begin());
    return found;
}

std::vector<float> Lu::inverse() {
    const auto n = state_->rows;
    state_->check_solves("Lu::inverse", n * n, n);
    std::vector<float> identity(n * n);
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = 1;
    return state_->solve(identity, n);
}

Determinant Lu::determinant() {
    auto& state = *state_;
    state.check_square("Lu::determinant");
    if (state.info > 0) return {};
    Determinant found{sign_of(state.row_order) * sign_of(state.column_order), 0};
    for (const float pivot : state.diagonal) {
        if (pivot < 0) found.sign = -found.sign;
        found.log_magnitude += std::log(std::abs(static_cast<double>(pivot)));
    }
    return found;
}

}  // namespace quadmill
