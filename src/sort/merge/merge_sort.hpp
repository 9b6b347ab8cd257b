// The merge engine from memory to memory, and from texture to texture.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "cpu/window_sorter.hpp"
#include "gl/device.hpp"
#include "pass/banked.hpp"
#include "pass/programs.hpp"
#include "pass/transfer.hpp"
#include "quadmill/sort.hpp"
#include "sort/caller_argsort.hpp"
#include "sort/merge/passes.hpp"
#include "sort/merge/segments.hpp"
#include "sort/merge/subgroup_passes.hpp"

namespace quadmill::detail::sort {

// Where sorted keys go; `index`, when not empty, receives for each where it was, and equal keys keep their order.
struct MergeTarget {
    Keys keys;
    std::span<std::uint32_t> index{};
    // Above 0: only every step-th key of each segment, from the first one on, and the last key, are written, from the
    // front of `keys` on. Pre: no index; segments have one length, which is larger than the step.
    std::size_t step = 0;
};

// Keys 0, step, 2 step, ... and `last` of segments that begin `places` after each other.
struct SegmentSample {
    std::size_t segments, places, step, last;
    [[nodiscard]] std::size_t each() const { return cpu::WindowSample::each(last + 1, step); }
    [[nodiscard]] std::size_t size() const { return segments * each(); }
};

// The private memory of a sort in flight. Textures are shared, since the GPU executes in order.
class MergeLane {
  public:
    // Pre: a session is open, as in every call of MergeSort. A sort in parts draws its first pass on the keys that have
    // arrived while the rest is being sent, and reads back what its last pass has drawn while it draws on. It pays for
    // a sort that the caller waits for.
    enum class Parts { No, Yes };
    explicit MergeLane(gl::Device& device, Parts parts = Parts::No);

    // Between begin() and finish() of keys.
    [[nodiscard]] bool is_busy() const { return job_.has_value(); }
    // Time of the last sort's upload; waits for the GPU. It includes waiting for staging memory to be filled.
    [[nodiscard]] double gpu_upload_ms() const { return gl::ms_between(begun_, uploaded_); }

  private:
    friend class MergeSort;
    struct Job {
        KeyForm form;
        MergeTarget to;
        std::shared_ptr<const Segments> segments;  // of the result
        // With tiles: the content of each, and the positions of the source that each segment took.
        struct InTiles {
            EqualSegments segments;
            std::size_t places;
            TileContent content;
        };
        std::optional<InTiles> in_tiles{};
        std::optional<SegmentSample> sample{};  // that alone comes back
        SortStats stats;
        cpu::Stopwatch total{};
    };
    [[nodiscard]] double readback_ms() const { return gl::ms_between(sorted_, read_); }
    bool in_parts_;
    std::optional<Job> job_;  // none when there were no keys
    pass::Uploader uploader_, table_uploader_;
    pass::BankedReadBack readback_;
    TileReadBack tile_readback_;
    pass::Target sample_;
    pass::ReadBack sample_readback_;
    gl::Query begun_, uploaded_, sorted_, read_;
};

// Keeps programs, textures and staging memory from call to call. Pre of every call: a session is open.
class MergeSort {
  public:
    // If textures for fragments and for subgroups do not both fit into `gpu_memory` bytes (0: what the driver reports
    // as free), one kind is freed.
    MergeSort(gl::Device& device, cpu::Workers& workers, std::size_t gpu_memory = 0);

    // Sorts each segment of the keys. `index`, when not empty, receives for each key where it was, and equal keys keep
    // their order. Pre: pairs fit into a texture.
    SortStats run(Keys keys, std::span<std::uint32_t> index, Order order, Segments segments);

    // The first best.size() keys in order, with their indices; merges no more than can be among them.
    // Pre: 1 <= best.size(), keys.size() fit into a texture.
    SortStats top(Keys keys, Keys best, std::span<std::uint32_t> index, Order order);

    // Merges sorted runs of `run` keys each (the last one may be shorter), without the first levels of a sort. Pre: as
    // run(); a run is a pair's keys (KeyForm::pair_keys), times a power of two.
    SortStats merge(Keys keys, std::size_t run, Order order);

    // run() in two halves. The first one reads the keys and returns when all is in flight; the second one waits for the
    // GPU and writes. Other sorts may be between them, each with its own lane. If the segments are the same object as
    // last time, they are not uploaded again. If to.keys has fewer keys, there is one segment. Pre: the lane is free;
    // the memory stays where it is.
    void begin(MergeLane& lane, Keys keys, const MergeTarget& to, Order order, std::shared_ptr<const Segments> segments,
               std::size_t sorted_pairs = 1);
    SortStats finish(MergeLane& lane);
    // The GPU is done with what the lane began, so that finish() can only fail before it writes.
    void wait(MergeLane& lane);

    // Writes the stable order of the keys; the keys are not changed, and only the index is read back. Pre: as run(); 1
    // <= keys.
    SortStats argsort(Keys keys, std::span<std::uint32_t> index, Order order);

