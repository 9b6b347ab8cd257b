#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "linalg/batch_lu.hpp"
#include "linalg/cpu_lu.hpp"
#include "linalg/matrix_texture.hpp"
#include "linalg/refinement.hpp"
#include "linalg/scaling.hpp"
#include "linalg/tools.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

using namespace detail;          // NOLINT(google-build-using-namespace): this file is a front door of the room
using namespace detail::linalg;  // NOLINT(google-build-using-namespace)

namespace {

// Matrix i of the batch, or its right-hand sides.
template <class Value>
std::span<Value> part(std::span<Value> all, std::size_t i, std::size_t size) {
    return all.subspan(i * size, size);
}

// Calls work(i) for each matrix, on all threads.
template <class Work>
void for_systems(const cpu::Workers& workers, std::size_t systems, const Work& work) {
    constexpr std::size_t task = 256;
    workers.for_each((systems + task - 1) / task, [&](std::size_t t) {
        for (auto i = t * task; i < std::min(systems, (t + 1) * task); ++i) work(i);
    });
}

// One scaling per matrix; empty if no matrix needs one.
std::vector<Scaling> scalings_of(const cpu::Workers& workers, std::span<const float> matrices, std::size_t systems,
                                 std::size_t n) {
    std::atomic<bool> is_needed = false;
    for_systems(workers, systems, [&](std::size_t i) {
        if (!are_in_range(part(matrices, i, n * n))) is_needed = true;
    });
    if (!is_needed) return {};
    std::vector<Scaling> found(systems);
    for_systems(workers, systems,
                [&](std::size_t i) { found[i] = scaling_of("LuBatch::factor", part(matrices, i, n * n), n, n); });
    return found;
}

}  // namespace

struct LuBatch::State : Tools {
    using Tools::Tools;

    [[nodiscard]] BatchLu::Grid grid_of(const char* where, std::size_t matrices, std::size_t side) const;
    void check_is_factorized(const char* where) const {
        if (!is_factorized) throw InvalidArgument(std::string(where) + ": nothing was factorized; call factor() first");
    }

    [[nodiscard]] std::vector<float> scaled(std::span<const float> matrices) const;
    [[nodiscard]] BatchFactors read_factors();
    [[nodiscard]] std::vector<float> substitute(std::span<const float> b, std::size_t sides, const BatchLu::Grid& grid);
    [[nodiscard]] std::vector<float> solve_scaled(std::span<const float> b, std::size_t sides,
                                                  const BatchLu::Grid& grid);

    // State after the last factorization.
    bool is_factorized = false;
    std::size_t systems = 0, n = 0;
    std::vector<std::uint32_t> info;
    std::vector<Scaling> scalings;      // empty: no matrix is scaled
    std::optional<BatchLu> factorized;  // nothing if there are no elements
};

BatchLu::Grid LuBatch::State::grid_of(const char* where, std::size_t matrices, std::size_t side) const {
    const int max = context.info().max_texture_size;
    if (const auto found = BatchLu::grid_of(matrices, as_int(side), max)) return *found;
    throw InvalidArgument(std::string(where) + ": " + std::to_string(matrices) + " matrices of " +
                          std::to_string(side) + " x " + std::to_string(side) +
                          " do not fit into textures here, which take " + std::to_string(max) +
                          " texels on a side; factorize parts of them");
}

std::vector<float> LuBatch::State::scaled(std::span<const float> matrices) const {
    std::vector<float> made(matrices.size());
    for_systems(workers, systems, [&](std::size_t i) {
        auto to = part(std::span(made), i, n * n).begin();
        const ScaledMatrix<float> matrix{part(matrices, i, n * n), n, n, scalings[i]};
        for (std::size_t row = 0; row < n; ++row)
            matrix.for_row(row, [&](std::size_t, double value) { *to++ = static_cast<float>(value); });
    });
    return made;
}

LuBatch::LuBatch(const Context& context, unsigned threads) : state_(std::make_unique<State>(context, threads)) {}
LuBatch::LuBatch(LuBatch&&) noexcept = default;
LuBatch& LuBatch::operator=(LuBatch&&) noexcept = default;
LuBatch::~LuBatch() = default;

