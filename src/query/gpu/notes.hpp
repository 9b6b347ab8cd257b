// What a pass of the depth or the bitmap engine does, for observers of a query (gl::Note).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gl/objects.hpp"
#include "query/gpu/depth_codes.hpp"

namespace quadmill::detail::query {

// The content of the depth buffer: a plane of a column's keys, or the differences of two columns.
struct DepthHolds {
    std::size_t column = 0;               // of the table
    std::optional<std::size_t> less{};    // another one, subtracted from it
    const DepthPlanes* planes = nullptr;  // of a column alone, and which of them it is
    int plane = 0;
};

struct QueryNote {
    enum class Act {
        Load,      // copies to the depth buffer what it holds from now on
        Test,      // a quad over all rows is drawn at `code`, or tested by `bounds`, or neither
        TestSum,   // likewise; fragments of rows whose sum does not satisfy the condition are discarded
        TestBits,  // those of rows that are not in a selection are
        Compare,   // writes the selection of rows whose value lies in a range
        Select,    // of those that another condition holds of
        Combine,   // of two selections
        Count,     // counts the rows of `selection`, a number for each few words
        AddUp,     // adds up such numbers
    } act = Act::Load;
    // Passes of the depth engine have these:
    int clause = 0;                     // of the conjunction, from 1; 0: none, or between two
    const DepthHolds* depth = nullptr;  // what is there for a test, or after a load
    std::optional<std::uint32_t> code{};
    std::optional<std::array<std::uint32_t, 2>> bounds{};  // the min and the max code that pass
    // Passes of the bitmap engine have this:
    const gl::Texture* selection = nullptr;
};

}  // namespace quadmill::detail::query
