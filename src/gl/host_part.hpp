// A rectangle of one layer of the application's texture, which may be an array, a cube map or a plain 2-D texture.
// Texels are copied to and from it bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "gl/objects.hpp"

namespace quadmill::detail::gl {

// As the caller gives it. A width or height of 0 means up to the edge.
struct Region {
    std::uint32_t texture = 0;
    int layer = 0, x = 0, y = 0, width = 0, height = 0;
};

// A checked region of level 0.
struct HostPart {
    // Throws InvalidArgument; `where` and `what`, as in "the texture of keys", go into the message.
    HostPart(Device& device, const Region& region, std::initializer_list<Format> formats, const std::string& where,
             const std::string& what);
    std::uint32_t id, target = 0;
    Format format{};
    int layer, x, y, width, height;
    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    // Whether it is in a 2-D texture, which passes can read in place.
    [[nodiscard]] bool is_plain() const;
};

// Copies all of the part to the lower left of a texture with as many bits per texel (for depths, of the same format).
// The observer sees each copy as a pass. Pre: a session is open.
void copy_part(Device& device, const HostPart& from, const Texture& to);
// Copies the first `texels` texels, row after row, back to the part. Pre: `from` is as wide as the part.
void copy_part(Device& device, const Texture& from, std::size_t texels, const HostPart& to);

}  // namespace quadmill::detail::gl