    // Writes into the first `count` texels of `index`, row after row, the stable order of the keys in the first `count`
    // texels of `keys`. Does not wait for the GPU. Pre: keys are R32F, R32UI or R32I, the index R32UI; 1 <= count.
    SortStats argsort(const gl::Texture& keys, const gl::Texture& index, std::size_t count, Order order,
                      IndexWrite write = IndexWrite::Drawn);

    // Sorted keys on the GPU, until the next sort.
    struct SortedKeys {
        const gl::Texture* keys;
        std::string prelude;  // for a shader: sorted_key(keys, i) is the i-th one
        gl::Uniforms uniforms;
    };
    // Draws a sample row after row, into a texture of the keys' size that is made where `to` is not one.
    void draw_sample(const SortedKeys& sorted, const SegmentSample& sample, const KeyForm& form, pass::Target& to);

    // Sorts `count` keys that `draw_keys` draws into the first rows of the source. Does not wait for the GPU. Pre: 1 <=
    // count; they fit into a texture.
    using DrawKeys = std::function<void(const pass::Target& source, std::size_t rows)>;
    SortedKeys sort_drawn(const KeyForm& form, std::size_t count, const DrawKeys& draw_keys);

    struct DrawnQuads {
        const gl::QuadList& quads;
        std::size_t first;
    };
    // Draws the indices of sorted keys, row after row.
    void store_index(const SortedKeys& sorted, const gl::Framebuffer& to, DrawnQuads drawn);

    // store_index() into its own texture, valid until the next call.
    const gl::Texture& index_of(const SortedKeys& sorted, std::size_t count);

    // The form of the keys that argsort() takes in a texture of that format.
    [[nodiscard]] static KeyForm argsort_form(gl::Format format, Order order);

    // Whether textures of that size exist already, including argsort()'s with `copy` bytes; with `tiles` tiles if not
    // 0.
    [[nodiscard]] bool has_room(const KeyForm& form, std::size_t pairs, std::size_t tiles, std::size_t copy) const {
        return (tiles > 0 ? tiles_ && tiles_->fits(form, tiles) : textures_ && textures_->fits(form, pairs)) &&
               copy <= copy_bytes();
    }
    [[nodiscard]] std::size_t copy_bytes() const { return raw_ ? raw_.bytes() : 0; }

    // Textures that sort; they are freed if others need the memory.
    [[nodiscard]] std::size_t texture_bytes() const {
        return (textures_ ? MergeTextures::bytes(textures_->made_for, textures_->shape.pairs()) : 0) +
               (tiles_ ? TileTextures::bytes(tiles_->made_for, tiles_->shape.tiles()) : 0);
    }

    [[nodiscard]] MergePlan& plan() { return plan_; }

  private:
    MergeTextures& textures(const KeyForm& form, const Segments& segments);
    void upload_segments(pass::Uploader& uploader, const std::shared_ptr<const Segments>& segments);
    void take(pass::BankedReadBack& readback, const MergeLane::Job& job);
    void take(TileReadBack& readback, const MergeLane::Job& job);
    [[nodiscard]] bool by_subgroups(const KeyForm& form, const Segments& segments, std::size_t sorted_pairs);
    TileTextures& tiles(const KeyForm& form, std::size_t tiles);
    // Whether textures of that many bytes have no room next to those that are there.
    [[nodiscard]] bool is_crowded(std::size_t wanted) const;
    [[nodiscard]] bool has_space_for_tiles(const KeyForm& form, std::size_t tiles) const;
    [[nodiscard]] static SortedKeys sorted_keys(const MergeTextures& on, const KeyForm& form);
    [[nodiscard]] static SortedKeys sorted_keys(const TileTextures& on, const KeyForm& form,
                                                const TileContent& content);
    // Requests the sample of segments that begin `places` after each other.
    void request_sample(MergeLane& lane, MergeLane::Job& job, const SortedKeys& sorted, std::size_t places);
    void begin_fragments(MergeLane& lane, Keys keys, MergeLane::Job job, std::size_t sorted_pairs);
    void begin_subgroups(MergeLane& lane, Keys keys, MergeLane::Job job);

    const gl::QuadList& argsort_quads(const pass::Target& source, std::size_t rows, int width, std::size_t count);
    gl::Device& device_;
    cpu::Workers& workers_;
    std::size_t gpu_memory_;
    MergePasses passes_;
    SubgroupPasses subgroup_passes_;
    MergePlan plan_;
    std::unique_ptr<MergeTextures> textures_;
    std::unique_ptr<TileTextures> tiles_;
    std::weak_ptr<const Segments> in_table_;  // that textures_->segments tells
    MergeLane lane_;                          // of calls that wait
    pass::ReadBack index_back_;
    pass::Programs programs_;  // between keys of textures, or the index, and sorted ones
    gl::Texture index_;        // of argsort() from memory
    gl::Texture raw_;          // the keys of argsort()
    std::optional<std::pair<std::array<std::size_t, 3>, gl::QuadList>> argsort_quads_;
};

}  // namespace quadmill::detail::sort
