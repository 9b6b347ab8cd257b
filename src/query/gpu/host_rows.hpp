// Selected rows for the application: written as bits to its texture, or as a list to its buffers. The CPU does not read
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gl/host_buffer.hpp"
#include "pass/programs.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/gpu/key_textures.hpp"
#include "sort/caller_argsort.hpp"

namespace quadmill::detail::query {

// Words of a selection of a GPU engine.
struct SelectedWords {
    const gl::Texture& texture;
    Shape shape;
};

// The application's buffer. Throws InvalidArgument if it does not have room for that many words from that byte on.
[[nodiscard]] gl::HostBuffer buffer_for(gl::Device& device, const char* function, const char* what, std::uint32_t id,
                                        std::size_t offset, std::size_t words);

// Pre of every call: a session is open.
class HostRows {
  public:
    explicit HostRows(gl::Device& device) : device_(device), programs_(device), list_(device, programs_) {}

    // Writes the words to the first texels of an R32UI texture, row after row. Pre: they fit.
    void write_bits(const SelectedWords& rows, const gl::Texture& to, sort::IndexWrite how);
    // Writes the number of rows, as 32 bits, at byte `offset` of the buffer.
    void write_count(const SelectedWords& rows, const gl::HostBuffer& to, std::size_t offset);
    // Writes the count and the ascending row numbers, 32 bits each, followed by zeros up to the table's number of rows.
    void write_rows(const SelectedWords& rows, const gl::HostBuffer& index, std::size_t index_offset,
                    const gl::HostBuffer& count, std::size_t count_offset);

  private:
    gl::Device& device_;
    pass::Programs programs_;
    BitList list_;
    pass::Target total_, piece_;
};

}  // namespace quadmill::detail::query
