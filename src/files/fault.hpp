// Faults that tests put in the place of what the operating system answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

namespace quadmill::detail::files {

enum class Call { Open, Read, Write, Truncate, Sync, Close, Rename };

// `error`: of errno, with which the call is to fail. `most`: bytes that a read or write may take.
struct Fault {
    int error = 0;
    std::size_t most = std::numeric_limits<std::size_t>::max();
};

// Asked before each call, from any thread; null but in tests.
using FaultHook = Fault (*)(Call call);
inline std::atomic<FaultHook> fault_hook{nullptr};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

[[nodiscard]] inline Fault fault_at(Call call) {
    const auto hook = fault_hook.load(std::memory_order_relaxed);
    return hook ? hook(call) : Fault{};
}

// Whether a call is to fail; errno then says how.
[[nodiscard]] bool fails(Call call);

}  // namespace quadmill::detail::files
