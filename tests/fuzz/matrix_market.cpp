// Matrices from files, as floats and as doubles.
#include "fuzz.hpp"
#include "input/matrix_file.hpp"

namespace quadmill::fuzz {

void run(std::span<const std::byte> bytes) {
    const MemoryFile memory(bytes);
    constexpr std::uint64_t max_elements = 1U << 20U;  // a fuzzer's memory is limited
    try_to([&] { static_cast<void>(detail::input::read_matrix<float>(memory.path(), std::nullopt, max_elements)); });
    try_to([&] { static_cast<void>(detail::input::read_matrix<double>(memory.path(), 2, max_elements)); });
}

}  // namespace quadmill::fuzz
