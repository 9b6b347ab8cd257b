// Doubles in shaders, by the hardware and in integers, against those of the CPU.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gl/device.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "query/gpu/key_textures.hpp"

namespace {

namespace gl = quadmill::detail::gl;
namespace pass = quadmill::detail::pass;

constexpr int side = 256;
using Word64 = std::uint64_t;

// Pairs of bits: random ones, numbers near each other, special ones with each other.
std::vector<std::array<Word64, 2>> some_pairs(bool with_denormals) {
    std::mt19937_64 random(7);
    const std::vector<double> special{0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      1.5,
                                      3.0,
                                      0x1p-1022,
                                      -0x1p-1022,
                                      0x1p52,
                                      0x1p53,
                                      0x1p1023,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      1e308,
                                      -1e308,
                                      0x1p-1074,
                                      0x0.fffffffffffffp-1022,
                                      0x1.fffffffffffffp1023,
                                      0x1.fffffffffffffp0};
    std::vector<std::array<Word64, 2>> pairs;
    for (const double a : special) {
        for (const double b : special) pairs.push_back({std::bit_cast<Word64>(a), std::bit_cast<Word64>(b)});
    }
    while (pairs.size() < std::size_t{side} * side) {
        const Word64 a = random();
        const auto shift = static_cast<int>(random() % 64);
        switch (random() % 5) {
            case 0:
                pairs.push_back({a, random()});
                break;
            case 1:  // a nearby exponent
                pairs.push_back({a, (a & 0xfff0'0000'0000'0000) + ((random() % 64) << 52) + (random() >> 12)});
                break;
            case 2:  // nearly opposite
                pairs.push_back({a, (a ^ (Word64{1} << 63)) + (random() >> shift)});
                break;
            case 3:  // few digits, so that results are exact or ties
                pairs.push_back({a & 0xffff'fff0'0000'0000, random() & 0xffff'ffe0'0000'0000});
                break;
            default:  // about 1
                pairs.push_back({0x3ff0'0000'0000'0000 + (a >> 12), 0x3fe0'0000'0000'0000 + (random() >> shift >> 12)});
        }
    }
    if (!with_denormals) {
        const auto is_denormal = [](double x) { return std::fpclassify(x) == FP_SUBNORMAL; };
        for (auto& [a, b] : pairs) {
            const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
            if (is_denormal(x) || is_denormal(y) || is_denormal(x + y) || is_denormal(x * y) || is_denormal(x / y))
                a = b = std::bit_cast<Word64>(1.0);
        }
    }
    return pairs;
}

class Calculator {
  public:
    explicit Calculator(const std::vector<std::array<Word64, 2>>& pairs)
        : inputs_(device_, gl::Format::Rgba32ui, side, side), results_(device_, gl::Format::Rgba32ui, side, side) {
        pass::Uploader uploader;
        uploader.send(device_, inputs_.texture, workers_, [&](std::size_t first, std::size_t rows, auto memory) {
            std::memcpy(memory.data(), pairs.data() + first * side, rows * side * sizeof pairs[0]);
        });
    }
    // What the GLSL expression of uvec2 a and b has as words.
    std::vector<std::array<Word64, 2>> operator()(const std::string& prelude, const std::string& expression) {
        const auto text =
            "uniform highp usampler2D texture0;\nout uvec4 result;\nvoid main() {\n"
            "uvec4 both = texelFetch(texture0, ivec2(gl_FragCoord.xy), 0);\n"
            "uvec2 a = both.xy;\nuvec2 b = both.zw;\nresult = " +
            expression + ";\n}";
        const gl::Program program(device_, "doubles", text.c_str(),
                                  prelude + quadmill::detail::query::values_prelude());
        pass::fill(device_, "doubles", program, results_, {&inputs_.texture});
        pass::ReadBack back;
        back.request(device_, results_.texture);
        const auto bytes = back.wait();
        std::vector<std::array<Word64, 2>> found(std::size_t{side} * side);
        std::memcpy(found.data(), bytes.data(), bytes.size());
        scope_.check();
        return found;
    }

  private:
    quadmill::Context context_ = quadmill::Context::headless();
    gl::Device& device_ = *quadmill::detail::Access::of(context_);
    gl::Scope scope_{device_, "test"};
    quadmill::detail::cpu::Workers workers_{1};
    pass::Target inputs_, results_;
};

// Whether both are the same bits, or NaNs.
template <class Float, class Word>
bool same(Float wanted, Word found) {
    return std::isnan(wanted) ? std::isnan(std::bit_cast<Float>(found)) : std::bit_cast<Word>(wanted) == found;
}

}  // namespace

TEST_CASE("sums, products and quotients of doubles in shaders are the CPU's, bit for bit") {
    for (const bool in_integers : {true, false}) {
        // A driver may take denormal doubles for 0; integers have no such choice.
        const auto pairs = some_pairs(in_integers);
        const std::string prelude = in_integers ? "#ifndef NO_DOUBLES\n#define NO_DOUBLES\n#endif\n" : "";
        Calculator calculator(pairs);
        const auto sums = calculator(prelude, "uvec4(add_doubles(a, b), multiply_doubles(a, b))");
        const auto quotients = calculator(prelude, "uvec4(divide_doubles(a, b), narrowed_double(a), a.x)");
        const auto integers = calculator(prelude, "uvec4(double_of(a.x), double_of(int(a.y)))");
        const auto floats = calculator(prelude, "uvec4(widened_float(a.x), widened_float(a.y))");
        std::array<int, 8> wrong{};
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto [a, b] = pairs[i];
            const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
            const auto low = static_cast<std::uint32_t>(a), high = static_cast<std::uint32_t>(a >> 32);
            wrong[0] += !same(x + y, sums[i][0]);
            wrong[1] += !same(x * y, sums[i][1]);
            wrong[2] += !same(x / y, quotients[i][0]);
            wrong[3] += !same(static_cast<float>(x), static_cast<std::uint32_t>(quotients[i][1]));
            wrong[4] += !same(static_cast<double>(low), integers[i][0]);
            wrong[5] += !same(static_cast<double>(static_cast<std::int32_t>(high)), integers[i][1]);
            wrong[6] += !same(static_cast<double>(std::bit_cast<float>(low)), floats[i][0]);
            wrong[7] += !same(static_cast<double>(std::bit_cast<float>(high)), floats[i][1]);
        }
        CAPTURE(in_integers);
        for (std::size_t operation = 0; operation < wrong.size(); ++operation) {
            CAPTURE(operation);
            CHECK(wrong.at(operation) == 0);
        }
    }
}
