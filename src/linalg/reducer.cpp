#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "linalg/matrix_texture.hpp"
#include "linalg/tools.hpp"
#include "linalg_shaders.hpp"
#include "pass/fold.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

using namespace detail;          // NOLINT(google-build-using-namespace): this file is the front door of the room
using namespace detail::linalg;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int at_once = 64;  // elements that the first pass folds into one

int parts(int count) {
    return (count + at_once - 1) / at_once;
}

std::string along_macro(Along along) {
    return along == Along::Rows ? "#define ROWS\n" : along == Along::Columns ? "#define COLUMNS\n" : "";
}

pass::Fold::Along fold_along(Along along) {
    return along == Along::Rows      ? pass::Fold::Along::Rows
           : along == Along::Columns ? pass::Fold::Along::Columns
                                     : pass::Fold::Along::All;
}

// Throws InvalidArgument if the shapes of two matrices differ.
void check_alike(const auto& left, const auto& right) {
    if (left.rows == right.rows && left.columns == right.columns) return;
    throw InvalidArgument("Reducer::dots: the matrices have " + std::to_string(left.rows) + " x " +
                          std::to_string(left.columns) + " and " + std::to_string(right.rows) + " x " +
                          std::to_string(right.columns) + " elements; they must have the same shape");
}

}  // namespace

struct Reducer::State : Tools {
    using Tools::Tools;

    // A matrix in a texture, which may be the caller's. Rows that are too long are split into rows of another length.
    struct Source {
        std::size_t rows = 0, columns = 0;
        gl::Texture own;
        std::unique_ptr<gl::PlainAccess> host;
        [[nodiscard]] const gl::Texture& texture() const { return host ? host->texture() : own; }
        [[nodiscard]] std::size_t results(Along along) const {
            return along == Along::All ? 1 : along == Along::Rows ? rows : columns;
        }
    };
    // How partial results are made and combined.
    struct Rule {
        pass::FoldRule both;
        std::string prelude{};
        gl::Format format = gl::Format::Rgba32ui;
    };
    // Called before OpenGL: throws InvalidArgument if a shape is wrong or does not fit.
    void check(const char* function, std::size_t values, std::size_t rows, std::size_t columns, Along along) const;
    void check(const char* function, const MatrixInput& matrix, Along along) const;
    [[nodiscard]] Size size_for(const char* function, std::size_t rows, std::size_t columns, Along along) const;
    // Pre: check() passed.
    template <class Word>
    [[nodiscard]] Source upload(const char* function, std::span<const Word> values, std::size_t rows,
                                std::size_t columns, gl::Format format, Along along);
    [[nodiscard]] Source open(const char* function, const MatrixInput& matrix, Along along);
    // Folds the matrix. `second` is bound to unit 1.
    [[nodiscard]] gl::Texture fold(const Source& source, Along along, const Rule& rule,
                                   const gl::Texture* second = nullptr);
    template <class Channel>
    [[nodiscard]] std::vector<std::array<Channel, 4>> read(const gl::Texture& texture) {
        return read_back<std::array<Channel, 4>>(*detail::Access::of(context), workers, texture);
    }
    [[nodiscard]] std::vector<float> float_sums(const Source& source, Along along, const std::string& prelude,
                                                const gl::Texture* second = nullptr);
    enum class Which { Min, Max };
    [[nodiscard]] std::vector<std::optional<Extreme>> extremes(const char* function, const MatrixInput& matrix,
                                                               Along along, Which which);
    template <class Sum, class Word>
    [[nodiscard]] std::vector<Sum> exact_sums(std::span<const Word> values, std::size_t columns, Along along);
};

void Reducer::State::check(const char* function, std::size_t values, std::size_t rows, std::size_t columns,
                           Along along) const {
    check_shape(function, values, rows, columns);
    static_cast<void>(size_for(function, rows, columns, along));
}

// The sizes of textures have been checked by the driver.
void Reducer::State::check(const char* function, const MatrixInput& matrix, Along along) const {
    if (const auto* view = std::get_if<MatrixView>(&matrix))
        check(function, view->values.size(), view->rows, view->columns, along);
}

Size Reducer::State::size_for(const char* function, std::size_t rows, std::size_t columns, Along along) const {
    return size_to_reduce(function, rows, columns, along, static_cast<std::size_t>(context.info().max_texture_size));
}

