/// Which rows of two tables make a pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace quadmill {

/// How a join finds its pairs.
enum class JoinMethod {
    Auto,         ///< nested loops for few rows, otherwise sort-merge
    NestedLoops,  ///< compares every row with every row; with a GPU engine in passes, for some left rows at a time,
                  ///< if the columns must be equal. Selections then stay on the GPU, and the pairs are listed there
    SortMerge     ///< both columns sorted (in the processor's context, if it has one), then merged
};

/// Pairs of rows of two tables whose columns are equal, or differ by at most `band`. If both tables of a query have a
/// column k, "x.k" is that of table x. A column whose own name is "x.k" is meant only if table x has no column k. (In
/// `left` and `right`, which belong to one table, own names come first.)
///
/// Guarantee: exact, as for a Predicate: |left - right| <= band as real numbers. -0 is 0, an infinity equals itself,
/// NULLs and NaNs have no partner. Integers beyond 2^53 are refused if the other column has floats.
struct Join {
    std::string left, right;                               ///< columns of numbers, or both of text, by their own names
    double band = 0;                                       ///< from 0; for text 0
    std::string left_name = "left", right_name = "right";  ///< of the tables
    JoinMethod method = JoinMethod::Auto;                  ///< how pairs are found
    /// Nested loops in passes: number of left rows whose pairs are found at a time, B in MDS'09, a multiple of 4; 0: as
    /// many as fit, which is fastest. At most as many as fit are used.
    std::size_t block_rows = 0;
};

/// A pair that a join found: the numbers of its rows, from 0.
struct RowPair {
    std::uint64_t left = 0, right = 0;  ///< numbers from 0
    bool operator==(const RowPair&) const = default;
};

}  // namespace quadmill
