// The log-step reduction: each pass folds 16 texels into one, until one is left in all or in each row or column.
// Source: 'Query Processing on GPUs' (parallel reduction), where a pass folds two. About 8 fetches take no longer than
// writing their result.
#pragma once

#include <string>
#include <vector>

#include "pass/programs.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::pass {

// Rules of fold_rules.glsl. Sums, Min and Max take floats and Counts unsigned integers, each channel separately.
// FirstMin and FirstMax take a key and an index as unsigned integers. Only Sums propagates NaNs.
enum class FoldBy { Sums, Min, Max, Counts, FirstMin, FirstMax };

// The type of partial results and how to combine two of them: GLSL that defines STATE (vec4 for float textures, uvec4
// for unsigned integers), `const STATE nothing` and STATE both(STATE, STATE), which is associative.
struct FoldRule {
    explicit FoldRule(FoldBy by);
    // A rule of another module: the file `glsl` has several, and this one stands under `#ifdef name`.
    FoldRule(const char* name, const std::string& glsl);
    // The rule, with STATE four(STATE, STATE, STATE, STATE); also for programs that make partial results.
    std::string glsl;
};

class Fold {
  public:
    enum class Along { All, Rows, Columns };
    // Folds partial results in a texture of that size and format, RGBA of 32-bit floats or unsigned integers.
    Fold(gl::Device& device, gl::Format format, int width, int height, Along along = Along::All);
    // The target for the caller's partial results.
    [[nodiscard]] const Target& source() const { return targets_.front(); }
    // Folds them. Returns a texture with one texel, or with one per row (a column of texels) or per column. All passes
    // carry the note.
    [[nodiscard]] const gl::Texture& operator()(gl::Device& device, Programs& programs, const FoldRule& rule,
                                                gl::Note note = {}) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    Along along_;
    std::vector<Target> targets_;  // the last one has the result
};

}  // namespace quadmill::detail::pass
