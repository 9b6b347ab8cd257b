// A rectangle of one layer of the host's texture: of an array, a cube map, or a plain one. Texels come from there and go
// there by copies, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "gl/objects.hpp"

namespace quadmill::detail::gl {

// As the caller gives it. A width or height of 0 reaches to the edge.
struct Region {
    std::uint32_t texture = 0;
    int layer = 0, x = 0, y = 0, width = 0, height = 0;
};

// Of level 0, checked.
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
};

// All of it to the lower left of a texture of the same bits a texel (for depths, of the same format). Each is a pass to
// the observer. Pre: a session is open.
void copy_part(Device& device, const HostPart& from, const Texture& to);
// The first `texels` texels, row after row, the other way. Pre: the width is the part's.
void copy_part(Device& device, const Texture& from, std::size_t texels, const HostPart& to);

}  // namespace quadmill::detail::gl
