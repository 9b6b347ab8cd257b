// Common parts of the fuzzers. Each file in this folder gives one reader arbitrary bytes. A reader may reject them with
// an error of the library; anything else is a fault.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/error.hpp"

namespace quadmill::fuzz {

inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A file in memory with these bytes.
class MemoryFile {
  public:
    explicit MemoryFile(std::span<const std::byte> bytes) : file_(memfd_create("fuzz", 0)) {
        if (file_ < 0 || write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(file_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

  private:
    int file_;
};

// Calls read(). Errors of the library are allowed.
template <class Read>
void try_to(const Read& read) {
    try {
        read();
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
}

// The bytes with a correct checksum at their end, so that a reader looks at the rest.
template <class Sum>
std::vector<std::byte> with_checksum(std::span<const std::byte> bytes, Sum (*sum)(std::span<const std::byte>)) {
    std::vector<std::byte> whole(bytes.begin(), bytes.end());
    if (whole.size() < sizeof(Sum)) return whole;
    const auto body = whole.size() - sizeof(Sum);
    const Sum value = sum(std::span(whole).first(body));
    std::memcpy(whole.data() + body, &value, sizeof value);
    return whole;
}

void run(std::span<const std::byte> bytes);

}  // namespace quadmill::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    quadmill::fuzz::run(std::as_bytes(std::span(data, size)));
    return 0;
}