BatchStats LuBatch::factor(std::span<const float> matrices, std::size_t n) {
    auto& state = *state_;
    if (n > max_n)
        throw InvalidArgument("LuBatch::factor: n must be at most " + std::to_string(max_n) + ", not " +
                              std::to_string(n) + "; Lu takes larger matrices");
    if (n == 0 ? !matrices.empty() : matrices.size() % (n * n) != 0)
        throw InvalidArgument("LuBatch::factor: " + std::to_string(matrices.size()) + " values do not make " +
                              std::to_string(n) + " x " + std::to_string(n) + " matrices");
    check_finite("LuBatch::factor", matrices, n, n);
    const auto systems = n == 0 ? 0 : matrices.size() / (n * n);
    const auto grid = matrices.empty() ? BatchLu::Grid{} : state.grid_of("LuBatch::factor", systems, n);
    state.is_factorized = false;
    state.factorized.reset();
    state.systems = systems;
    state.n = n;
    state.info.clear();
    state.scalings = scalings_of(state.workers, matrices, systems, n);
    BatchStats stats{.systems = state.systems, .n = n, .info = {}};
    if (!matrices.empty()) {
        auto& device = *detail::Access::of(state.context);
        const gl::Scope scope(device, "LuBatch::factor");
        auto& batch = state.factorized.emplace(device, state.gpu_programs(), as_int(n), grid);
        const cpu::Stopwatch upload_time;
        if (state.scalings.empty()) {
            upload(device, state.workers, state.uploader, matrices, batch.source());
        } else {
            const auto scaled = state.scaled(matrices);
            upload(device, state.workers, state.uploader, std::span<const float>(scaled), batch.source());
        }
        gl::finish(device);
        stats.upload_ms = upload_time.ms();
        const auto passes = device.passes;
        const cpu::Stopwatch time;
        const auto& info = batch.factorize();
        gl::finish(device);
        stats.factor_ms = time.ms();
        stats.passes = device.passes - passes;
        state.info = read_back<std::uint32_t>(device, state.workers, info);
        state.info.resize(state.systems);
        scope.check();
    }
    state.is_factorized = true;
    stats.info = state.info;
    return stats;
}

// The factors of the scaled matrices.
BatchFactors LuBatch::State::read_factors() {
    BatchFactors found;
    if (!factorized) return found;
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "LuBatch::factors");
    const auto read = [&](int which) {
        return read_back<std::array<float, 4>>(device, workers, factorized->factors(which));
    };
    const std::array texels{read(0), read(1)};
    const auto stride = static_cast<std::size_t>(factorized->texels_of_row());
    found.lu.reserve(systems * n * n);
    for (std::size_t row = 0; row < systems * n; ++row) {
        const auto which = static_cast<std::size_t>(factorized->finished_in(as_int(row % n)));
        const auto of_row = std::span(texels.at(which)).subspan(row * stride, stride);
        for (std::size_t j = 0; j < n; ++j) found.lu.push_back(of_row[j / 4][j % 4]);
        found.rows.push_back(static_cast<std::uint32_t>(of_row.back()[0]));
    }
    scope.check();
    return found;
}

std::vector<double> BatchFactors::unscaled() const {
    std::vector<double> found(lu.begin(), lu.end());
    if (row_exponents.empty()) return found;
    const auto n = lu.size() / rows.size();
    Factors one;
    one.columns.resize(n);
    std::iota(one.columns.begin(), one.columns.end(), 0U);
    const auto take = [](auto& to, std::span<const typename std::remove_cvref_t<decltype(to)>::value_type> from) {
        to.assign(from.begin(), from.end());
    };
    for (std::size_t i = 0; i < rows.size() / n; ++i) {
        take(one.lu, part(std::span(lu), i, n * n));
        take(one.rows, part(std::span(rows), i, n));
        take(one.row_exponents, part(std::span(row_exponents), i, n));
        take(one.column_exponents, part(std::span(column_exponents), i, n));
        std::ranges::copy(one.unscaled(), part(std::span(found), i, n * n).begin());
    }
    return found;
}

BatchFactors LuBatch::factors() {
    auto& state = *state_;
    state.check_is_factorized("LuBatch::factors");
    auto found = state.read_factors();
    const auto n = state.n;
    for (std::size_t i = 0; i < state.scalings.size(); ++i) {
        const auto& scaling = state.scalings[i];
        if (scaling.is_identity()) continue;
        if (scaling.is_uniform && take_scaling_back(part(std::span(found.lu), i, n * n), n, scaling.rows.front()))
            continue;
        found.row_exponents.resize(state.systems * n);
        found.column_exponents.resize(state.systems * n);
        std::ranges::copy(scaling.rows, part(std::span(found.row_exponents), i, n).begin());
        std::ranges::copy(scaling.columns, part(std::span(found.column_exponents), i, n).begin());
    }
    return found;
}

