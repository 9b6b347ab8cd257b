// What a pass of the depth or the bitmap engine does, for observers of a query (gl::Note).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gl/objects.hpp"
#include "query/gpu/depth_codes.hpp"

namespace quadmill::detail::query {

// Content of the depth buffer: a plane of a column's keys, or the differences of two columns.
struct DepthHolds {
    std::size_t column = 0;               // index in the table
    std::optional<std::size_t> less{};    // a column that is subtracted from it
    const DepthPlanes* planes = nullptr;  // for a single column: its planes, and the index of this one
    int plane = 0;
};

struct QueryNote {
    enum class Act {
        Load,      // copies to the depth buffer
        Test,      // draws a quad over all rows at depth `code`, or tests `bounds`, or neither
        TestSum,   // like Test, discards fragments of rows whose sum does not satisfy the condition
        TestBits,  // like Test, discards fragments of rows that are not in a selection
        Compare,   // writes the selection of rows with values in a range
        Select,    // writes the selection of rows for which another condition holds
        Combine,   // combines two selections
        Count,     // counts the rows of `selection`, one number per few words
        AddUp,     // adds such numbers
    } act = Act::Load;
    // For passes of the depth engine:
    int clause = 0;                     // number of the clause, from 1; 0: none, or between two clauses
    const DepthHolds* depth = nullptr;  // the content for a test, or after a load
    std::optional<std::uint32_t> code{};
    std::optional<std::array<std::uint32_t, 2>> bounds{};  // min and max code that pass
    // For passes of the bitmap engine:
    const gl::Texture* selection = nullptr;
};

}  // namespace quadmill::detail::query