template <class Word>
Reducer::State::Source Reducer::State::upload(const char* function, std::span<const Word> values, std::size_t rows,
                                              std::size_t columns, gl::Format format, Along along) {
    Source source{rows, columns, {}, nullptr};
    if (values.empty()) return source;
    const auto [width, height] = size_for(function, rows, columns, along);
    source.own = gl::Texture(*detail::Access::of(context), format, width, height);
    linalg::upload(*detail::Access::of(context), workers, uploader, values, source.own);
    return source;
}

Reducer::State::Source Reducer::State::open(const char* function, const MatrixInput& matrix, Along along) {
    if (const auto* view = std::get_if<MatrixView>(&matrix))
        return upload(function, view->values, view->rows, view->columns, gl::Format::R32f, along);
    auto& device = *detail::Access::of(context);
    const auto texture =
        gl::host_texture(device, std::get<MatrixTexture>(matrix).id, {gl::Format::R32f}, function, "the matrix");
    Source source{static_cast<std::size_t>(texture.height()),
                  static_cast<std::size_t>(texture.width()),
                  {},
                  std::make_unique<gl::PlainAccess>(device, texture)};
    return source;
}

gl::Texture Reducer::State::fold(const Source& source, Along along, const Rule& rule, const gl::Texture* second) {
    auto& device = *detail::Access::of(context);
    const auto& texture = source.texture();
    const int rows = as_int(source.rows), columns = as_int(source.columns);
    const int count = along == Along::All ? rows * columns : along == Along::Rows ? columns : rows;
    const int partials = parts(count), row_of_partials = std::min(partials, 512);
    const int width = along == Along::All ? row_of_partials : along == Along::Rows ? partials : columns;
    const int height = along == Along::All ? (partials + width - 1) / width : along == Along::Rows ? rows : partials;
    const pass::Fold folding(device, rule.format, width, height, fold_along(along));
    gl::Uniforms uniforms{{"count", count}};
    if (along == Along::All) uniforms.set("width", texture.width()).set("target_width", width);
    fill(device, "partial",
         gpu_programs().get("linalg/partial.frag", shaders::linalg_partial_frag,
                            along_macro(along) + rule.prelude + rule.both.glsl),
         folding.source(), {&texture, second}, std::move(uniforms));
    const auto& folded = folding(device, gpu_programs(), rule.both);
    gl::Texture result(device, rule.format, folded.width(), folded.height());
    copy(device, "result", folded, result);
    return result;
}

std::vector<float> Reducer::State::float_sums(const Source& source, Along along, const std::string& prelude,
                                              const gl::Texture* second) {
    if (source.rows == 0 || source.columns == 0) return std::vector<float>(source.results(along), 0.0F);
    std::vector<float> sums;
    for (const auto& [a, b, c, d] :
         read<float>(fold(source, along, {pass::FoldRule(pass::FoldBy::Sums), prelude, gl::Format::Rgba32f}, second)))
        sums.push_back((a + b) + (c + d));
    return sums;
}

std::vector<std::optional<Extreme>> Reducer::State::extremes(const char* function, const MatrixInput& matrix,
                                                             Along along, Which which) {
    check(function, matrix, along);
    const gl::Scope scope(*detail::Access::of(context), function);
    const auto source = open(function, matrix, along);
    std::vector<std::optional<Extreme>> found(source.results(along));
    if (source.rows == 0 || source.columns == 0) return found;
    const auto results = read<std::uint32_t>(
        fold(source, along, {pass::FoldRule(which == Which::Min ? pass::FoldBy::FirstMin : pass::FoldBy::FirstMax)}));
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto [key, index, unused, unused_too] = results[i];
        constexpr std::uint32_t nothing = ~std::uint32_t{0};
        if (index == nothing) continue;
        const auto bits = key >> 31U == 1 ? key ^ 0x80000000U : ~key;
        auto& extreme = found[i].emplace();
        extreme.value = std::bit_cast<float>(bits);
        extreme.row = along == Along::All ? index / source.columns : along == Along::Rows ? i : index;
        extreme.column = along == Along::All ? index % source.columns : along == Along::Rows ? index : i;
    }
    scope.check();
    return found;
}

