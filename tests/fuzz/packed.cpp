// Files compressed with gzip or zstd, read as a whole and as a stream.
#include "fuzz.hpp"
#include "input/unpack.hpp"

namespace quadmill::fuzz {

void run(std::span<const std::byte> bytes) {
    const MemoryFile memory(bytes);
    try_to([&] { static_cast<void>(detail::input::read_unpacked(memory.path())); });
    try_to([&] {
        detail::input::TextStream stream(memory.path());
        while (stream.more()) stream.drop(stream.text().size());
    });
}

}  // namespace quadmill::fuzz
