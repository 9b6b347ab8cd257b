// Answers for the application, which the CPU does not read: selected rows as bits in its texture or as a list in its
// buffers, and aggregates as numbers in its buffers or textures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "gl/host_buffer.hpp"
#include "gl/host_part.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/gpu/bitmap_columns.hpp"
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

// Selected rows. Pre of every call: a session is open.
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

// A NumberPlace that was checked.
struct CheckedPlace {
    // Throws InvalidArgument if it is invalid, or the number does not fit into the object.
    CheckedPlace(gl::Device& device, const char* function, const NumberPlace& place);
    ColumnType type;
    std::size_t offset;
    std::optional<gl::HostBuffer> buffer;
    std::optional<gl::HostPart> texel;
};

// Aggregates. Pre of every call: a session is open.
class HostNumbers {
  public:
    explicit HostNumbers(gl::Device& device) : device_(device), programs_(device) {}

    // Writes the measured aggregate of a column of that type. Does not wait.
    void write(const GpuMeasure& measured, const QueryAggregate& what, ColumnType column, const CheckedPlace& to);
    // Writes a value that is in the CPU's memory. Pre: not text.
    void write(const Value& value, const CheckedPlace& to);
    void write_integer(const Sum& sum, const CheckedPlace& to);

  private:
    void write(const std::string& kind, std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms,
               const CheckedPlace& to);

    gl::Device& device_;
    pass::Programs programs_;
    pass::Target word_, two_words_;
};

}  // namespace quadmill::detail::query