template <class Sum, class Word>
std::vector<Sum> Reducer::State::exact_sums(std::span<const Word> values, std::size_t columns, Along along) {
    constexpr auto function = "Reducer::sums";
    if (columns == 0 ? !values.empty() : values.size() % columns != 0)
        throw InvalidArgument(std::string(function) + ": " + std::to_string(values.size()) +
                              " values do not make rows of " + std::to_string(columns));
    const auto rows = columns == 0 ? 0 : values.size() / columns;
    check(function, values.size(), rows, columns, along);
    const gl::Scope scope(*detail::Access::of(context), function);
    const std::span words(reinterpret_cast<const std::uint32_t*>(values.data()), values.size());
    const auto source = upload(function, words, rows, columns, gl::Format::R32ui, along);
    std::vector<Sum> sums;
    if (values.empty()) return std::vector<Sum>(source.results(along), 0);
    const std::string sign = std::is_signed_v<Word> ? "#define SIGNED\n" : "";
    const Rule rule{pass::FoldRule("WIDE_SUMS", shaders::linalg_wide_sums_glsl), "#define INTEGERS\n" + sign};
    for (const auto& [low, high, unused, unused_too] : read<std::uint32_t>(fold(source, along, rule)))
        sums.push_back(static_cast<Sum>(std::uint64_t{high} << 32U | low));
    scope.check();
    return sums;
}

Reducer::Reducer(const Context& context) : state_(std::make_unique<State>(context)) {}
Reducer::Reducer(Reducer&&) noexcept = default;
Reducer& Reducer::operator=(Reducer&&) noexcept = default;
Reducer::~Reducer() = default;

std::vector<float> Reducer::sums(const MatrixInput& matrix, Along along) {
    state_->check("Reducer::sums", matrix, along);
    const gl::Scope scope(*detail::Access::of(state_->context), "Reducer::sums");
    auto sums = state_->float_sums(state_->open("Reducer::sums", matrix, along), along, {});
    scope.check();
    return sums;
}

std::vector<float> Reducer::dots(const MatrixInput& a, const MatrixInput& b, Along along) {
    constexpr auto function = "Reducer::dots";
    state_->check(function, a, along);
    state_->check(function, b, along);
    if (const auto* left = std::get_if<MatrixView>(&a), *right = std::get_if<MatrixView>(&b); left && right)
        check_alike(*left, *right);
    const gl::Scope scope(*detail::Access::of(state_->context), function);
    const auto left = state_->open(function, a, along), right = state_->open(function, b, along);
    check_alike(left, right);
    auto dots = state_->float_sums(left, along, "#define DOT\n", &right.texture());
    scope.check();
    return dots;
}

std::vector<float> Reducer::norms(const MatrixInput& matrix, Along along) {
    state_->check("Reducer::norms", matrix, along);
    const gl::Scope scope(*detail::Access::of(state_->context), "Reducer::norms");
    const auto source = state_->open("Reducer::norms", matrix, along);
    if (source.rows == 0 || source.columns == 0) return std::vector<float>(source.results(along), 0.0F);
    const auto largest = state_->fold(source, along, {pass::FoldRule(pass::FoldBy::FirstMax), "#define MAGNITUDES\n"});
    const auto squares = state_->float_sums(source, along, "#define SCALED\n", &largest);
    const auto keys = state_->read<std::uint32_t>(largest);
    std::vector<float> norms;
    for (std::size_t i = 0; i < squares.size(); ++i) {
        constexpr int bias = 127, min = 1, max = 253;  // exponents; the same values as in the shader
        const int exponent = std::clamp(static_cast<int>(keys[i][0] >> 23U), min, max) - bias;
        norms.push_back(std::ldexp(std::sqrt(squares[i]), exponent));
    }
    scope.check();
    return norms;
}

std::vector<std::optional<Extreme>> Reducer::minimum(const MatrixInput& matrix, Along along) {
    return state_->extremes("Reducer::minimum", matrix, along, State::Which::Min);
}
std::vector<std::optional<Extreme>> Reducer::maximum(const MatrixInput& matrix, Along along) {
    return state_->extremes("Reducer::maximum", matrix, along, State::Which::Max);
}

std::vector<std::uint64_t> Reducer::sums(std::span<const std::uint32_t> values, std::size_t columns, Along along) {
    return state_->exact_sums<std::uint64_t>(values, columns, along);
}
std::vector<std::int64_t> Reducer::sums(std::span<const std::int32_t> values, std::size_t columns, Along along) {
    return state_->exact_sums<std::int64_t>(values, columns, along);
}

}  // namespace quadmill
