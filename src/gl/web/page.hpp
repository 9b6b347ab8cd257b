// What a page's context is adopted with, and the array of JavaScript that a call of the page sorts
// (web/package/index.js).
#pragma once

#include <cstddef>
#include <span>

namespace quadmill::detail::gl {

class Device;
class Texture;

// The only function that is looked up by name; all others are imports of the module.
[[nodiscard]] void (*page_function(const char* name))();

// Copies bytes of the array, from number `first` on. Pre: whole words of 32 bits.
void copy_from_array(std::size_t first, std::span<std::byte> to);
// Uploads the beginning of the array to the first rows of a texture, without a copy in the module's memory.
void upload_array(Device& device, const Texture& to, int rows);
// Reads the first texels of a texture of R32UI to the array, row after row. Waits for the GPU.
void read_into_array(Device& device, const Texture& from, std::size_t texels);

}  // namespace quadmill::detail::gl
