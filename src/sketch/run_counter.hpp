// Inserts without a scatter (SketchEngine::Sort): the merge engine sorts the cells of a batch's keys, and each texel of
// the table finds its own among them and counts them.
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
    // Sorts the cells of a batch, which the next calls count. Does not wait for the GPU.
    void sort(const Batch& batch);

    // The pass, except for its target and quads, that draws the table with the batch added or subtracted.
    [[nodiscard]] gl::Pass onto(const gl::Texture& table, const Grid& grid, int table_texels, Sign sign);

    // For buckets of 8, draws a texture of RGBA32UI, one texel a bucket, 16 bits a counter: a texture plus or minus the
    // batch, or with null only the batch. Waits for the GPU, which counts the fragments whose counters fit; returns
    // whether all did.
    [[nodiscard]] bool count_halves(const pass::Target& halves, const Grid& grid, const gl::Texture* from, Sign sign);

    // Buckets from which on codes are ranks of hashes (shaders/sketch/codes.glsl).
    [[nodiscard]] std::uint32_t& ranked_from() { return ranked_from_; }

  private:
    [[nodiscard]] std::string codes_prelude() const;
    [[nodiscard]] int units() const;
    [[nodiscard]] gl::Pass counting(const char* form, const Grid& grid, int texels);
    void put_in_order(const sort::MergeSort::SortedKeys& sorted);
    // The beginnings of the cells of groups of 2^log2 units.
    struct Starts {
        Starts(gl::Device& device, int units, int group_log2);
        int log2;
        Grid grid;
        pass::Target places;
    };
    void find(const Starts& starts, const Starts* outer);

    gl::Device& device_;
    const Shape& shape_;
    std::string hash_prelude_;
    const gl::Texture& masks_;
    pass::Programs programs_;
    sort::MergeSort merge_;
    int places_ = 0;
    Grid codes_grid_;
    pass::Target codes_;  // of all places, in order
    Starts outer_starts_, starts_;
    gl::Query samples_;
    std::uint32_t ranked_from_;
};

}  // namespace quadmill::detail::sketch
