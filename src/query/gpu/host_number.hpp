// Aggregates for the application. Each is written as a number to a buffer or texture of the application; the CPU does
// not read them.
#pragma once

#include <optional>
#include <string>

#include "gl/host_buffer.hpp"
#include "gl/host_part.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/bitmap_columns.hpp"

namespace quadmill::detail::query {

// A NumberPlace that was checked.
struct CheckedPlace {
    // Throws InvalidArgument if it is invalid, or the number does not fit into the object.
    CheckedPlace(gl::Device& device, const char* function, const NumberPlace& place);
    ColumnType type;
    std::size_t offset;
    std::optional<gl::HostBuffer> buffer;
    std::optional<gl::HostPart> texel;
};

// Pre of every call: a session is open.
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
