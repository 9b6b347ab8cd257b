/// Rows that satisfy a condition: counted, combined, and written where the caller's shaders read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "quadmill/api.hpp"

namespace quadmill {

/// Rows of a table, a bit each, where they were found: on the GPU or on the CPU. QueryProcessor::select() makes it; it
/// keeps its processor's context in use.
///
/// Throws: InvalidArgument where two are combined that are not of one processor and of as many rows; GlError,
/// ContextError, std::bad_alloc.
class QUADMILL_API Selection {
  public:
    Selection(Selection&&) noexcept;
    Selection& operator=(Selection&&) noexcept;
    ~Selection();
    [[nodiscard]] Selection operator&(const Selection& other) const;  ///< rows of both
    [[nodiscard]] Selection operator|(const Selection& other) const;  ///< rows of either
    [[nodiscard]] Selection operator~() const;                        ///< all other rows, NULLs too
    [[nodiscard]] std::uint64_t count() const;                        ///< how many rows
    /// The numbers of the rows, from 0, ascending.
    /// Cost: a bit a row of the table is read back; waits for the GPU.
    [[nodiscard]] std::vector<std::uint64_t> rows() const;

    /// Writes the bits to the caller's texture, for its shaders: row i is bit i % 32 of word i / 32, and word w is
    /// texel (w % width, w / width). Bits behind the last row are 0, other texels stay.
    /// Shape: R32UI, 2-D, with a texel for every 32 rows.
    /// Cost: one pass; does not wait, and nothing is read back.
    /// Throws: InvalidArgument for another texture, for a processor without a context, and for more rows than a texture
    /// of the library holds.
    ///
    ///     chosen.write_bits(mask);  // if ((texelFetch(mask, ...).x >> (row & 31) & 1u) != 0u) ...
    void write_bits(std::uint32_t texture) const;

    /// Writes how many rows there are, 32 bits, to the caller's buffer at that byte: the `count` of an indirect draw,
    /// say.
    /// Shape: offset is a multiple of 4.
    /// Cost: a pyramid of passes; does not wait, and nothing is read back.
    /// Throws: as write_bits(), for a buffer that is none or too small.
    void write_count(std::uint32_t buffer, std::size_t offset = 0) const;

    /// Writes the count, and the numbers of the rows, ascending, 32 bits each, as an element buffer:
    /// glDrawElementsIndirect draws what is selected, and the CPU never learns how many. Behind the last one, up to the
    /// table's rows, are zeros.
    /// Shape: `index` has 4 bytes for each row of the table from byte `index_offset` on, where the count is
    /// not; offsets are multiples of 4.
    /// Cost, Throws: as write_count().
    ///
    ///     chosen.write_rows(elements, 0, command);  // command.count; the rest of the command is the caller's
    void write_rows(std::uint32_t index, std::size_t index_offset, std::uint32_t count,
                    std::size_t count_offset = 0) const;

    struct State;

  private:
    friend detail::Access;
    explicit Selection(std::unique_ptr<State> state);
    [[nodiscard]] const State& inside() const noexcept { return *state_; }
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
