// The merge engine as passes: runs sorted in registers, then merged two or four at a time until one is left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "array/banked.hpp"
#include "gl/pass.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// How keys become unsigned numbers of `words` words in a banked texture.
struct KeyForm {
    KeyType type = KeyType::F32;
    Order order = Order::Ascending;
    bool indexed = false;  // the place of a key is its lowest word

    [[nodiscard]] std::size_t key_bytes() const;  // in memory
    [[nodiscard]] int source_words() const { return key_bytes() == 8 ? 2 : 1; }
    [[nodiscard]] int words() const { return indexed ? 2 * source_words() : source_words(); }
    [[nodiscard]] std::size_t pair_keys() const {
        return 2 * array::Banked::block_words / static_cast<std::size_t>(words());
    }
    [[nodiscard]] gl::Format source_format() const;
    [[nodiscard]] gl::Format format() const;
    // The bits that sort last.
    [[nodiscard]] std::uint64_t padding() const;
};

// How levels are merged. The defaults were measured to be the fastest (docs/design.md).
struct MergePlan {
    std::vector<int> coarse_log2 = {8, 4};  // cuts of every 2^coarse_log2-th pair are searched before, in this order
};

// Where runs are cut (shaders/sort/cuts.glsl).
struct Cuts {
    int stride_log2;
    gl::Texture texture;
    gl::Framebuffer target;
    gl::QuadList quads;
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
    gl::Texture segments;  // first and end block of the segment of each pair; only when there are several
    gl::QuadList quads;    // lower half, upper half
    // Of every 2^stride_log2-th pair; made on first use.
    const Cuts& cuts(gl::Device& device, int stride_log2);

  private:
    std::map<int, Cuts> cuts_;
};

class MergePasses {
  public:
    explicit MergePasses(gl::Device& device) : device_(device) {}

    // Issues the passes that sort surface.source, each segment by itself, the longest being of `longest_pairs`; the
    // result, as bits of the type, is in surface.keys.
    void sort(MergeSurface& surface, const KeyForm& form, std::size_t longest_pairs, const MergePlan& plan);

  private:
    enum class Kind { SortBlocks, Search, MergeRuns };
    // What a program is compiled for.
    struct Variant {
        Kind kind;
        int words, source_words;
        bool upper = false, segments = false, coarse = false;
        auto operator<=>(const Variant&) const = default;
    };
    struct Job {
        MergeSurface& surface;
        const KeyForm& form;
        const MergePlan& plan;
    };
    struct Level {
        int index = 0, run = 2;  // run in blocks
        bool last = false;
    };
    using Inputs = std::array<const gl::Texture*, 4>;
    class Uniforms;
    const gl::Program& program(const Variant& variant);
    [[nodiscard]] static Variant variant(const Job& job, Kind kind);
    [[nodiscard]] static Inputs inputs(const Job& job, const Cuts* cuts);
    [[nodiscard]] static Uniforms uniforms(const gl::Program& program, const Job& job);
    void sort_blocks(const Job& job);
    const Cuts& find_cuts(const Job& job, const Level& level);
    void search(const Job& job, const Level& level, const Cuts& cuts, const Cuts* before);
    void merge(const Job& job, const Level& level, const Cuts& cuts);

    gl::Device& device_;
    std::map<Variant, gl::Program> programs_;
};

}  // namespace quadmill::detail::sort
