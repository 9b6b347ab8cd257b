#include "query/gpu/leaf_programs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "quadmill/error.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

std::string pair_prelude(Pair::As as, ColumnType a, ColumnType b, int words) {
    const char* name = as == Pair::As::Keys       ? "#define AS_KEYS\n"
                       : as == Pair::As::Integers ? "#define AS_INTEGERS\n"
                                                  : "#define AS_DOUBLES\n";
    return name + define("TYPE_A", number_of(a)) + define("TYPE_B", number_of(b)) + define("WIDE_A", wide(a)) +
           define("WIDE_B", wide(b)) + keys_prelude(ColumnType::F64, words) + values_prelude() +
           shaders::query_pair_glsl;
}

gl::Uniform max_number_uniform(Pair::As as, ColumnType a) {
    const auto max = max_number(as == Pair::As::Keys ? a : ColumnType::F64);
    return {"most_number", glm::uvec2{low(max), high(max)}};
}

Formula formula_of(const Linear& leaf) {
    using Kind = Arithmetic;
    Formula formula{.steps = {{.op = Kind::Constant, .constant = 0.0}}, .op = leaf.op, .negate = leaf.negate};
    auto& steps = formula.steps;
    for (std::size_t i = 0; i < leaf.columns.size(); ++i) {
        steps.push_back({.op = Kind::Constant, .constant = leaf.factors[i]});
        steps.push_back({.op = Kind::Leaf, .leaf = leaf.columns[i]});
        steps.push_back({.op = Kind::Multiply});
        steps.push_back({.op = Kind::Add});
    }
    steps.push_back({.op = Kind::Constant, .constant = leaf.constant});
    return formula;
}

namespace {

// The types of numbers in formula.glsl.
enum class Numbers { Doubles, Floats, Integers };

glm::uvec2 words_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {low(bits), high(bits)};
}
glm::uvec2 float_words_of(double value) {
    constexpr auto infinity = std::numeric_limits<float>::infinity();
    const bool large = std::abs(value) > std::numeric_limits<float>::max();
    const auto nearest =
        large ? std::copysign(infinity, static_cast<float>(std::copysign(1.0, value))) : static_cast<float>(value);
    return {std::bit_cast<std::uint32_t>(nearest), 0};
}

// Macros that name the columns.
std::string columns_prelude(const std::vector<std::size_t>& columns, FormulaRows rows,
                            const std::function<ColumnType(std::size_t)>& type_of) {
    const bool words = rows == FormulaRows::Words;
    std::string samplers = "\n#define SAMPLERS", fetch = "\n#define FETCH", keys = "\n#define KEYS",
                arguments = "\n#define ARGUMENTS";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto unit = std::to_string(i + 1), width = std::to_string(wide(type_of(columns[i])));
        samplers += " uniform highp usampler2D texture" + unit + ";";
        fetch += words ? " uvec2 keys" + unit + "[4]; four_keys(texture" + unit + ", " + width + ", at, group, keys" +
                             unit + ");"
                       : " uvec2 keys" + unit + " = key_of_row(texture" + unit + ", " + width + ", at);";
        keys += (i > 0 ? ", uvec2 key" : " uvec2 key") + unit;
        arguments += (i > 0 ? ", keys" : " keys") + unit + (words ? "[i]" : "");
    }
    return samplers + fetch + keys + arguments;
}

}  // namespace

FormulaProgram formula_program(const Formula& leaf, FormulaRows rows, SumPrecision precision,
                               const std::function<ColumnType(std::size_t)>& type_of) {
    const auto columns = columns_of(leaf.steps);
    if (columns.size() > max_linear_columns_on_gpu || leaf.steps.size() > max_steps_on_gpu)
        throw InvalidArgument("query: engines of the GPU take linear conditions and sums of at most " +
                              std::to_string(max_linear_columns_on_gpu) + " columns, and " +
                              std::to_string(max_steps_on_gpu) +
                              " steps (names, constants and signs); use QueryEngine::Auto or Cpu");
    const auto numbers = leaf.as == Formula::As::Integers     ? Numbers::Integers
                         : precision == SumPrecision::Float32 ? Numbers::Floats
                                                              : Numbers::Doubles;
    FormulaProgram made{
        .columns = columns, .prelude = {}, .uniforms = {{"wanted", relations_of(leaf.op, leaf.negate)}}};
    const char* type = numbers == Numbers::Integers ? " uvec4 " : numbers == Numbers::Floats ? " float " : " uvec2 ";
    std::string text;  // one variable per step
    std::size_t variables = 0, constants = 0;
    const auto variable = [&](const std::string& value) {
        auto name = "v" + std::to_string(variables++);
        text.append(type).append(name).append(" = ").append(value).append(";");
        return name;
    };
    const auto first = [&](const auto& step) {
        if (step.op == Arithmetic::Leaf) {
            const auto key = "key" + std::to_string(std::ranges::find(columns, step.leaf) - columns.begin() + 1);
            const auto of = type_of(step.leaf);
            const char* from = numbers == Numbers::Integers ? "to_integer("
                               : numbers == Numbers::Floats ? "to_float("
                                                            : "to_double(";
            return variable(from + key + (wide(of) ? ", " : ".x, ") + std::to_string(number_of(of)) + ")");
        }
        const auto name = "constants[" + std::to_string(constants++) + "]";
        if (numbers == Numbers::Integers) {
            made.uniforms.set(name, words_of(std::get<Integer>(step.constant)));
        } else if (numbers == Numbers::Floats) {
            made.uniforms.set(name, float_words_of(nearest_double(step.constant)));
        } else {
            made.uniforms.set(name, words_of(nearest_double(step.constant)));
        }
        return variable(numbers == Numbers::Floats ? "uintBitsToFloat(" + name + ".x)" : name);
    };
    const auto sides = after<std::string>(leaf.steps, first, [&](Arithmetic op, const auto& a, const auto& b) {
        if (op == Arithmetic::Negate) return variable("negated(" + b + ")");
        const char* name = op == Arithmetic::Add ? "sum(" : op == Arithmetic::Subtract ? "difference(" : "product(";
        return variable(name + a + ", " + b + ")");
    });
    const char* as = numbers == Numbers::Integers ? "#define AS_INTEGERS\n"
                     : numbers == Numbers::Floats ? "#define AS_FLOATS\n"
                                                  : "";
    made.prelude = as + define("CONSTANTS", static_cast<int>(std::max<std::size_t>(constants, 1))) +
                   columns_prelude(columns, rows, type_of) + "\n#define COMPUTE" + text + " return relation(" +
                   sides[0] + ", " + sides[1] + ");\n" +
                   (numbers == Numbers::Integers ? shaders::query_integers_glsl : "") + shaders::query_formula_glsl;
    return made;
}

}  // namespace quadmill::detail::query
