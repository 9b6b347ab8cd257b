#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "linalg/blocked_lu.hpp"
#include "linalg/cpu_lu.hpp"
#include "linalg/matrix_texture.hpp"
#include "linalg/refinement.hpp"
#include "linalg/row_lu.hpp"
#include "linalg/scaling.hpp"
#include "linalg/substitution.hpp"
#include "linalg/tools.hpp"
#include "linalg_shaders.hpp"
#include "quadmill/error.hpp"

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

// Throws GlError unless the numbers that the GPU returned are a permutation, which makes it safe to use them as row
// indices.
void require_permutation(std::span<const std::uint32_t> numbers) {
    std::vector<bool> seen(numbers.size());
    for (const auto number : numbers) {
        if (number >= seen.size() || seen[number])
            throw GlError("Lu: the GPU returned pivots that are not a permutation of the rows or columns");
        seen[number] = true;
    }
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

std::vector<std::uint32_t> inverse_order(std::span<const std::uint32_t> order) {
    std::vector<std::uint32_t> positions(order.size());
    for (std::uint32_t i = 0; i < positions.size(); ++i) positions[order[i]] = i;
    return positions;
}

}  // namespace

std::vector<double> Factors::unscaled() const {
    std::vector<double> found(lu.begin(), lu.end());
    if (row_exponents.empty()) return found;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const int back = j < i ? row_exponents[rows[j]] : -column_exponents[columns[j]];
            auto& value = found[i * columns.size() + j];
            value = times_power(value, back - row_exponents[rows[i]]);
        }
    return found;
}

double Determinant::value() const noexcept {
    return sign * std::exp(log_magnitude);
}

struct Lu::State : Tools {
    State(const Context& with, const LuOptions& wanted)
        : Tools(with, wanted.threads), options(wanted), block(block_of(wanted)) {}

    template <class Value>
    LuStats factor(std::span<const Value> values, std::size_t rows_given, std::size_t columns_given);
    template <class Factorize, class Value>
    void run(Factorize& factorize, std::span<const Value> values, LuStats& stats);
    void find_info(LuStats& stats);
    void check_fits(std::size_t rows, std::size_t columns) const;
    void check_square(const std::string& where) const;
    void check_solves(const std::string& where, std::size_t values, std::size_t columns) const;
    void check_pivots(const std::string& where) const;
    [[nodiscard]] std::vector<float> substitute(std::span<const float> ordered, std::size_t sides);
    template <class To, class From>
    [[nodiscard]] std::vector<To> solve(std::span<const From> b, std::size_t sides, const Scaling& of_matrix);
    [[nodiscard]] std::vector<float> solve_finite(const std::string& where, std::span<const float> b,
                                                  std::size_t sides);
    template <class Value>
    Refinement refined(std::span<const Value> values, std::size_t rows_given, std::size_t columns_given,
                       std::span<const double> b, std::span<double> x, std::size_t sides);
    template <class Value>
    void check_same_shape(const std::string& where, std::span<const Value> values, std::size_t rows_given,
                          std::size_t columns_given) const;
    [[nodiscard]] std::vector<float> read_factors();
    template <class Value>
    [[nodiscard]] double condition(std::span<const Value> values);

    LuOptions options;
    std::size_t block;
    // State after the last factorization.
    bool is_factorized = false;
    std::size_t rows = 0, columns = 0, info = 0;
    Factorized factorized;  // empty for an empty matrix
    std::vector<float> diagonal;
    std::vector<std::uint32_t> row_order, column_order;
    Scaling scaling;
};

void Lu::State::check_fits(std::size_t rows_wanted, std::size_t columns_wanted) const {
    const auto max = static_cast<std::size_t>(context.info().max_texture_size);
    if (rows_wanted <= max && columns_wanted <= max) return;
    throw InvalidArgument("Lu::factor: " + std::to_string(rows_wanted) + " rows and " + std::to_string(columns_wanted) +
                          " columns do not fit into textures here, which take " + std::to_string(max) + " of each");
}

template <class Factorize, class Value>
void Lu::State::run(Factorize& factorize, std::span<const Value> values, LuStats& stats) {
    auto& device = *detail::Access::of(context);
    const cpu::Stopwatch upload_time;
    upload(device, workers, uploader, ScaledMatrix<Value>{values, rows, columns, scaling}, factorize.source());
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
    fill(device, "diagonal", gpu_programs().get("linalg/diagonal.frag", shaders::linalg_diagonal_frag), target,
         {&factorized.lu.texture});
    diagonal = read_back<float>(device, workers, target.texture);
    const auto zero = std::ranges::find_if(diagonal, is_zero);
    info = zero == diagonal.end() ? 0 : static_cast<std::size_t>(zero - diagonal.begin()) + 1;
    stats.info = info;
    const auto pointers = read_back<std::uint32_t>(device, workers, factorized.pointers);
    const auto width = static_cast<std::ptrdiff_t>(std::max(rows, columns));
    row_order.assign(pointers.begin(), pointers.begin() + static_cast<std::ptrdiff_t>(rows));
    column_order.assign(pointers.begin() + width, pointers.begin() + width + static_cast<std::ptrdiff_t>(columns));
    require_permutation(row_order);
    require_permutation(column_order);
}

