/// Rows that satisfy a condition: counted, combined, and written to the caller's textures and buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "quadmill/api.hpp"

namespace quadmill {

/// Rows of a table, one bit each, on the device (GPU or CPU) that computed them. QueryProcessor::select() makes it; it
/// keeps its processor's context alive.
///
/// Throws: InvalidArgument if two are combined that have different processors or numbers of rows; GlError,
/// ContextError, std::bad_alloc.
class QUADMILL_API Selection {
  public:
    Selection(Selection&&) noexcept;
    Selection& operator=(Selection&&) noexcept;
    ~Selection();
    [[nodiscard]] Selection operator&(const Selection& other) const;  ///< rows of both
    [[nodiscard]] Selection operator|(const Selection& other) const;  ///< rows of either
    [[nodiscard]] Selection operator~() const;                        ///< all other rows, including NULLs
    [[nodiscard]] std::uint64_t count() const;                        ///< the number of rows
    /// The numbers of the rows, from 0, ascending.
    /// Cost: one bit per row of the table is read back; waits for the GPU.
    [[nodiscard]] std::vector<std::uint64_t> rows() const;
    /// The rows as bits: row i is bit i % 32 of word i / 32. Bits after the last row are 0.
    /// Cost: as for rows(), which computes its numbers from these bits.
    [[nodiscard]] std::vector<std::uint32_t> bits() const;

    /// Writes the bits to the caller's texture, for its shaders: row i is bit i % 32 of word i / 32, and word w is
    /// texel (w % width, w / width). Bits after the last row are 0, other texels are not changed.
    /// Shape: R32UI, 2-D, with a texel for every 32 rows.
    /// Cost: one pass; does not wait, and nothing is read back.
    /// Throws: InvalidArgument for another texture, for a processor without a context, and for more rows than a texture
    /// of the library holds.
    ///
    ///     chosen.write_bits(mask);  // if ((texelFetch(mask, ...).x >> (row & 31) & 1u) != 0u) ...
    void write_bits(std::uint32_t texture) const;

    /// Writes the number of rows, 32 bits, to the caller's buffer at that byte, for example as the `count` of an
    /// indirect draw.
    /// Shape: offset is a multiple of 4.
    /// Cost: about log n reduction passes; does not wait, and nothing is read back.
    /// Throws: as write_bits(), for an invalid or too small buffer.
    void write_count(std::uint32_t buffer, std::size_t offset = 0) const;

    /// Writes the count, and the numbers of the rows, ascending, 32 bits each, as an element buffer:
    /// glDrawElementsIndirect draws the selected rows, and the CPU never reads their number. Zeros follow, up to the
    /// table's number of rows.
    /// Shape: `index` has 4 bytes for each row of the table from byte `index_offset` on, without overlap with the
    /// count; offsets are multiples of 4. Cost, Throws: as write_count().
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
