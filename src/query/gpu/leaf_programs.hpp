// Common parts of the programs of leaves, which write the bits of 32 rows or keep a row's fragment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gl/pass.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/key_textures.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

inline constexpr std::size_t most_linear_columns_on_gpu = gl::texture_units - 1;

// The relations for which a comparison holds: 1 less, 2 equal, 4 greater, 8 neither.
[[nodiscard]] std::uint32_t relations_of(Comparison op, bool negate);

// The text before programs with pair.glsl, for columns of those types; and its uniform.
[[nodiscard]] std::string pair_prelude(Pair::As as, ColumnType a, ColumnType b, int words);
[[nodiscard]] gl::Uniform most_number_uniform(Pair::As as, ColumnType a);

// The sum of the terms in order, from 0.
[[nodiscard]] Formula formula_of(const Linear& leaf);

// A program with formula.glsl: it reads the columns from the second texture on.
struct FormulaProgram {
    std::vector<std::size_t> columns;
    std::string prelude;  // after keys.glsl and values.glsl
    gl::Uniforms uniforms;
};
enum class FormulaRows {
    Words,  // FETCH gets four rows' keys
    Pixels  // and of one row
};
// Throws InvalidArgument for more columns or steps than fit into a program.
[[nodiscard]] FormulaProgram formula_program(const Formula& leaf, FormulaRows rows, SumPrecision precision,
                                             const std::function<ColumnType(std::size_t)>& type_of);

}  // namespace quadmill::detail::query
