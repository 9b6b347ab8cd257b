// Faults that tests inject in place of the operating system's answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

namespace quadmill::detail::files {

enum class Call { Open, Read, Write, Truncate, Sync, Close, Rename };

// `error` is the errno with which the call fails, `max` the max bytes of a read or write.
struct Fault {
    int error = 0;
    std::size_t max = std::numeric_limits<std::size_t>::max();
};

// Called before each system call, from any thread; null except in tests.
using FaultHook = Fault (*)(Call call);
inline std::atomic<FaultHook> fault_hook{nullptr};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

[[nodiscard]] inline Fault fault_at(Call call) {
    const auto hook = fault_hook.load(std::memory_order_relaxed);
    return hook ? hook(call) : Fault{};
}

// Whether a call must fail. Sets errno if so.
[[nodiscard]] bool fails(Call call);

}  // namespace quadmill::detail::files
