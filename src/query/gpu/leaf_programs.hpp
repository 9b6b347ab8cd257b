// Common parts of the programs of leaves, which write the bits of 32 rows or keep the fragments of rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gl/pass.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/key_textures.hpp"
#include "query/plan/engine.hpp"
#include "query/plan/expression.hpp"

namespace quadmill::detail::query {

inline constexpr std::size_t max_linear_columns_on_gpu = gl::texture_units - 1;
// Without doubles in GLSL each step of a sum is long code, and drivers take minutes to compile hundreds of them.
inline constexpr std::size_t max_steps_without_doubles = 64;

// The GLSL that goes before programs with pair.glsl, for columns of those types; and their uniform.
[[nodiscard]] std::string pair_prelude(Pair::As as, ColumnType a, ColumnType b, int words);
[[nodiscard]] gl::Uniform max_number_uniform(Pair::As as, ColumnType a);

// The sum of the terms, added in order to 0.
[[nodiscard]] Formula formula_of(const Linear& leaf);

// A program with formula.glsl. It reads the columns beginning with the second texture.
struct FormulaProgram {
    std::vector<std::size_t> columns;
    std::string prelude;  // follows keys.glsl and values.glsl
    gl::Uniforms uniforms;
};
enum class FormulaRows {
    Words,  // FETCH gets the keys of four rows
    Pixels  // FETCH gets the key of one row
};
// Throws InvalidArgument if the columns or steps do not fit into a program.
[[nodiscard]] FormulaProgram formula_program(const Formula& leaf, FormulaRows rows, SumPrecision precision,
                                             const std::function<ColumnType(std::size_t)>& type_of);

}  // namespace quadmill::detail::query
