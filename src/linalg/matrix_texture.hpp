// Matrices in textures: row i is row i of texels, an element a texel.
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
// Throws InvalidArgument, with the row and column of the first NaN or infinity.
template <class Value>
void check_finite(const std::string& where, std::span<const Value> values, std::size_t columns);
// And with the number of its matrix, for consecutive matrices with that many rows.
void check_finite(const std::string& where, std::span<const float> values, std::size_t rows, std::size_t columns);
// A texture's.
struct Size {
    int width, height;
};
// Of the one that a matrix is reduced from, where a side has `most` texels at most. All of it at once may be longer:
// its elements then lie in rows of another length, in their order. Throws InvalidArgument if it does not fit.
[[nodiscard]] Size size_to_reduce(const std::string& where, std::size_t rows, std::size_t columns, Along along,
                                  std::size_t most);
// Pre: it fits.
[[nodiscard]] int as_int(std::size_t size);

// Rows of a texture as they lie in memory. Pre: values has as many words as the texture.
template <class Word>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, std::span<const Word> values,
            const gl::Texture& texture);
// The same for a scaled matrix, rounded to floats.
template <class Value>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, const ScaledMatrix<Value>& matrix,
            const gl::Texture& texture);

// All texels in the texture's order; waits for the GPU.
template <class Word>
[[nodiscard]] std::vector<Word> read_back(gl::Device& device, cpu::Workers& workers, const gl::Texture& texture);

}  // namespace quadmill::detail::linalg
