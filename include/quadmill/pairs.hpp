/// Values that travel with keys, and orders within segments. Names and the order of arguments are those of Thrust
/// (sort_by_key) and CUB (sort_pairs: keys in, keys out, values in, values out, number).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/keys.hpp"
#include "quadmill/sort.hpp"

namespace quadmill {

/// Values in memory that can travel with keys: plain data of 4, 8, 12 or 16 bytes.
template <class Range>
concept PairValues =
    std::ranges::contiguous_range<Range> && std::is_trivially_copyable_v<std::ranges::range_value_t<Range>> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>> &&
    (sizeof(std::ranges::range_value_t<Range>) % 4 == 0) && (sizeof(std::ranges::range_value_t<Range>) <= 16);

/// Values in a buffer object of the caller, by its OpenGL name.
struct BufferValues {
    std::uint32_t buffer = 0;  ///< its name
    std::size_t bytes = 4;     ///< of a value: 4, 8, 12 or 16
    std::size_t offset = 0;    ///< of the first value, in bytes; a multiple of 4
    std::size_t stride = 0;    ///< from one value to the next, in bytes, a multiple of 4; 0: they follow each other
};

/// Sorts values by their keys. Every call is stable: equal keys, and their values, keep their order.
///
/// Guarantee: keys in the order that Order describes, and each value where its key is, bit for bit, on every driver.
/// Throws: InvalidArgument, GlError, ContextError, std::bad_alloc.
///
///     PairSorter pairs(context);
///     std::vector<float> keys{3, 1, 2};
///     std::vector<std::uint64_t> values{30, 10, 20};
///     pairs.sort_by_key(keys, values);  // 1, 2, 3 and 10, 20, 30
class QUADMILL_API PairSorter {
  public:
    /// Shader programs are compiled when they are first used. Engines are those of Sorter::sort_with_index().
    explicit PairSorter(const Context& context, const SortOptions& options = {});
    PairSorter(PairSorter&&) noexcept;
    PairSorter& operator=(PairSorter&&) noexcept;
    ~PairSorter();

    /// Sorts the keys in place, and puts values[i] where key i goes.
    /// Shape: as many values as keys, at most 2^31. Keys and values share no memory.
    /// Cost: as Sorter::sort_with_index(). CPU threads then move the values once, by way of a copy.
    template <PairValues Values>
    SortStats sort_by_key(Keys keys, Values&& values, std::optional<Order> order = {}) {
        const std::span all(values);
        return sort_bytes(keys, std::as_writable_bytes(all), sizeof(all[0]), order);
    }

    /// sort_by_key() of each segment separately. Segments are as in Sorter::sort_segments().
    /// Cost: as argsort_segments(). CPU threads then move keys and values once, by way of a copy.
    template <PairValues Values>
    SortStats sort_segments_by_key(Keys keys, Values&& values, std::span<const std::size_t> ends,
                                   std::optional<Order> order = {}) {
        const std::span all(values);
        return sort_bytes_of_segments(keys, std::as_writable_bytes(all), sizeof(all[0]), ends, order);
    }

    /// Sorts an index of the keys within each segment and leaves the keys unchanged. If position i lies in segment s,
    /// index[i] receives the index, counted over all keys, of the key that sort_segments() would put at position i.
    /// Shape: index has keys.size() elements; segments as in Sorter::sort_segments(), fewer than 2^32.
    /// Cost: one argsort of 64-bit keys, for 64-bit keys two (of them, and of the segments), and 8 to 12 bytes of CPU
    /// memory per key.
    ///
    ///     pairs.argsort_segments(keys, std::array<std::size_t, 2>{2, 5}, index);  // of [0, 2) and [2, 5)
    SortStats argsort_segments(ConstKeys keys, std::span<const std::size_t> ends, std::span<std::uint32_t> index,
                               std::optional<Order> order = {});

    /// Sorts keys and values from textures to textures, or in place, without a read-back: texel i of the outputs
    /// receives the i-th key, and its value.
    /// Shape: keys R32F, R32I or R32UI. Values R32F, R32I, R32UI, RGBA8, RG32F, RGBA16F or RGBA32F. Each output has the
    /// format, width and number of texels of its input. The rectangles may differ in width; all have the same number of
    /// texels. Keys go to another texture or layer than values come from and go to.
    /// Cost: as Sorter::argsort_texture(), one pass for the keys and one for the values. Does not wait (except in
    /// OpenGL ES 3.0, as argsort_texture()). GPU memory: also two copies of the keys and two of the values, and 4 bytes
    /// per key.
    SortStats sort_pairs(const TextureRegion& keys_in, const TextureRegion& keys_out, const TextureRegion& values_in,
                         const TextureRegion& values_out, std::optional<Order> order = {});

    /// Sorts an index of the keys in one channel of a texture within each segment, without a read-back. If texel i lies
    /// in segment s, texel i of `index` receives the index, counted over all keys, of the key that a sort of s puts
    /// there. Segments are consecutive texels, as in Sorter::sort_segments(): `ends` is ascending, and its last element
    /// is the number of keys.
    /// Shape: keys and index as for Sorter::argsort_texture(), without `counted`; fewer than 2^32 segments.
    /// Cost: as Sorter::argsort_texture() of keys of 64 bits, and an upload of 4 bytes per segment. Does not wait
    /// (except in OpenGL ES 3.0, as argsort_texture()). GPU memory: 54 bytes per key. Uses Engine::Merge.
    /// Throws: InvalidArgument for another shape or other ends, and if SortOptions::engine is neither Auto nor Merge.
    ///
    ///     pairs.argsort_segments({.texture = depths}, std::array<std::size_t, 2>{100, 350}, order);
    SortStats argsort_segments(const TextureRegion& keys, std::span<const std::size_t> ends, std::uint32_t index,
                               int channel = 0, std::optional<Order> order = {});

    /// sort_pairs() of each segment of textures separately, with segments and cost as for argsort_segments() of a
    /// texture.
    SortStats sort_pairs(const TextureRegion& keys_in, const TextureRegion& keys_out, const TextureRegion& values_in,
                         const TextureRegion& values_out, std::span<const std::size_t> ends,
                         std::optional<Order> order = {});

    /// Sorts `count` keys and values in buffers, in place, without a read-back. Bytes between them are not changed.
    /// Shape: keys as for Sorter::argsort_buffer(), without `counted`. Keys and values may lie in one buffer, also
    /// interleaved. Each span from the first key or value to the last fits into a texture (2^30 bytes on an H100 and on
    /// llvmpipe).
    /// Cost: as Sorter::argsort_buffer(), one pass for the keys and one for the values; does not wait. GPU memory: also
    /// a copy of each span and one of the larger span, and 8 bytes per key.
    SortStats sort_pairs(const BufferKeys& keys, const BufferValues& values, std::size_t count,
                         std::optional<Order> order = {});

  private:
    SortStats sort_bytes(Keys keys, std::span<std::byte> values, std::size_t each, std::optional<Order> order);
    SortStats sort_bytes_of_segments(Keys keys, std::span<std::byte> values, std::size_t each,
                                     std::span<const std::size_t> ends, std::optional<Order> order);
    SortStats sort_texels(const TextureRegion& keys_in, const TextureRegion& keys_out, const TextureRegion& values_in,
                          const TextureRegion& values_out, std::optional<std::span<const std::size_t>> ends,
                          std::optional<Order> order);
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
