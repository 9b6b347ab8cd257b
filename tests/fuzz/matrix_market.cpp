// Matrices from files, as floats and as doubles.
#include "fuzz.hpp"
#include "input/matrix_file.hpp"

namespace quadmill::fuzz {

void run(std::span<const std::byte> bytes) {
    const MemoryFile memory(bytes);
    try_to([&] { static_cast<void>(detail::input::read_matrix<float>(memory.path(), std::nullopt)); });
    try_to([&] { static_cast<void>(detail::input::read_matrix<double>(memory.path(), 2)); });
}

}  // namespace quadmill::fuzz
