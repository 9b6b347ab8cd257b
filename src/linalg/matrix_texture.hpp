// Matrices in textures: row i of the matrix is row i of texels, with one element per texel.
#pragma once

#include <string>

#include "cpu/workers.hpp"
#include "linalg/scaling.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::linalg {

// Throws InvalidArgument; `where` goes into the message.
void check_shape(const std::string& where, std::size_t values, std::size_t rows, std::size_t columns);
// Throws InvalidArgument with the row and column of the first NaN or infinity.
template <class Value>
void check_finite(const std::string& where, std::span<const Value> values, std::size_t columns);
// For consecutive matrices with that many rows each; the message also has the number of the matrix.
void check_finite(const std::string& where, std::span<const float> values, std::size_t rows, std::size_t columns);
// Size of a texture.
struct Size {
    int width, height;
};
// Size of the texture that a matrix is reduced from, if a side has at most `max` texels. With Along::All the matrix
// may be longer: its elements are then put into rows of another length, in their order. Throws InvalidArgument if it
// does not fit.
[[nodiscard]] Size size_to_reduce(const std::string& where, std::size_t rows, std::size_t columns, Along along,
                                  std::size_t max);
// Pre: it fits.
[[nodiscard]] int as_int(std::size_t size);

// Copies rows of a texture in the layout of memory. Pre: `values` has as many words as the texture.
template <class Word>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, std::span<const Word> values,
            const gl::Texture& texture);
// The same for a scaled matrix, whose elements are rounded to floats.
template <class Value>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, const ScaledMatrix<Value>& matrix,
            const gl::Texture& texture);

// All texels in the texture's order. Waits for the GPU.
template <class Word>
[[nodiscard]] std::vector<Word> read_back(gl::Device& device, cpu::Workers& workers, const gl::Texture& texture);

}  // namespace quadmill::detail::linalg
