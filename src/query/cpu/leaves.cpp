#include "query/cpu/leaves.hpp"

#include <limits>
#include <span>

namespace quadmill::detail::query::loops {

namespace {

template <class T>
void pack_compared(Comparison op, const T* a, const T* b, std::size_t n, std::uint32_t* words) {
    using Lane = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    switch (op) {
        case Comparison::Less:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] < b[i]; });
        case Comparison::LessOrEqual:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] <= b[i]; });
        case Comparison::Equal:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] == b[i]; });
        case Comparison::NotEqual:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] != b[i]; });
        case Comparison::GreaterOrEqual:
            return pack_compared(Comparison::LessOrEqual, b, a, n, words);
        case Comparison::Greater:
            return pack_compared(Comparison::Less, b, a, n, words);
    }
}

// Rows [first, first + n) as numbers of another type.
template <class Number>
void load(const ColumnData& column, std::size_t first, std::size_t n, Number* out) {
    with_values(column, [&](auto values) {
        const auto* from = values.data() + first;
        for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Number>(from[i]);
    });
}

// Calls `work(first, n)` for blocks that stay in the L1 cache. Blocks are whole words, except for the last.
constexpr std::size_t block_rows = 1024;
template <class Work>
void for_blocks(std::size_t first, std::size_t n, const Work& work) {
    for (std::size_t done = 0; done < n; done += block_rows) work(first + done, std::min(block_rows, n - done));
}

// The operands are on a stack, one block each. The two sides of the comparison are left at the end.
template <class T>
void pack_formula(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    std::vector<std::array<T, block_rows>> stack;
    const auto constant = [](const Numeral& number) {
        return std::visit([](auto value) { return static_cast<T>(value); }, number);
    };
    for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
        std::size_t size = 0;
        const auto each = [&](auto compute) {
            auto &a = stack[size - 1], &b = stack[size];
            for (std::size_t i = 0; i < rows; ++i) a[i] = compute(a[i], b[i]);
        };
        for (const auto& step : leaf.steps) {
            const bool fresh = step.kind == Arithmetic::Column || step.kind == Arithmetic::Constant;
            if (fresh && ++size > stack.size()) stack.emplace_back();
            if (!fresh && step.kind != Arithmetic::Negate) --size;
            switch (step.kind) {
                case Arithmetic::Column:
                    load(*table.columns[step.column], at, rows, stack[size - 1].data());
                    break;
                case Arithmetic::Constant:
                    std::fill_n(stack[size - 1].data(), rows, constant(step.constant));
                    break;
                case Arithmetic::Negate:
                    for (std::size_t i = 0; i < rows; ++i) stack[size - 1][i] = -stack[size - 1][i];
                    break;
                case Arithmetic::Add:
                    each([](T a, T b) { return a + b; });
                    break;
                case Arithmetic::Subtract:
                    each([](T a, T b) { return a - b; });
                    break;
                case Arithmetic::Multiply:
                    each([](T a, T b) { return a * b; });
                    break;
            }
        }
        pack_compared(leaf.op, stack[0].data(), stack[1].data(), rows, words + (at - first) / word_rows);
    });
}

}  // namespace

void pack_leaf(const TableData& table, const Range& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    with_values(*table.columns[leaf.column], [&]<class T>(std::span<const T> values) {
        if constexpr (std::is_floating_point_v<T>) {
            // Comparing the numbers themselves takes a third of the time of comparing keys. It does not work for NaNs.
            if (leaf.high <= KeyOf<T>::key(std::numeric_limits<T>::infinity())) {
                const auto min = KeyOf<T>::value(leaf.low), max = KeyOf<T>::value(leaf.high);
                return pack<NarrowKey<T>>(n, words, [=, from = values.data() + first](std::size_t i) {
                    return static_cast<bool>(static_cast<int>(from[i] >= min) & static_cast<int>(from[i] <= max));
                });
            }
        }
        using Narrow = NarrowKey<T>;
        const auto low = static_cast<Narrow>(leaf.low), width = static_cast<Narrow>(leaf.high - leaf.low);
        pack<Narrow>(n, words, [=, from = values.data() + first](std::size_t i) {
            return static_cast<Narrow>(narrow_key(from[i]) - low) <= width;
        });
    });
}

void pack_leaf(const TableData& table, const Pair& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    const auto &a = *table.columns[leaf.a], &b = *table.columns[leaf.b];
    const auto compare = [&]<class Number>(Number /*type*/) {
        std::array<Number, block_rows> x, y;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
            load(a, at, rows, x.data());
            load(b, at, rows, y.data());
            pack_compared(leaf.op, x.data(), y.data(), rows, words + (at - first) / word_rows);
        });
    };
    // If the numbers represent all values of a type, they compare as its keys do, and NaNs compare as required.
    if (leaf.as == Pair::As::Doubles || (leaf.as == Pair::As::Keys && is_float(a.type))) {
        compare(double{});
    } else {
        compare(std::int64_t{});
    }
}

void pack_leaf(const TableData& table, const Linear& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    std::array<double, block_rows> sum, x, constant;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    constant.fill(leaf.constant);
    for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
        std::fill_n(sum.data(), rows, 0.0);
        for (std::size_t term = 0; term < leaf.factors.size(); ++term) {
            load(*table.columns[leaf.columns[term]], at, rows, x.data());
            for (std::size_t i = 0; i < rows; ++i) sum[i] += leaf.factors[term] * x[i];
        }
        pack_compared(leaf.op, sum.data(), constant.data(), rows, words + (at - first) / word_rows);
    });
}

void pack_leaf(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    if (leaf.as == Formula::As::Integers) return pack_formula<Integer>(table, leaf, first, n, words);
    pack_formula<double>(table, leaf, first, n, words);
}

}  // namespace quadmill::detail::query::loops
