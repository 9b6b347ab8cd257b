// Inserts without scattered writes (SketchEngine::Sort): the merge engine sorts the cells of a batch's keys. Each texel
// of the table finds its cells among them and counts them.
#pragma once

#include <cstdint>
#include <string>

#include "gl/device.hpp"
#include "gl/pass.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "sketch/shape.hpp"
#include "sketch/word_texels.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::sketch {

// Pre of every call: a session is open.
class RunCounter {
  public:
    // `masks` has the bits of each mask.
    RunCounter(gl::Device& device, cpu::Workers& workers, const Shape& shape, std::string hash_prelude,
               const gl::Texture& masks);

    struct Batch {
        const gl::Texture& keys;
        std::size_t count;
        std::string key_prelude;
        gl::Uniforms key_uniforms;
    };
    // Sorts the cells of a batch; the following calls count them. Does not wait for the GPU.
    void sort(const Batch& batch);

    // A pass that draws the table with the batch added or subtracted. The caller sets its target and quads.
    [[nodiscard]] gl::Pass onto(const gl::Texture& table, const Grid& grid, int table_texels, Sign sign);

    // For buckets of 8: draws a texture of RGBA32UI with one texel per bucket and 16 bits per counter. It is `from`
    // plus or minus the batch, or if `from` is null, only the batch. Waits for the GPU, which counts the fragments
    // whose counters fit. Returns whether all counters fit.
    [[nodiscard]] bool count_halves(const pass::Target& halves, const Grid& grid, const gl::Texture* from, Sign sign);

    // From this number of buckets on, codes are ranks of hashes (shaders/sketch/codes.glsl).
    [[nodiscard]] std::uint32_t& ranked_from() { return ranked_from_; }

  private:
    [[nodiscard]] std::string codes_prelude() const;
    [[nodiscard]] int units() const;
    [[nodiscard]] gl::Pass counting(const char* form, const Grid& grid, int texels);
    void put_in_order(const sort::MergeSort::SortedKeys& sorted);
    // Where the cells of each group of 2^log2 units begin.
    struct Starts {
        Starts(gl::Device& device, int units, int group_log2);
        int log2;
        Grid grid;
        pass::Target positions;
    };
    void find(const Starts& starts, const Starts* outer);

    gl::Device& device_;
    const Shape& shape_;
    std::string hash_prelude_;
    const gl::Texture& masks_;
    pass::Programs programs_;
    sort::MergeSort merge_;
    int positions_ = 0;
    Grid codes_grid_;
    pass::Target codes_;  // of all cells, sorted
    Starts outer_starts_, starts_;
    gl::Query samples_;
    std::uint32_t ranked_from_;
};

}  // namespace quadmill::detail::sketch