Lu::Lu(const Context& context, const LuOptions& options) : state_(std::make_unique<State>(context, options)) {}
Lu::Lu(Lu&&) noexcept = default;
Lu& Lu::operator=(Lu&&) noexcept = default;
Lu::~Lu() = default;

template <class Value>
LuStats Lu::State::factor(std::span<const Value> values, std::size_t rows_given, std::size_t columns_given) {
    check_shape("Lu::factor", values.size(), rows_given, columns_given);
    check_fits(rows_given, columns_given);
    auto wanted = scaling_of("Lu::factor", values, rows_given, columns_given);
    is_factorized = false;
    factorized = {};
    rows = rows_given;
    columns = columns_given;
    info = 0;
    diagonal.clear();
    scaling = std::move(wanted);
    LuStats stats{.rows = rows, .columns = columns, .block = block};
    if (values.empty()) {
        row_order.resize(rows);
        column_order.resize(columns);
        std::iota(row_order.begin(), row_order.end(), 0U);
        std::iota(column_order.begin(), column_order.end(), 0U);
    } else {
        auto& device = *detail::Access::of(context);
        const gl::Scope scope(device, "Lu::factor");
        if (block == 1) {
            RowLu factorize(device, gpu_programs(), options.pivot, options.swap, as_int(rows), as_int(columns));
            run(factorize, values, stats);
        } else {
            BlockedLu factorize(device, gpu_programs(), {options.pivot, as_int(block), options.layout}, as_int(rows),
                                as_int(columns));
            run(factorize, values, stats);
        }
        find_info(stats);
        scope.check();
    }
    is_factorized = true;
    return stats;
}

LuStats Lu::factor(MatrixView matrix) {
    return state_->factor(matrix.values, matrix.rows, matrix.columns);
}

LuStats Lu::factor(DoubleMatrixView matrix) {
    return state_->factor(matrix.values, matrix.rows, matrix.columns);
}

std::vector<float> Lu::State::read_factors() {
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "Lu::factors");
    auto found = read_back<float>(device, workers, factorized.lu.texture);
    scope.check();
    return found;
}

Factors Lu::factors() {
    auto& state = *state_;
    if (!state.is_factorized) throw InvalidArgument("Lu::factors: nothing was factorized; call factor() first");
    Factors found{.lu = {}, .rows = state.row_order, .columns = state.column_order};
    if (state.rows == 0 || state.columns == 0) return found;
    found.lu = state.read_factors();
    const auto& scaling = state.scaling;
    if (scaling.is_identity()) return found;
    if (scaling.is_uniform && take_scaling_back(found.lu, state.columns, scaling.rows.front())) return found;
    found.row_exponents = scaling.rows;
    found.column_exponents = scaling.columns;
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
}

void Lu::State::check_pivots(const std::string& where) const {
    if (info == 0) return;
    const auto pivot = "pivot " + std::to_string(info) + " is zero";
    if (options.pivot == Pivot::Diagonal)
        throw Error(where + ": " + pivot + ", so the matrix needs pivoting, or is singular");
    throw Error(where + ": the matrix is singular: " + pivot);
}

// Right-hand sides are in the order of L's rows, solutions in the order of U's columns.
std::vector<float> Lu::State::substitute(std::span<const float> ordered, std::size_t sides) {
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "Lu::solve");
    Substitution substitution(device, gpu_programs(), factorized.lu.texture, as_int(sides));
    upload(device, workers, uploader, ordered, substitution.source());
    auto found = read_back<float>(device, workers, substitution());
    scope.check();
    return found;
}

// Scales each right-hand side to about 1, so that it neither overflows nor underflows.
template <class To, class From>
std::vector<To> Lu::State::solve(std::span<const From> b, std::size_t sides, const Scaling& of_matrix) {
    if (b.empty()) return {};
    auto exponents = exponents_of(b, of_matrix.rows, sides);
    const auto solved = substitute(scaled_rows<float>(b, row_order, of_matrix.rows, exponents), sides);
    for (auto& exponent : exponents) exponent = -exponent;
    std::vector<int> of_columns(columns);
    for (std::size_t i = 0; i < columns; ++i) of_columns[i] = of_matrix.columns[column_order[i]];
    return scaled_rows<To>(std::span(solved), inverse_order(column_order), of_columns, exponents);
}

