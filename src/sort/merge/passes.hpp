// The merge engine as passes: runs sorted in registers, then merged two at a time until one is left.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "gl/pass.hpp"
#include "pass/banked.hpp"
#include "pass/programs.hpp"
#include "pass/quad_lists.hpp"
#include "pass/target.hpp"
#include "quadmill/sort.hpp"
#include "sort/key_form.hpp"
#include "sort/note.hpp"

namespace quadmill::detail::sort {

// Options of merges; measurements are in docs/notes/sorting.md.
struct MergePlan {
    explicit MergePlan(bool software)
        : slice_pairs(software ? std::size_t{1} << 14U : 0),
          both_halves(!software),
          one_pass_pairs(software ? 0 : std::size_t{1} << 14U) {}
    MergeKernel kernel = MergeKernel::Auto;
    std::vector<int> coarse_log2 = {8, 4};  // searches the cuts of every 256th pair, then of every 16th, then all
    // This many pairs of blocks go through all their first levels before the next ones begin, so that they stay in the
    // CPU's cache. 0: off. A power of two that makes whole rows of tiles.
    std::size_t slice_pairs;
    // Draws both blocks of each pair in one call. This takes fewer calls of OpenGL, and a GPU is as fast. A software
    // renderer is faster with one draw for the lower blocks and one for the upper ones.
    bool both_halves;
    // Up to this many pairs of blocks, a level is one pass, which draws both halves and searches the cuts itself. This
    // takes fewer passes, which is faster where a pass costs more than what it draws: on a GPU, up to about 2^18 keys.
    // 0: off.
    std::size_t one_pass_pairs;
};

// Cuts of runs (shaders/sort/runs.glsl).
struct Cuts {
    int stride_log2;
    pass::Target target;
};

// The textures of a sort. They also serve smaller sorts. Callers count in pairs of blocks of 32 words. With 4 layers,
// blocks have 16 words, and each such pair is `blocks_per_32_words()` pairs in the textures.
struct MergeTextures {
    MergeTextures(gl::Device& device, const KeyForm& form, std::size_t pairs);
    static constexpr std::size_t max_pairs = std::size_t{1} << 24U;  // keys are counted in 31 bits
    // The largest number of keys for which the textures are not too large for the device.
    [[nodiscard]] static std::size_t max_keys(const gl::Device& device, const KeyForm& form);
    // Approximate GPU memory of textures for that many pairs.
    [[nodiscard]] static std::size_t bytes(const KeyForm& form, std::size_t pairs);
    // CPU memory for their transfers.
    [[nodiscard]] static std::size_t staging_bytes(const KeyForm& form, std::size_t pairs);
    // Whether that many pairs of keys in that form fit, without wasting far too much space.
    [[nodiscard]] bool fits(const KeyForm& form, std::size_t pairs) const;
    // Rows of `source` for that many pairs.
    [[nodiscard]] std::size_t source_rows(std::size_t pairs) const;

    KeyForm made_for;
    [[nodiscard]] std::size_t blocks_per_32_words() const {
        return static_cast<std::size_t>(pass::Banked::max_layers / shape.layers);
    }
    // Keys in a pair of blocks of the textures.
    [[nodiscard]] std::size_t pair_keys(const KeyForm& form) const { return form.pair_keys() / blocks_per_32_words(); }

    pass::Banked shape;
    pass::Target source;  // layout as in memory
    pass::PingPong keys;
    gl::Texture segments;    // first and end block of the segment of each pair; made when needed
    bool segmented = false;  // whether there are several segments
    // The cuts of every 2^stride_log2-th pair; made on first use.
    const Cuts& cuts(gl::Device& device, int stride_log2);
    // Quads of the rows of tiles of pairs [first, first + pairs): in the lower half (and in textures of cuts), and in
    // the upper half.
    const gl::QuadList& halves(std::size_t first, std::size_t pairs);

  private:
    std::map<int, Cuts> cuts_;
    pass::QuadLists quads_;
};

// The keys to sort.
struct Extent {
    std::size_t pairs = 0;          // pairs of blocks
    std::size_t longest_pairs = 0;  // of the longest segment
    std::size_t wanted_keys = 0;    // if not 0: only the first keys are wanted, and there is one segment
    std::size_t sorted_pairs = 1;   // length of runs that are already sorted, a power of two; more
                                    // than 1 only with one segment
};

class MergePasses {
  public:
    explicit MergePasses(gl::Device& device) : device_(device) {}

    // Issues the passes that sort textures.source, each segment separately; the result, as bits of the type, is in
    // textures.keys.now.
    void sort(MergeTextures& textures, const KeyForm& form, Extent extent, const MergePlan& plan);

  private:
    enum class Kind { SortBlocks, Search, MergeRuns };
    enum class Half { Lower, Upper, Both };
    // The variant of a program.
    struct Variant {
        Kind kind;
        int layers, words, source_words;
        Half half = Half::Lower;
        bool segments = false, coarse = false, search = false;
        auto operator<=>(const Variant&) const = default;
    };
    struct Job {
        MergeTextures& textures;
        const KeyForm& form;
        const MergePlan& plan;
        bool one_pass = false, both_halves = false;  // for each level
    };
    struct Level {
        int index = 0;
        std::size_t blocks = 0, run = 2, kept = 4;  // in blocks: total, length of a run, wanted length of a merged run
        bool last = false;
        // Pairs of blocks to write.
        [[nodiscard]] std::size_t pairs_out() const {
            return (blocks / (2 * run) * kept + std::min(blocks % (2 * run), kept)) / 2;
        }
    };
    using Inputs = decltype(gl::Pass::inputs);
    const gl::Program& program(const Variant& variant);
    [[nodiscard]] gl::Program compile(const Variant& variant);
    [[nodiscard]] static Variant variant(const Job& job, Kind kind);
    [[nodiscard]] static Inputs inputs(const Job& job, const Cuts* cuts);
    [[nodiscard]] static gl::Uniforms uniforms(const Job& job);
    [[nodiscard]] static gl::Uniforms uniforms(const Job& job, const Level& level);
    // Pairs [first, first + count) of blocks.
    struct Slice {
        std::size_t first, count;
    };
    void sort_blocks(const Job& job, const Slice& slice);
    const Cuts& find_cuts(const Job& job, const Level& level, const Slice& slice);
    void search(const Job& job, const Level& level, const Slice& slice, const Cuts& cuts, const Cuts* before);
    void merge(const Job& job, const Level& level, const Slice& slice);
    // Draws the pass for each half, or once for both.
    void draw_halves(const Job& job, const Slice& slice, Variant variant, SortNote::Texels texels, gl::Pass pass);

    gl::Device& device_;
    pass::ProgramVariants<Variant> programs_;
};

}  // namespace quadmill::detail::sort
