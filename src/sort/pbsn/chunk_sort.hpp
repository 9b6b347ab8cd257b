// Sorts keys in memory, chunk by chunk. While the GPU sorts one chunk, the CPU merges the previous one and packs the
// next.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "cpu/merge.hpp"
#include "cpu/scratch.hpp"
#include "cpu/sort.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/transfer.hpp"
#include "quadmill/sort.hpp"
#include "sort/pbsn/chunks.hpp"
#include "sort/pbsn/packing.hpp"
#include "sort/pbsn/pbsn.hpp"

namespace quadmill::detail::sort {

// The textures and staging memory of one chunk. Two slots alternate, and are kept for later calls.
struct ChunkSlot {
    explicit ChunkSlot(gl::Device& device);
    // The textures of that format and shape, replaced if it differs.
    PbsnTextures& textures(gl::Format format, const pass::FourArray& shape);

    gl::Device& device;
    std::optional<PbsnTextures> current;
    pass::Uploader uploader{pass::Uploader::Clock::OfCopies};
    pass::ReadBack readback;
    gl::Query sort_begin, sort_end, read_end;  // GPU times
};

// The tools of a sort. Pre of every use: a session is open.
struct ChunkSortTools {
    gl::Device& device;
    Pbsn& pbsn;
    cpu::Workers& workers;
    cpu::Scratch& scratch;
    const SortOptions& options;
};

// The arrays among the keys: one array, or windows of that size.
struct Arrays {
    KeyType type;                           // 32-bit integers are stored as floats
    std::size_t window = 0;                 // 0: one array of all keys
    Channels channels = Channels::Windows;  // not Auto
};

template <class Float>
class ChunkSort {
  public:
    ChunkSort(ChunkSortTools tools, std::span<Float> keys, const Arrays& arrays)
        : tools_(tools), keys_(keys), arrays_(arrays), form_{tools.options.order, Coding<Float>(arrays.type)} {}

    SortStats run(const std::vector<Chunk>& chunks, std::array<ChunkSlot, 2>& slots);

    // Sorts windows in two halves, a chunk at a time. The first half only reads the keys and returns when all is in
    // flight. The second half waits for the GPU and writes.
    void begin(const Chunk& chunk, ChunkSlot& slot);
    void finish(const Chunk& chunk, ChunkSlot& slot);
    [[nodiscard]] const SortStats& stats() const { return stats_; }
    // GPU time of the copies to textures alone, for the chunks that were finished.
    [[nodiscard]] double copies_ms() const { return copies_ms_; }

  private:
    using Aside = SetAside<Float>;
    using Key = typename Aside::Key;

    void upload(const Chunk& chunk, ChunkSlot& slot, Aside& aside);
    void issue(const Chunk& chunk, ChunkSlot& slot, Pbsn::Request::Look look, const std::function<void()>& meanwhile);
    void collect(const Chunk& chunk, ChunkSlot& slot, Aside& aside);
    void merge_runs_of(const Chunk& chunk, const Float* sorted, const Aside& aside);
    void take_windows(const Chunk& chunk, const Float* sorted, Aside& aside);
    void merge_windows(const Chunk& chunk, const Float* sorted, Aside& aside);
    // The keys of arrays [first, end) that were set aside, in order. Pre: they ascend by array.
    [[nodiscard]] std::vector<Float> set_aside_of(const Aside& aside, std::size_t first, std::size_t end) const;
    void merge_chunks();

    ChunkSortTools tools_;
    std::span<Float> keys_;
    Arrays arrays_;
    PackForm<Float> form_;
    std::array<Aside, 2> aside_;  // of the chunks in the two slots
    SortStats stats_;
    double copies_ms_ = 0;
    std::vector<cpu::Run<Float>> runs_;  // one per chunk, in keys_
    std::vector<typename cpu::KeyBits<Float>::Bits> set_aside_;
};

extern template class ChunkSort<float>;
extern template class ChunkSort<Half>;

}  // namespace quadmill::detail::sort