std::vector<float> Lu::State::solve_finite(const std::string& where, std::span<const float> b, std::size_t sides) {
    check_pivots(where);
    auto x = solve<float>(b, sides, scaling);
    const auto bad = std::ranges::find_if(x, [](float value) { return !std::isfinite(value); });
    if (bad != x.end())
        throw Error(where + ": row " + std::to_string(static_cast<std::size_t>(bad - x.begin()) / sides) +
                    " (from 0) of the solution does not fit into 32-bit floats; ask for a refined one, in double");
    return x;
}

std::vector<float> Lu::solve(std::span<const float> b, std::size_t columns) {
    state_->check_solves("Lu::solve", b.size(), columns);
    if (columns > 0) check_finite<float>("Lu::solve", b, columns);
    return state_->solve_finite("Lu::solve", b, columns);
}

template <class Value>
void Lu::State::check_same_shape(const std::string& where, std::span<const Value> values, std::size_t rows_given,
                                 std::size_t columns_given) const {
    if (rows_given != rows || columns_given != columns || values.size() != rows * columns)
        throw InvalidArgument(where + ": the matrix has another shape than the one that was factorized");
}

template <class Value>
Refinement Lu::State::refined(std::span<const Value> values, std::size_t rows_given, std::size_t columns_given,
                              std::span<const double> b, std::span<double> x, std::size_t sides) {
    check_solves("Lu::solve", b.size(), sides);
    check_same_shape("Lu::solve", values, rows_given, columns_given);
    if (x.size() != b.size())
        throw InvalidArgument("Lu::solve: x has " + std::to_string(x.size()) + " elements, and b " +
                              std::to_string(b.size()));
    if (!std::isfinite(largest(b))) throw InvalidArgument("Lu::solve: b has a NaN or an infinity");
    if (b.empty()) return {.converged = true};
    const ScaledMatrix<Value> matrix{values, rows, columns, scaling};
    std::vector<std::uint32_t> in_order(rows);
    std::iota(in_order.begin(), in_order.end(), 0U);
    auto exponents = exponents_of(b, scaling.rows, sides);
    const auto right = scaled_rows<double>(b, in_order, scaling.rows, exponents);
    std::vector<double> y(x.size());
    Refinement found;
    const Scaling none{std::vector<int>(rows), std::vector<int>(columns)};  // both sides are scaled
    if (info == 0)
        found = refine(workers, matrix, right, y, sides,
                       [&](std::span<const double> left) { return solve<double>(left, sides, none); });
    if (!found.converged) found = refine_on_cpu(workers, matrix, right, y, sides);
    for (auto& exponent : exponents) exponent = -exponent;
    std::ranges::copy(scaled_rows<double>(std::span<const double>(y), in_order, scaling.columns, exponents), x.begin());
    return found;
}

Refinement Lu::solve(MatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns) {
    return state_->refined(matrix.values, matrix.rows, matrix.columns, b, x, columns);
}

Refinement Lu::solve(DoubleMatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns) {
    return state_->refined(matrix.values, matrix.rows, matrix.columns, b, x, columns);
}

template <class Value>
double Lu::State::condition(std::span<const Value> values) {
    if (info > 0) return std::numeric_limits<double>::infinity();
    if (rows == 0) return 0;
    const auto lu = read_factors();
    return one_norm(ScaledMatrix<Value>{values, rows, columns, scaling}) *
           inverse_norm(FactorsView<float>{lu, row_order, column_order});
}

double Lu::condition(MatrixView matrix) {
    state_->check_square("Lu::condition");
    state_->check_same_shape("Lu::condition", matrix.values, matrix.rows, matrix.columns);
    return state_->condition(matrix.values);
}

double Lu::condition(DoubleMatrixView matrix) {
    state_->check_square("Lu::condition");
    state_->check_same_shape("Lu::condition", matrix.values, matrix.rows, matrix.columns);
    return state_->condition(matrix.values);
}

std::vector<float> Lu::inverse() {
    const auto n = state_->rows;
    state_->check_solves("Lu::inverse", n * n, n);
    std::vector<float> identity(n * n);
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = 1;
    return state_->solve_finite("Lu::inverse", identity, n);
}

Determinant Lu::determinant() {
    auto& state = *state_;
    state.check_square("Lu::determinant");
    if (state.info > 0 && state.options.pivot == Pivot::Diagonal) state.check_pivots("Lu::determinant");
    if (state.info > 0) return {};
    Determinant found{sign_of(state.row_order) * sign_of(state.column_order), 0};
    for (const float pivot : state.diagonal) {
        if (pivot < 0) found.sign = -found.sign;
        found.log_magnitude += std::log(std::abs(static_cast<double>(pivot)));
    }
    const auto& [of_rows, of_columns, is_uniform] = state.scaling;
    const auto exponents = std::accumulate(of_rows.begin(), of_rows.end(), 0LL) +
                           std::accumulate(of_columns.begin(), of_columns.end(), 0LL);
    found.log_magnitude -= static_cast<double>(exponents) * std::numbers::ln2;
    return found;
}

}  // namespace quadmill
