// The merge engine as passes: runs sorted in registers, then merged two or four at a time until one is left.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "array/banked.hpp"
#include "gl/pass.hpp"
#include "sort/key_form.hpp"

namespace quadmill::detail::sort {

// How levels are merged. The defaults were measured to be the fastest (docs/design.md).
struct MergePlan {
    int ways = 2;                           // or 4: an odd number of levels then begins with one of two
    std::vector<int> coarse_log2 = {8, 4};  // cuts of every 2^coarse_log2-th pair are searched before, in this order
};

// The textures of one sort.
struct MergeSurface {
    MergeSurface(gl::Device& device, const KeyForm& form, const array::Banked& shape);
    // The longest row that the driver allows, not more than a row of pairs needs.
    static int source_log2(const gl::Device& device, const KeyForm& form, const array::Banked& shape);

    array::Banked shape;
    gl::Texture source;  // keys as in memory
    gl::Texture keys, other;
    gl::Framebuffer keys_target, other_target;
    gl::Texture cuts;  // of every pair, placed as its even block
    gl::Framebuffer cuts_target;
    gl::Texture segments;  // first and end block of the segment of each pair; only when there are several
    gl::QuadList quads;    // lower half, upper half; the first one also covers `cuts`
};

class MergePasses {
  public:
    explicit MergePasses(gl::Device& device) : device_(device) {}

    // Issues the passes that sort surface.source, each segment by itself, the longest being of `longest_pairs`; the
    // result, as bits of the type, is in surface.keys.
    void sort(MergeSurface& surface, const KeyForm& form, std::size_t longest_pairs, const MergePlan& plan);

  private:
    struct Coarse {
        gl::Texture cuts;
        gl::Framebuffer target;
        gl::QuadList quads;
    };
    struct Job {
        MergeSurface& surface;
        const KeyForm& form;
        const MergePlan& plan;
    };
    const gl::Program& program(const char* file, const std::string& defines);
    [[nodiscard]] std::string defines(const Job& job, int ways) const;
    [[nodiscard]] Uniforms uniforms(const gl::Program& program, const Job& job) const;
    Coarse& coarse(const Job& job, int log2);
    void sort_blocks(const Job& job);
    void find_cuts(const Job& job, int ways, int run, int level);
    void search(const Job& job, int ways, int run, int level, int stride_log2, const Coarse* before, int before_log2);
    void merge(const Job& job, int ways, int run, int level, bool last);

    gl::Device& device_;
    std::map<std::string, gl::Program> programs_;
    std::map<std::tuple<int, int, int>, Coarse>
        coarse_;  // by row_log2 and half_height of the surface, log2 of the stride
};

}  // namespace quadmill::detail::sort
