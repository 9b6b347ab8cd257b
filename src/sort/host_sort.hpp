// Sorts of keys that lie in objects of the host, by the merge engine: nothing of them crosses to the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gl/host_buffer.hpp"
#include "gl/host_part.hpp"
#include "gl/objects.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::sort {

// Keys in a buffer, checked: a key begins every `stride` texels of `format`, from byte `offset` on.
struct KeysInBuffer {
    // Throws InvalidArgument for keys that the buffer does not hold, or that begin at odd places.
    KeysInBuffer(gl::Device& device, const char* function, const char* what, const BufferKeys& keys, std::size_t count);
    gl::HostBuffer buffer;
    KeyType type;
    std::size_t count, offset, stride;
    gl::Format format;
    int key_words = 1;  // texels of a key
    [[nodiscard]] std::size_t texel_bytes() const { return gl::info(format).bytes; }
};

// Whether they share bytes of one buffer, what lies between the keys included.
[[nodiscard]] bool overlap(const KeysInBuffer& a, const KeysInBuffer& b);

// Keys in a texture, checked.
struct KeysInTexture {
    KeysInTexture(gl::Device& device, const char* function, const char* what, const TextureRegion& region, int channel);
    gl::HostPart part;
    std::size_t count;  // of texels
    int channel, channels;
    [[nodiscard]] KeyForm form(Order order, bool indexed) const;
    // The format that its bits are copied to: integers, where they are keys as they are; else its own.
    [[nodiscard]] gl::Format copied_to(bool indexed) const;
};
// Throws InvalidArgument where texels of one cannot go to the other.
void check_pair(const char* function, const KeysInTexture& from, const KeysInTexture& to);

// Pre of every call: a session is open; there is at least one key.
class HostSort {
  public:
    HostSort(gl::Device& device, MergeSort& merge) : device_(device), merge_(merge), programs_(device) {}

    // Writes the places of the keys in order to the buffer, 32 bits each, from byte `offset` on.
    SortStats argsort(const KeysInBuffer& keys, const gl::HostBuffer& index, std::size_t offset, Order order);
    // In place; what lies between the keys stays.
    SortStats sort(const KeysInBuffer& keys, Order order);

    // The places of the keys to the first texels of the index.
    SortStats argsort(const KeysInTexture& keys, const gl::Texture& index, IndexWrite write, Order order);
    SortStats sort(const KeysInTexture& from, const KeysInTexture& to, TexelChannels channels, Order order);

    [[nodiscard]] static KeyForm form(const KeysInBuffer& keys, Order order, bool indexed) {
        return {keys.type, order, indexed};
    }

  private:
    void draw_keys(const KeysInBuffer& keys, const KeyForm& form, const pass::Target& source, std::size_t rows);
    // Of the copy that raw_ is.
    struct Part {
        std::size_t keys;
        int channel, channels;
    };
    void draw_keys(const KeyForm& form, const Part& part, const pass::Target& source, std::size_t rows);
    void copy_raw(const KeysInTexture& keys, gl::Format format);
    template <class Work>
    SortStats timed(std::size_t count, const Work& work);

    gl::Device& device_;
    MergeSort& merge_;
    pass::Programs programs_;
    pass::Target words_;  // on their way to a buffer
    gl::Texture raw_;     // texels of the host
};

}  // namespace quadmill::detail::sort
