// Sorts keys in objects of the application with the merge engine. No key goes through the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gl/host_buffer.hpp"
#include "gl/objects.hpp"
#include "sort/caller_argsort.hpp"
#include "sort/caller_keys.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::sort {

// Pre of every call: a session is open, and there is at least one key.
class CallerSort {
  public:
    CallerSort(gl::Device& device, MergeSort& merge)
        : device_(device), merge_(merge), programs_(device), keys_(device), quads_(device) {}

    // Writes the indices of the sorted keys to the buffer, 32 bits each, from byte `offset` on.
    SortStats argsort(const KeysInBuffer& keys, const gl::HostBuffer& index, std::size_t offset, Order order);
    // Sorts in place; the bytes between keys are not changed.
    SortStats sort(const KeysInBuffer& keys, Order order);

    // Another engine's argsort of a copy of the keys.
    using Argsort = std::function<void(const gl::Texture& keys, const gl::Framebuffer& index)>;
    // Writes the indices of the sorted keys to the first texels of the index. An empty `other` is the merge engine.
    SortStats argsort(const KeysInTexture& keys, const gl::Texture& index, IndexWrite write, Order order,
                      const Argsort& other);
    // Writes the indices of the sorted keys of each segment. Indices count over all keys.
    SortStats argsort(const KeysInTexture& keys, std::span<const std::size_t> ends, const gl::Texture& index,
                      IndexWrite write, Order order);
    // The number of a segment, and the key as a number.
    static constexpr KeyForm segments_form{KeyType::U64, Order::Ascending, true};
    SortStats sort(const KeysInTexture& from, const KeysInTexture& to, TexelChannels channels, Order order);

    // As Sorter::percentiles_texture(). The number of keys is checked here, too.
    SortStats percentiles(const char* function, const KeysInTexture& keys, std::span<const double> phi,
                          std::uint32_t output);

    // Sorts in ascending order and reads a sample back, as in Sorter::sample_texture(): words, their number and the
    // number of NaNs. Waits for the GPU.
    RankSample<std::uint32_t> sample(const KeysInTexture& keys, double eps);

    // Draws the application's keys for every argsort.
    [[nodiscard]] CallerKeys& keys() noexcept { return keys_; }

    [[nodiscard]] static KeyForm form(const KeysInBuffer& keys, Order order, bool indexed) {
        return {keys.type, order, indexed};
    }

  private:
    // Sorts keys of one channel.
    MergeSort::SortedKeys sort_channel(const KeysInTexture& keys, const KeyForm& form);
    // A texture of one texel with the number of keys that are not NaNs. Pre: keys are floats.
    pass::Target numbers_in(const MergeSort::SortedKeys& sorted, std::size_t count);
    // Sends them to ends_.
    void send(std::span<const std::size_t> ends);
    // Draws keys of segments_form.
    void draw_with_segments(const KeyForm& key, std::size_t count, std::size_t segments, const pass::Target& source,
                            std::size_t rows);
    // Copies texels, and counts the copy as memory of the merge engine.
    const gl::Texture& copied(const KeysInTexture& keys, gl::Format format);
    template <class Work>
    SortStats timed(std::size_t count, const Work& work);

    gl::Device& device_;
    MergeSort& merge_;
    pass::Programs programs_;
    CallerKeys keys_;
    pass::QuadLists quads_;
    pass::Target words_;  // in flight to a buffer
    gl::Texture ends_;    // of segments
    gl::PixelBuffer ends_memory_;
    gl::Fence ends_read_;
    pass::Target key_words_;  // of keys in segments
    gl::BufferTexels texels_;
    pass::Target sample_;
    pass::ReadBack back_;
};

}  // namespace quadmill::detail::sort
