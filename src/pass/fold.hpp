// The log-step reduction: texels become one, or one a row or column, in passes that fold 16 of them into one.
// Source: 'Query Processing on GPUs' (parallel reduction), where a pass folds two; some 8 fetches take no longer than
// writing their result (docs/notes/matrices.md).
#pragma once

#include <string>
#include <vector>

#include "pass/programs.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::pass {

// Rules of fold_rules.glsl. Sums, Least and Most take floats, Counts unsigned integers, each channel by itself;
// FirstLeast and FirstMost key and place, of unsigned integers. Of NaNs only sums say anything.
enum class FoldBy { Sums, Least, Most, Counts, FirstLeast, FirstMost };

// What partial results are and how two become one: GLSL that defines STATE (vec4 for float textures, uvec4 for those of
// unsigned integers), `const STATE nothing` and STATE both(STATE, STATE), which is associative.
struct FoldRule {
    explicit FoldRule(FoldBy by);
    // A room's own, of the rules in its file `glsl` the one that stands under `#ifdef name`.
    FoldRule(const char* name, const std::string& glsl);
    // Also for programs that make partial results: the rule, and STATE four(STATE, STATE, STATE, STATE).
    std::string glsl;
};

class Fold {
  public:
    enum class Along { All, Rows, Columns };
    // Folds partial results in a texture of that size and format, RGBA of 32-bit floats or unsigned integers.
    Fold(gl::Device& device, gl::Format format, int width, int height, Along along = Along::All);
    // Where the caller puts them.
    [[nodiscard]] const Target& source() const { return targets_.front(); }
    // Folds them; returns a texture of one texel, of one a row (a column of texels), or of one a column. The note is
    // that of all passes.
    [[nodiscard]] const gl::Texture& operator()(gl::Device& device, Programs& programs, const FoldRule& rule,
                                                gl::Note note = {}) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    Along along_;
    std::vector<Target> targets_;  // the last is the result
};

}  // namespace quadmill::detail::pass
