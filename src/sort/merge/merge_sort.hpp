// The merge engine for keys in memory and in textures.
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
#include "sort/merge/passes.hpp"
#include "sort/merge/segments.hpp"
#include "sort/merge/subgroup_passes.hpp"

namespace quadmill::detail::sort {

// Target of sorted keys. If `index` is not empty, it receives the original index of each key, and equal keys keep their
// order.
struct MergeTarget {
    Keys keys;
    std::span<std::uint32_t> index{};
    // If above 0, only every step-th key of each segment, beginning with the first, and its last key are written,
    // packed at the front of `keys`. Pre: no index; all segments have the same length, which is larger than the step.
    std::size_t step = 0;
};

// Keys 0, step, 2 step, ... and `last` of segments that begin `places` positions apart.
struct SegmentSample {
    std::size_t segments, positions, step, last;
    [[nodiscard]] std::size_t each() const { return cpu::WindowSample::each(last + 1, step); }
    [[nodiscard]] std::size_t size() const { return segments * each(); }
};

// The private memory of a sort in flight. Textures are shared, since the GPU executes in order.
class MergeSlot {
  public:
    // Pre: a session is open, as in every call of MergeSort. A sort in parts draws its first pass on the keys that have
    // arrived while the rest is uploaded, and reads back the first results of its last pass while it draws the others.
    // This helps if the caller waits for the sort.
    enum class Parts { No, Yes };
    explicit MergeSlot(gl::Device& device, Parts parts = Parts::No);

    // True between begin() and finish(), unless there were no keys.
    [[nodiscard]] bool is_busy() const { return job_.has_value(); }
    // Time of the last sort's upload. Waits for the GPU. It includes the time to fill staging memory.
    [[nodiscard]] double gpu_upload_ms() const { return gl::ms_between(begun_, uploaded_); }

  private:
    friend class MergeSort;
    struct Job {
        KeyForm form;
        MergeTarget to;
        std::shared_ptr<const Segments> segments;  // segments of the result
        // With tiles: the content of each, and the distance of segments in the source.
        struct InTiles {
            EqualSegments segments;
            std::size_t positions;
            TileContent content;
        };
        std::optional<InTiles> in_tiles{};
        std::optional<SegmentSample> sample{};  // the sample, if only that is read back
        SortStats stats;
        cpu::Stopwatch total{};
    };
    [[nodiscard]] double readback_ms() const { return gl::ms_between(sorted_, read_); }
    bool in_parts_;
    std::optional<Job> job_;  // empty if there were no keys
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

    // Sorts each segment of the keys. If `index` is not empty, it receives the original index of each key, and equal
    // keys keep their order. Pre: the pairs fit into a texture.
    SortStats run(Keys keys, std::span<std::uint32_t> index, Order order, Segments segments);

    // Writes the first best.size() keys of the order, with their indices. Merges only keys that can be among them. Pre:
    // 1 <= best.size(); keys.size() fits into a texture.
    SortStats top(Keys keys, Keys best, std::span<std::uint32_t> index, Order order);

    // Merges sorted runs of `run` keys each (the last one may be shorter), without the first levels of a sort. Pre: as
    // for run(); `run` is KeyForm::pair_keys times a power of two.
    SortStats merge(Keys keys, std::size_t run, Order order);

    // run() in two halves. The first half reads the keys and returns when all is in flight. The second half waits for
    // the GPU and writes. Other sorts may be between them, each with its own slot. If the segments are the same object
    // as last time, they are not uploaded again. If to.keys has fewer keys, there is one segment. Pre: the slot is
    // free; the memory stays valid and in place.
    void begin(MergeSlot& slot, Keys keys, const MergeTarget& to, Order order, std::shared_ptr<const Segments> segments,
               std::size_t sorted_pairs = 1);
    SortStats finish(MergeSlot& slot);
    // Waits until the GPU is done with what the slot began, so that finish() can only fail before it writes.
    void wait(MergeSlot& slot);
    // Whether the GPU is done with it, so that finish() does not wait.
    [[nodiscard]] static bool is_ready(MergeSlot& slot);

    // Writes the stable order of the keys. The keys are not changed, and only the index is read back. Pre: as for
    // run(); at least one key.
    SortStats argsort(Keys keys, std::span<std::uint32_t> index, Order order);
    // argsort() in two halves, one argsort at a time. The first half reads the keys and returns when all is in flight;
    // the second half waits for the GPU and writes. Other sorts may be between them.
    void begin_argsort(Keys keys, Order order);
    void finish_argsort(std::span<std::uint32_t> index);
    // Whether finish_argsort() would not wait.
    [[nodiscard]] bool is_argsort_ready() { return index_back_.ready(); }

