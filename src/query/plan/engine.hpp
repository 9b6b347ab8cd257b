// The interface of engines: leaves of a condition and aggregates, over rows that are selected by bits.
//
// Engines see columns as unsigned keys, 32 or 64 bits wide, in the order of their values (key.hpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/predicate.hpp"
#include "query/plan/formula.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

using Key = std::uint64_t;

// Leaves are false for rows with NULL, even if negated, except for IsNull. `negate` inverts other rows.
//
// low <= key <= high. All comparisons with a constant have this form. Keys of NaNs are outside of every range that a
// comparison asks for, so only negated ranges hold for NaNs. Pre: low <= high. For the CPU engine neither bound is the
// key of -0, which it cannot tell from +0: see without_negative_zero().
struct Range {
    std::size_t column;
    Key low, high;
    bool negate = false;
    bool operator==(const Range&) const = default;
};
// The key is in this list. Pre: the list is ascending and not empty.
struct Member {
    std::size_t column;
    std::vector<Key> keys;
    bool negate = false;
    bool operator==(const Member&) const = default;
};
// a op b. Columns of the same type are compared by their keys. Otherwise both are compared as 64-bit integers or as
// doubles, which is exact for the columns' values (bind() checks it). Floats compare as in IEEE 754, even by keys: with
// a NaN on either side, whose key comes after +inf, only NotEqual holds.
struct Pair {
    enum class As { Keys, Integers, Doubles };
    std::size_t a, b;
    Comparison op;
    As as = As::Keys;
    bool negate = false;
    bool operator==(const Pair&) const = default;
};
// The sum of factors[i] * column i, added in order to 0, in doubles, with each step rounded. 64-bit integers are first
// rounded to the nearest double. A NaN sum satisfies only NotEqual.
struct Linear {
    std::vector<double> factors;
    std::vector<std::size_t> columns;
    Comparison op;
    double constant;
    bool negate = false;
    bool operator==(const Linear&) const = default;
};
// left op right, computed in steps: in doubles with each step rounded, or in 128-bit integers that hold all
// intermediate results (bind() checks it). If a side is NaN, only NotEqual holds.
struct Formula {
    enum class As { Doubles, Integers };
    std::vector<IndexedStep> steps;
    Comparison op;
    As as = As::Doubles;
    bool negate = false;
    bool operator==(const Formula&) const = default;
};
struct IsNull {
    std::size_t column;
    bool negate = false;
    bool operator==(const IsNull&) const = default;
};
struct Always {
    bool value;
    bool operator==(const Always&) const = default;
};
using Leaf = std::variant<Range, Member, Pair, Linear, Formula, IsNull, Always>;

enum class BoolOp { And, Or, AndNot };

// Integers: exact. Floats: `value`. Integers of 128 bits are aligned to 16 bytes by default; with 8 a group is smaller.
__extension__ using SumInteger [[gnu::aligned(8)]] = __int128;
struct Sum {
    SumInteger integer = 0;
    double value = 0;
};

// Neumaier's sum: rounding errors are summed separately, so that many values cost at most two roundings.
struct CompensatedSum {
    double value = 0, lost = 0;
    void add(double x) {
        const auto next = value + x;
        lost += std::abs(value) >= std::abs(x) ? (value - next) + x : (x - next) + value;
        value = next;
    }
    [[nodiscard]] double total() const { return std::isfinite(value) ? value + lost : value; }
};

// Selected rows. Row i is bit i % 32 of word i / 32; bits beyond the last row are 0. Each engine keeps the bits where
// it accesses them fast.
class Bits {
  public:
    virtual ~Bits() = default;
};
using BitsPtr = std::shared_ptr<const Bits>;

// An answer that the GPU may still compute; an empty one is no answer. Both functions may be called several times.
template <class T>
struct Later {
    std::function<T()> result{};                        // waits
    std::function<bool()> ready = [] { return true; };  // whether result() returns without waiting
    explicit operator bool() const { return result != nullptr; }
};
template <class T>
[[nodiscard]] Later<T> known(T answer) {
    return {.result = [answer = std::move(answer)] { return answer; }};
}
using Counting = Later<std::uint64_t>;

// A condition in conjunctive normal form. No clause is empty.
using Clauses = std::vector<std::vector<Leaf>>;

class BitmapColumns;
class GpuColumns;

// A table opened by an engine.
class Columns {
  public:
    virtual ~Columns() = default;

    // All rows for which the leaf holds.
    [[nodiscard]] virtual BitsPtr leaf(const Leaf& leaf) = 0;
    [[nodiscard]] virtual BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) = 0;
    [[nodiscard]] virtual std::uint64_t count(const Bits& rows) = 0;

    // The smallest and the largest key of the selected rows. Pre: at least one row, and none is NULL (the planner
    // ensures it).
    [[nodiscard]] virtual std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) = 0;
    // The k-th smallest key; k counts from 0. Pre: k < count(rows).
    [[nodiscard]] virtual Key kth(std::size_t column, std::uint64_t k, const Bits& rows) = 0;
    [[nodiscard]] virtual Sum sum(std::size_t column, const Bits& rows) = 0;

    // Their row numbers, ascending.
    [[nodiscard]] virtual std::vector<std::uint64_t> rows(const Bits& rows) = 0;
    // Bits beyond the last row are ignored. Pre: one word per 32 rows.
    [[nodiscard]] virtual BitsPtr bits_of(std::span<const std::uint32_t> words) = 0;
    [[nodiscard]] virtual std::vector<std::uint32_t> words(const Bits& rows) = 0;

    // This object if it is on the GPU, otherwise null.
    [[nodiscard]] virtual GpuColumns* gpu() { return nullptr; }
    // The owner of columns and bits that are textures of one part; null for others.
    [[nodiscard]] virtual BitmapColumns* textures() { return nullptr; }
};

// Columns on the GPU: conditions are evaluated as a whole, and counts need not be waited for.
class GpuColumns : public Columns {
  public:
    [[nodiscard]] GpuColumns* gpu() final { return this; }

    // The rows that satisfy the condition, and only their number.
    [[nodiscard]] virtual BitsPtr conjunction(const Clauses& clauses) = 0;
    [[nodiscard]] virtual std::uint64_t count_conjunction(const Clauses& clauses) {
        return count_conjunction_later(clauses).result();
    }
    // The number of rows, without waiting for the GPU.
    [[nodiscard]] virtual Counting count_later(const Bits& rows) = 0;
    [[nodiscard]] virtual Counting count_conjunction_later(const Clauses& clauses) = 0;
    // Uploads these columns again, except on their first use.
    virtual void send_again(std::span<const std::size_t> columns) = 0;
};

// A table and the columns that will be used.
struct TableColumns {
    const TableData& table;
    std::span<const std::size_t> columns;
};

class Engine {
  public:
    virtual ~Engine() = default;
    // `columns` are those that will be used. The engine may keep its copy of the data while `table` lives.
    [[nodiscard]] virtual std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                        std::span<const std::size_t> columns) = 0;
    // Bytes of GPU memory that would be allocated for those columns.
    [[nodiscard]] virtual std::size_t bytes(const std::vector<TableColumns>& tables) const = 0;
    // Frees memory until the engine, with those columns, holds at most that many bytes of GPU memory. Drops unused
    // columns, least recently used first. False if that is not enough.
    [[nodiscard]] virtual bool make_space(const std::vector<TableColumns>& tables, std::size_t limit) = 0;
    [[nodiscard]] virtual std::size_t held() const = 0;
};

}  // namespace quadmill::detail::query
