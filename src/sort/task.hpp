// What one call of a Sorter asks for, and which engine can do it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "sort/choose.hpp"
#include "sort/key_form.hpp"
#include "sort/merge/segments.hpp"

namespace quadmill::detail::sort {

// What one call asks for.
struct Task {
    enum class What { Sort, SortWithIndex, Argsort, Windows, Segments, Top };
    What what;
    const char* function;
    Keys keys;
    Order order;
    std::span<std::uint32_t> index{};
    std::size_t window = 0;               // What::Windows
    std::span<const std::size_t> ends{};  // What::Segments

    // How many pairs of blocks the keys fill in the merge engine.
    [[nodiscard]] std::size_t pairs(const KeyForm& form) const;
    // The keys as segments of one length, if they are.
    [[nodiscard]] std::optional<EqualSegments> equal_segments() const;
    [[nodiscard]] Work work() const;
};

// The options with limits of the device, and powers of two where they must be. Throws InvalidArgument for what cannot
// be.
[[nodiscard]] SortOptions checked_options(const char* function, const ContextInfo& info, SortOptions options);
// Throws InvalidArgument for a window that has no room in a texture.
void check_pbsn_window(const char* function, const PbsnOptions& options, std::size_t window);

[[nodiscard]] bool can(Engine engine, Task::What what);
// The error that says so, and what to use instead.
[[nodiscard]] InvalidArgument cannot(Engine engine, const Task& task);
// Throws InvalidArgument when the options ask to convert the keys, which only sort() and sort_windows() do.
void check_no_conversion(const SortOptions& options, const Task& task);

}  // namespace quadmill::detail::sort
