#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "linalg/batch_lu.hpp"
#include "linalg/matrix_texture.hpp"
#include "linalg/tools.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

using namespace detail;          // NOLINT(google-build-using-namespace): this file is a front door of the room
using namespace detail::linalg;  // NOLINT(google-build-using-namespace)

struct LuBatch::State : Tools {
    using Tools::Tools;

    [[nodiscard]] BatchLu::Grid grid_of(const char* where, std::size_t matrices, std::size_t side) const;
    void check_is_factorized(const char* where) const {
        if (!is_factorized) throw InvalidArgument(std::string(where) + ": nothing was factorized; call factor() first");
    }

    // What the last factorization left.
    bool is_factorized = false;
    std::size_t systems = 0, n = 0;
    std::vector<std::uint32_t> info;
    std::optional<BatchLu> factorized;  // nothing of no elements
};

BatchLu::Grid LuBatch::State::grid_of(const char* where, std::size_t matrices, std::size_t side) const {
    const int most = context.info().max_texture_size;
    if (const auto found = BatchLu::grid_of(matrices, as_int(side), most)) return *found;
    throw InvalidArgument(std::string(where) + ": " + std::to_string(matrices) + " matrices of " +
                          std::to_string(side) + " x " + std::to_string(side) +
                          " do not fit into textures here, which take " + std::to_string(most) +
                          " texels on a side; factorize parts of them");
}

LuBatch::LuBatch(const Context& context, unsigned threads) : state_(std::make_unique<State>(context, threads)) {}
LuBatch::LuBatch(LuBatch&&) noexcept = default;
LuBatch& LuBatch::operator=(LuBatch&&) noexcept = default;
LuBatch::~LuBatch() = default;

BatchStats LuBatch::factor(std::span<const float> matrices, std::size_t n) {
    auto& state = *state_;
    if (n > most_n)
        throw InvalidArgument("LuBatch::factor: n must be at most " + std::to_string(most_n) + ", not " +
                              std::to_string(n) + "; Lu takes larger matrices");
    if (n == 0 ? !matrices.empty() : matrices.size() % (n * n) != 0)
        throw InvalidArgument("LuBatch::factor: " + std::to_string(matrices.size()) + " values make no " +
                              std::to_string(n) + " x " + std::to_string(n) + " matrices");
    check_finite("LuBatch::factor", matrices, n, n);
    const auto systems = n == 0 ? 0 : matrices.size() / (n * n);
    const auto grid = matrices.empty() ? BatchLu::Grid{} : state.grid_of("LuBatch::factor", systems, n);
    state.is_factorized = false;
    state.factorized.reset();
    state.systems = systems;
    state.n = n;
    state.info.clear();
    BatchStats stats{.systems = state.systems, .n = n, .info = {}};
    if (!matrices.empty()) {
        auto& device = *detail::Access::of(state.context);
        const gl::Scope scope(device, "LuBatch::factor");
        auto& batch = state.factorized.emplace(device, state.gpu_programs(), as_int(n), grid);
        const cpu::Stopwatch upload_time;
        upload(device, state.workers, state.uploader, matrices, batch.source());
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

BatchFactors LuBatch::factors() {
    auto& state = *state_;
    state.check_is_factorized("LuBatch::factors");
    BatchFactors found;
    if (!state.factorized) return found;
    auto& device = *detail::Access::of(state.context);
    const gl::Scope scope(device, "LuBatch::factors");
    const auto read = [&](int which) {
        return read_back<std::array<float, 4>>(device, state.workers, state.factorized->factors(which));
    };
    const std::array texels{read(0), read(1)};
    const auto stride = static_cast<std::size_t>(state.factorized->texels_of_row());
    found.lu.reserve(state.systems * state.n * state.n);
    for (std::size_t row = 0; row < state.systems * state.n; ++row) {
        const auto which = static_cast<std::size_t>(state.factorized->finished_in(as_int(row % state.n)));
        const auto of_row = std::span(texels.at(which)).subspan(row * stride, stride);
        for (std::size_t j = 0; j < state.n; ++j) found.lu.push_back(of_row[j / 4][j % 4]);
        found.rows.push_back(static_cast<std::uint32_t>(of_row.back()[0]));
    }
    scope.check();
    return found;
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
    const auto most = static_cast<std::size_t>(state.context.info().max_texture_size);
    if (static_cast<std::size_t>(grid.across) * of_system > most)
        throw InvalidArgument("LuBatch::solve: " + std::to_string(columns) +
                              " right-hand sides of each system do not fit into textures here; solve for fewer");
    auto& device = *detail::Access::of(state.context);
    const gl::Scope scope(device, "LuBatch::solve");
    const gl::Texture sides(device, gl::Format::R32f, grid.across * as_int(of_system), grid.down);
    upload(device, state.workers, state.uploader, b, sides);
    const auto solved = state.factorized->solve(sides, as_int(columns));
    auto x = read_back<float>(device, state.workers, solved.texture);
    x.resize(b.size());
    for (std::size_t i = 0; i < state.systems; ++i) {
        if (state.info[i] > 0)
            std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(i * of_system), of_system,
                        std::numeric_limits<float>::quiet_NaN());
    }
    scope.check();
    return x;
}

}  // namespace quadmill
