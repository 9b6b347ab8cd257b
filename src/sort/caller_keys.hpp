// Keys in objects of the application, a buffer or a part of a texture: checked, and drawn as words for passes to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gl/host_buffer.hpp"
#include "gl/host_part.hpp"
#include "gl/objects.hpp"
#include "pass/programs.hpp"
#include "pass/quad_lists.hpp"
#include "pass/target.hpp"
#include "quadmill/sort.hpp"
#include "sort/key_form.hpp"

namespace quadmill::detail::sort {

// A number of keys in a buffer, checked.
struct Counter {
    gl::HostBuffer buffer;
    std::size_t offset;
    // Empty for no count. Throws InvalidArgument for one that is not within its buffer.
    static std::optional<Counter> of(gl::Device& device, const char* function,
                                     const std::optional<CountInBuffer>& count);
};

// Keys in a buffer, checked. A key begins every `stride` texels of `format`, starting at byte `offset`.
struct KeysInBuffer {
    // Throws InvalidArgument for keys outside of the buffer or at unaligned offsets. With a plane, a key is made of a
    // position, three floats.
    KeysInBuffer(gl::Device& device, const char* function, const char* what, const BufferKeys& keys, std::size_t count,
                 const std::optional<Plane>& plane = {});
    gl::HostBuffer buffer;
    KeyType type;
    std::size_t count, offset, stride;
    gl::Format format;
    int key_words = 1;  // texels per key
    std::optional<Counter> counter;
    std::optional<Plane> plane;
    [[nodiscard]] std::size_t texel_bytes() const { return gl::info(format).bytes; }
};

// Throws InvalidArgument if they overlap in one buffer, including the bytes between keys, or are too many for an index.
void check_pair(const char* function, const KeysInBuffer& keys, const KeysInBuffer& index);

// The format of a texture with one key of that type in a texel. Pre: F32, I32 or U32.
[[nodiscard]] gl::Format texel_format(KeyType type);

// Keys in a texture, checked.
struct KeysInTexture {
    // With a plane, a key is made of a position, the first three channels.
    KeysInTexture(gl::Device& device, const char* function, const char* what, const TextureRegion& region, int channel,
                  const std::optional<Plane>& plane = {});
    gl::HostPart part;
    std::size_t count;  // number of texels
    int channel, channels;
    std::optional<Counter> counter;
    std::optional<Plane> plane;
    // Throws InvalidArgument if the keys are counted in a buffer.
    void refuse_counter(const char* function) const;
    [[nodiscard]] KeyForm form(Order order, bool indexed) const;
    // Whether passes read the texture of the application itself, not a copy.
    [[nodiscard]] bool is_read_in_place() const;
    [[nodiscard]] std::size_t copied_bytes() const {
        return is_read_in_place() ? 0 : part.texels() * gl::info(part.format).bytes;
    }
    // The format that its bits are copied to: integers if the bits are keys, otherwise its own format.
    [[nodiscard]] gl::Format copied_to(bool indexed) const;
};
// Throws InvalidArgument if texels of one cannot be copied to the other.
void check_pair(const char* function, const KeysInTexture& from, const KeysInTexture& to);

// Some keys in a texture: `keys` keys, beginning with key number `first`. Each texel has `channels` keys, from
// `channel` on.
struct TexelKeys {
    std::size_t keys = 0;
    int channel = 0, channels = 1;
    std::size_t first = 0;
    const gl::Texture* number = nullptr;  // one texel with the number of keys, if that may be smaller than `keys`
    // The rectangle of the texture that has them: its first texel, and its width if that is not the texture's.
    int x = 0, y = 0, width = 0;
    const Plane* plane = nullptr;  // if not null, the key is the distance of the texel's position from the plane
};
// Draws keys of a texture as CallerKeys::draw() does for a buffer.
void draw_keys(gl::Device& device, pass::Programs& programs, pass::QuadLists& quads, const gl::Texture& texels,
               const TexelKeys& some, std::uint64_t padding, const pass::Target& to, std::size_t rows);

// Draws keys as words, four per texel, one after the other, row after row. Each small key gets a word of 32 bits; keys
// of 64 bits are two words. Pre of every call: a session is open.
class CallerKeys {
  public:
    explicit CallerKeys(gl::Device& device) : device_(device), programs_(device), quads_(device) {}

    // A copy of the count, for passes to read, until the next one; null without a counter. A call needs one.
    const gl::Texture* number(const std::optional<Counter>& counter);

    // Draws keys to the first rows of the target, followed by padding. Pre: at least one key.
    // `number` is that of keys.counter.
    void draw(const KeysInBuffer& keys, const gl::Texture* number, std::uint64_t padding, const pass::Target& to,
              std::size_t rows);

    // Compiles what draw() needs for positions instead of keys.
    void compile_planes_of_textures();
    void compile_planes_of_buffers();

    // Copies the part's texels in that format, for later calls.
    const gl::Texture& copy(const KeysInTexture& keys, gl::Format format);
    // Draws keys of the texture if it is read in place. Otherwise draws the last copy. Pre: that is a copy of it.
    void draw(const KeysInTexture& keys, TexelKeys some, std::uint64_t padding, const pass::Target& to,
              std::size_t rows);

  private:
    gl::Device& device_;
    pass::Programs programs_;
    pass::QuadLists quads_;
    gl::Texture raw_;  // texels of the application
    gl::BufferTexels texels_, number_;
};

}  // namespace quadmill::detail::sort
