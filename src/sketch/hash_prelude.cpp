#include "sketch/hash_prelude.hpp"

#include <bit>

#include "sketch/reciprocal.hpp"
#include "sketch_shaders.hpp"

namespace quadmill::detail::sketch {

namespace {

std::string number(std::uint64_t value) {
    return std::to_string(static_cast<std::uint32_t>(value)) + "u";
}

std::string words(std::uint64_t value) {
    return number(value) + ", " + number(value >> 32U);
}

// COLUMNS of shaders/sketch/hash.glsl: a constant, so that no key needs a division.
std::string constants_of_columns(std::uint32_t columns) {
    const auto by = Reciprocal::of(columns);
    auto text = "#define COLUMNS " + number(columns) + "\n";
    if (std::has_single_bit(columns)) return text + "#define COLUMNS_ARE_POWER\n";
    return text + "#define COLUMNS_RECIPROCAL " + number(by.factor) + "\n#define COLUMNS_SHIFT " +
           std::to_string(by.then) + "\n";
}

}  // namespace

std::string hash_prelude(const Shape& shape) {
    std::string factors, offsets;
    for (const auto& function : shape.functions()) {
        if (!factors.empty()) {
            factors += ", ";
            offsets += ", ";
        }
        factors.append("uvec4(").append(words(function.factors[0])).append(", ");
        factors.append(words(function.factors[1])).append(")");
        offsets.append("uvec2(").append(words(function.offset)).append(")");
    }
    const auto functions = std::to_string(shape.functions().size());
    return constants_of_columns(shape.columns()) + "#define WORDS " + std::to_string(shape.key_words()) +
           "\n#define DEPTH " + std::to_string(shape.depth()) + "\n#define BUCKET " + std::to_string(shape.bucket()) +
           "\nconst uvec4 FACTORS[" + functions + "] = uvec4[" + functions + "](" + factors +
           ");\nconst uvec2 OFFSETS[" + functions + "] = uvec2[" + functions + "](" + offsets + ");\n" +
           shaders::sketch_hash_glsl;
}

}  // namespace quadmill::detail::sketch
