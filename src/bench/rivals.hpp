// Rival sorts on the CPU.
#pragma once

#include <span>
#include <string_view>

#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

struct Rival {
    const char* name;
    const char* package;  // Debian package; null for the standard library
    void (*sort)(Keys);   // sorts ascending by value. Null: not built in, or its library is missing
};
[[nodiscard]] std::span<const Rival> rivals();
// The rival with that name; null if it cannot sort.
[[nodiscard]] const Rival* rival_of(std::string_view name);

// Rivals may run while it exists. Its destructor waits for their threads, so that none runs while the process ends.
class RivalThreads {
  public:
    RivalThreads() = default;
    RivalThreads(const RivalThreads&) = delete;
    RivalThreads& operator=(const RivalThreads&) = delete;
    ~RivalThreads();
};

}  // namespace quadmill::detail::bench