    // Sorted keys on the GPU, until the next sort.
    struct SortedKeys {
        const gl::Texture* keys;
        std::string prelude;  // GLSL: sorted_key(keys, i) is the i-th key
        gl::Uniforms uniforms;
    };
    // Draws a sample row after row into `to`, which becomes a texture of the keys' size if it is not one.
    void draw_sample(const SortedKeys& sorted, const SegmentSample& sample, const KeyForm& form, pass::Target& to);

    // Sorts `count` keys that `draw_keys` draws into the first rows of the source. Does not wait for the GPU. Pre: 1 <=
    // count; they fit into a texture.
    using DrawKeys = std::function<void(const pass::Target& source, std::size_t rows)>;
    SortedKeys sort_drawn(const KeyForm& form, std::size_t count, const DrawKeys& draw_keys);

    // Draws the indices of sorted keys to the first `count` texels.
    void store_index(const SortedKeys& sorted, const gl::Framebuffer& to, std::size_t count);

    // store_index() into its own texture, valid until the next call.
    const gl::Texture& index_of(const SortedKeys& sorted, std::size_t count);

    // Tells how many bytes the copy of the caller's texture has, which counts as this object's memory.
    void count_copy(std::size_t bytes) { copy_bytes_ = bytes; }

    // Whether textures of that size exist already, and a copy of `copy` bytes; with `tiles` tiles if not 0.
    [[nodiscard]] bool has_room(const KeyForm& form, std::size_t pairs, std::size_t tiles, std::size_t copy) const {
        return (tiles > 0 ? tiles_ && tiles_->fits(form, tiles) : textures_ && textures_->fits(form, pairs)) &&
               copy <= copy_bytes_;
    }
    [[nodiscard]] std::size_t copy_bytes() const { return copy_bytes_; }

    // Bytes of the textures that sort. They are freed if others need the memory.
    [[nodiscard]] std::size_t texture_bytes() const {
        return (textures_ ? MergeTextures::bytes(textures_->made_for, textures_->shape.pairs()) : 0) +
               (tiles_ ? TileTextures::bytes(tiles_->made_for, tiles_->shape.tiles()) : 0);
    }

    [[nodiscard]] MergePlan& plan() { return plan_; }

  private:
    MergeTextures& textures(const KeyForm& form, const Segments& segments);
    void upload_segments(pass::Uploader& uploader, const std::shared_ptr<const Segments>& segments);
    void take(pass::BankedReadBack& readback, const MergeSlot::Job& job);
    void take(TileReadBack& readback, const MergeSlot::Job& job);
    [[nodiscard]] bool uses_subgroups(const KeyForm& form, const Segments& segments, std::size_t sorted_pairs);
    TileTextures& tiles(const KeyForm& form, std::size_t tiles);
    // Whether textures with that many bytes do not fit next to the existing ones.
    [[nodiscard]] bool is_crowded(std::size_t wanted) const;
    [[nodiscard]] bool has_space_for_tiles(const KeyForm& form, std::size_t tiles) const;
    [[nodiscard]] static SortedKeys sorted_keys(const MergeTextures& on, const KeyForm& form);
    [[nodiscard]] static SortedKeys sorted_keys(const TileTextures& on, const KeyForm& form,
                                                const TileContent& content);
    // Requests the sample of segments that begin `places` positions apart.
    void request_sample(MergeSlot& slot, MergeSlot::Job& job, const SortedKeys& sorted, std::size_t positions);
    void begin_fragments(MergeSlot& slot, Keys keys, MergeSlot::Job job, std::size_t sorted_pairs);
    void begin_subgroups(MergeSlot& slot, Keys keys, MergeSlot::Job job);

    gl::Device& device_;
    cpu::Workers& workers_;
    std::size_t gpu_memory_;
    MergePasses passes_;
    SubgroupPasses subgroup_passes_;
    MergePlan plan_;
    std::unique_ptr<MergeTextures> textures_;
    std::unique_ptr<TileTextures> tiles_;
    std::weak_ptr<const Segments> in_table_;  // the segments in textures_->segments
    MergeSlot slot_;                          // for calls that wait
    pass::ReadBack index_back_;
    pass::Programs programs_;  // convert between textures of keys or indices and sorted keys
    pass::Target index_;       // for argsort() from memory
    pass::QuadLists quads_;
    double uploaded_ms_ = 0;   // by the last argsort()
    std::size_t copy_bytes_ = 0;
};

}  // namespace quadmill::detail::sort