std::vector<double> LuBatch::conditions(std::span<const float> matrices) {
    auto& state = *state_;
    state.check_is_factorized("LuBatch::conditions");
    const auto n = state.n;
    if (matrices.size() != state.systems * n * n)
        throw InvalidArgument("LuBatch::conditions: " + std::to_string(state.systems) + " matrices of " +
                              std::to_string(n) + " x " + std::to_string(n) + " were factorized, which are not " +
                              std::to_string(matrices.size()) + " values");
    const auto factors = state.read_factors();
    std::vector<double> found(state.systems, std::numeric_limits<double>::infinity());
    std::vector<std::uint32_t> columns(n);
    std::iota(columns.begin(), columns.end(), 0U);
    const Scaling none{std::vector<int>(n), std::vector<int>(n)};
    for_systems(state.workers, state.systems, [&](std::size_t i) {
        if (state.info[i] > 0) return;
        const auto& scaling = state.scalings.empty() ? none : state.scalings[i];
        found[i] = one_norm(ScaledMatrix<float>{part(matrices, i, n * n), n, n, scaling}) *
                   inverse_norm(FactorsView<float>{part(std::span(factors.lu), i, n * n),
                                                   part(std::span(factors.rows), i, n), columns});
    });
    return found;
}

// Right-hand sides are not scaled.
std::vector<float> LuBatch::State::substitute(std::span<const float> b, std::size_t sides, const BatchLu::Grid& grid) {
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "LuBatch::solve");
    const gl::Texture right(device, gl::Format::R32f, grid.across * as_int(n * sides), grid.down);
    upload(device, workers, uploader, b, right);
    auto x = read_back<float>(device, workers, factorized->solve(right, as_int(sides)).texture);
    x.resize(b.size());
    scope.check();
    return x;
}

// Scales each right-hand side to about 1, like Lu.
std::vector<float> LuBatch::State::solve_scaled(std::span<const float> b, std::size_t sides,
                                                const BatchLu::Grid& grid) {
    const auto of_system = n * sides;
    const Scaling none{std::vector<int>(n), std::vector<int>(n)};
    std::vector<std::uint32_t> in_order(n);
    std::iota(in_order.begin(), in_order.end(), 0U);
    std::vector<float> right(b.size());
    std::vector<int> exponents(systems * sides);
    const auto scaling_of_system = [&](std::size_t i) -> const Scaling& {
        return scalings.empty() ? none : scalings[i];
    };
    for_systems(workers, systems, [&](std::size_t i) {
        const auto& rows = scaling_of_system(i).rows;
        const auto found = exponents_of(part(b, i, of_system), rows, sides);
        std::ranges::copy(scaled_rows<float>(part(b, i, of_system), in_order, rows, found),
                          part(std::span(right), i, of_system).begin());
        std::ranges::transform(found, part(std::span(exponents), i, sides).begin(), std::negate());
    });
    auto x = substitute(right, sides, grid);
    for_systems(workers, systems, [&](std::size_t i) {
        const auto solved = part(std::span(x), i, of_system);
        std::ranges::copy(scaled_rows<float>(std::span<const float>(solved), in_order, scaling_of_system(i).columns,
                                             part(std::span(exponents), i, sides)),
                          solved.begin());
    });
    return x;
}

std::vector<float> LuBatch::solve(std::span<const float> b, std::size_t columns) {
    auto& state = *state_;
    state.check_is_factorized("LuBatch::solve");
    const auto of_system = state.n * columns;
    if (b.size() != state.systems * of_system)
        throw InvalidArgument("LuBatch::solve: " + std::to_string(state.systems) + " systems of " +
                              std::to_string(state.n) + " rows and " + std::to_string(columns) +
                              " right-hand sides do not make " + std::to_string(b.size()) + " values");
    if (b.empty()) return {};
    check_finite("LuBatch::solve", b, state.n, columns);
    const auto grid = state.grid_of("LuBatch::solve", state.systems, state.n);
    const auto max = static_cast<std::size_t>(state.context.info().max_texture_size);
    if (static_cast<std::size_t>(grid.across) * of_system > max)
        throw InvalidArgument("LuBatch::solve: " + std::to_string(columns) +
                              " right-hand sides of each system do not fit into textures here; solve for fewer");
    const bool is_plain = state.scalings.empty() && are_in_range(b);
    auto x = is_plain ? state.substitute(b, columns, grid) : state.solve_scaled(b, columns, grid);
    for (std::size_t i = 0; i < state.systems; ++i) {
        if (state.info[i] > 0)
            std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(i * of_system), of_system,
                        std::numeric_limits<float>::quiet_NaN());
    }
    return x;
}

}  // namespace quadmill
