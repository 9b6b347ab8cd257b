// The task of one call of a Sorter, and which engines can do it.
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

// The arguments of one call.
struct Task {
    enum class What { Sort, SortWithIndex, Argsort, Windows, Segments, Top };
    What what;
    const char* function;
    Keys keys;
    Order order;
    std::span<std::uint32_t> index{};
    std::size_t window = 0;               // for What::Windows
    std::span<const std::size_t> ends{};  // for What::Segments

    // Pairs of blocks that the keys fill in the merge engine.
    [[nodiscard]] std::size_t pairs(const KeyForm& form) const;
    // The keys as segments of equal length, if they are.
    [[nodiscard]] std::optional<EqualSegments> equal_segments() const;
    [[nodiscard]] SortWork work() const;
};

// The options with the device's limits applied, and with powers of two where required. Throws InvalidArgument for
// invalid options.
[[nodiscard]] SortOptions checked_options(const char* function, const ContextInfo& info, SortOptions options);
// Throws InvalidArgument for a window that does not fit into a texture.
void check_pbsn_window(const char* function, const PbsnOptions& options, std::size_t window);

[[nodiscard]] bool can(Engine engine, Task::What what);
// The error for that engine and task; it says which engine to use instead.
[[nodiscard]] InvalidArgument cannot(Engine engine, const Task& task);
// Throws InvalidArgument if the options ask to convert the keys. Only sort() and sort_windows() convert.
void check_no_conversion(const SortOptions& options, const Task& task);

}  // namespace quadmill::detail::sort
