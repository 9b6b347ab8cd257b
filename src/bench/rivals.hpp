// Sorts of others on the CPU, for comparison. Which there are was decided when the command was built.
#pragma once

#include <span>
#include <string_view>

#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

struct Rival {
    const char* name;
    const char* package;  // of Debian, that it comes with; null for the standard library alone
    void (*sort)(Keys);  // ascending by value; 16-bit floats through integers of the same order. Null: was not built in
};
[[nodiscard]] std::span<const Rival> rivals();
// The one of that name; null where it was not built in.
[[nodiscard]] const Rival* rival_of(std::string_view name);

// While it lives, rivals may run; then it waits for the end of their threads, so that none runs while the process ends.
class RivalThreads {
  public:
    RivalThreads() = default;
    RivalThreads(const RivalThreads&) = delete;
    RivalThreads& operator=(const RivalThreads&) = delete;
    ~RivalThreads();
};

}  // namespace quadmill::detail::bench
