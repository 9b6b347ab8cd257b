#include "bench/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

#include "query/table/key.hpp"

// GCC's dispatch between versions runs when the program starts, before the sanitizers are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define QUADMILL_CLONES 1
#endif

namespace quadmill::detail::bench {

namespace {

using query::ColumnData;
using query::KeyOf;
using query::Leaf;
using query::TableData;

constexpr std::size_t block_rows = 2048, task_rows = std::size_t{1} << 18U;

// A leaf with constants of the column's own type.
struct Test {
    enum class Op { AtMost, AtLeast, Within, Member, Linear, Null } op;
    ColumnType type = ColumnType::I32;
    const void* values = nullptr;
    std::int64_t low = 0, high = 0;
    float low_f = 0, high_f = 0;
    std::vector<std::int64_t> members{};
    std::vector<double> factors{};
    std::vector<Test> columns{};  // for Linear
    double constant = 0;
    const std::uint32_t* valid = nullptr;  // for Null
};

// Clauses of tests, which a thread scans.
struct Tests {
    std::vector<std::vector<Test>> clauses;
};

const void* values_of(const ColumnData& column) {
    return query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) -> const void* {
        return std::get<std::vector<T>>(column.values).data();
    });
}

Test range_test(const ColumnData& column, const query::Range& range) {
    Test test{.op = range.low <= column.min    ? Test::Op::AtMost
                    : range.high >= column.max ? Test::Op::AtLeast
                                               : Test::Op::Within,
              .type = column.type,
              .values = values_of(column)};
    if (column.type == ColumnType::F32) {
        test.low_f = KeyOf<float>::value(range.low);
        test.high_f = KeyOf<float>::value(range.high);
    } else if (column.type == ColumnType::I64) {
        test.low = KeyOf<std::int64_t>::value(range.low);
        test.high = KeyOf<std::int64_t>::value(range.high);
    } else {
        test.low = KeyOf<std::int32_t>::value(range.low);
        test.high = KeyOf<std::int32_t>::value(range.high);
    }
    return test;
}

Test test_of(const TableData& table, const Leaf& leaf) {
    if (const auto* range = std::get_if<query::Range>(&leaf)) return range_test(*table.columns[range->column], *range);
    if (const auto* member = std::get_if<query::Member>(&leaf)) {
        const auto& column = *table.columns[member->column];
        Test test{.op = Test::Op::Member, .type = column.type, .values = values_of(column)};
        for (const auto key : member->keys) test.members.push_back(KeyOf<std::int32_t>::value(key));
        return test;
    }
    if (const auto* linear = std::get_if<query::Linear>(&leaf)) {
        Test test{.op = Test::Op::Linear, .factors = linear->factors, .constant = linear->constant};
        for (const auto i : linear->columns) {
            const auto& column = *table.columns[i];
            test.columns.push_back({.op = Test::Op::AtMost, .type = column.type, .values = values_of(column)});
        }
        return test;
    }
    // For floats, the sign of their difference in doubles is exact.
    if (const auto* pair = std::get_if<query::Pair>(&leaf))
        return test_of(table, query::Linear{{1, -1}, {pair->a, pair->b}, pair->op, 0});
    const auto& column = *table.columns[std::get<query::IsNull>(leaf).column];
    return {.op = Test::Op::Null, .valid = column.valid.empty() ? nullptr : column.valid.data()};
}

// ---- The work of one thread, all inlined into count_rows and compiled for several processors

struct Count {
    std::uint32_t rows = 0;
    template <class T, class Holds>
    void take(const T* values, std::size_t n, const Holds& holds) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::uint32_t>(holds(values[i]));
        rows += sum;
    }
};

// One byte per row.
struct SetMask {
    std::uint8_t* mask;
    template <class T, class Holds>
    void take(const T* values, std::size_t n, const Holds& holds) {
        for (std::size_t i = 0; i < n; ++i) mask[i] = static_cast<std::uint8_t>(holds(values[i]));
    }
};
struct OrMask {
    std::uint8_t* mask;
    template <class T, class Holds>
    void take(const T* values, std::size_t n, const Holds& holds) {
        for (std::size_t i = 0; i < n; ++i) mask[i] |= static_cast<std::uint8_t>(holds(values[i]));
    }
};

template <class T, class Sink>
void compare(Test::Op op, const T* values, std::size_t n, T low, T high, Sink& sink) {
    switch (op) {
        case Test::Op::AtMost:
            return sink.take(values, n, [=](T value) { return value <= high; });
        case Test::Op::AtLeast:
            return sink.take(values, n, [=](T value) { return value >= low; });
        default:
            return sink.take(values, n, [=](T value) {
                return (static_cast<int>(value >= low) & static_cast<int>(value <= high)) != 0;
            });
    }
}

template <class T>
void add_term(const T* values, std::size_t n, double factor, double* sums) {
    for (std::size_t i = 0; i < n; ++i) sums[i] += factor * static_cast<double>(values[i]);
}

template <class Sink>
void linear(const Test& test, std::size_t first, std::size_t n, Sink& sink) {
    alignas(64) double sums[block_rows] = {};
    for (std::size_t j = 0; j < test.columns.size(); ++j) {
        const auto& column = test.columns[j];
        const auto factor = test.factors[j];
        switch (column.type) {
            case ColumnType::F32:
                add_term(static_cast<const float*>(column.values) + first, n, factor, sums);
                break;
            case ColumnType::I64:
                add_term(static_cast<const std::int64_t*>(column.values) + first, n, factor, sums);
                break;
            default:
                add_term(static_cast<const std::int32_t*>(column.values) + first, n, factor, sums);
        }
    }
    const auto constant = test.constant;
    sink.take(sums, n, [=](double sum) { return sum <= constant; });
}

template <class Sink>
void member(const Test& test, std::size_t first, std::size_t n, Sink& sink) {
    const auto* values = static_cast<const std::int32_t*>(test.values) + first;
    alignas(64) std::uint8_t any[block_rows] = {};
    OrMask found{any};
    for (const auto one : test.members)
        found.take(values, n, [key = static_cast<std::int32_t>(one)](std::int32_t value) { return value == key; });
    sink.take(any, n, [](std::uint8_t one) { return one != 0; });
}

template <class Sink>
void null(const Test& test, std::size_t first, std::size_t n, Sink& sink) {
    alignas(64) std::uint8_t none[block_rows] = {};
    if (test.valid) {
        for (std::size_t i = 0; i < n; ++i)
            none[i] = static_cast<std::uint8_t>(~(test.valid[(first + i) / 32] >> ((first + i) % 32)) & 1U);
    }
    sink.take(none, n, [](std::uint8_t one) { return one != 0; });
}

template <class Sink>
void run(const Test& test, std::size_t first, std::size_t n, Sink& sink) {
    switch (test.op) {
        case Test::Op::Member:
            return member(test, first, n, sink);
        case Test::Op::Linear:
            return linear(test, first, n, sink);
        case Test::Op::Null:
            return null(test, first, n, sink);
        default:
            break;
    }
    switch (test.type) {
        case ColumnType::F32:
            return compare(test.op, static_cast<const float*>(test.values) + first, n, test.low_f, test.high_f, sink);
        case ColumnType::I64:
            return compare(test.op, static_cast<const std::int64_t*>(test.values) + first, n, test.low, test.high,
                           sink);
        default:
            return compare(test.op, static_cast<const std::int32_t*>(test.values) + first, n,
                           static_cast<std::int32_t>(test.low), static_cast<std::int32_t>(test.high), sink);
    }
}

std::uint32_t count_block(const Tests& tests, std::size_t first, std::size_t n) {
    Count count;
    if (tests.clauses.size() == 1 && tests.clauses[0].size() == 1) {
        run(tests.clauses[0][0], first, n, count);
        return count.rows;
    }
    alignas(64) std::uint8_t all[block_rows], one[block_rows];
    std::fill_n(all, n, std::uint8_t{1});
    for (const auto& clause : tests.clauses) {
        std::fill_n(one, n, std::uint8_t{0});
        OrMask any{one};
        for (const auto& test : clause) run(test, first, n, any);
        for (std::size_t i = 0; i < n; ++i) all[i] &= one[i];
    }
    count.take(all, n, [](std::uint8_t row) { return row != 0; });
    return count.rows;
}

#ifdef QUADMILL_CLONES
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), flatten))
#endif
std::uint64_t
count_rows(const Tests& tests, std::size_t first, std::size_t n) {
    std::uint64_t sum = 0;
    for (std::size_t done = 0; done < n; done += block_rows)
        sum += count_block(tests, first + done, std::min(block_rows, n - done));
    return sum;
}

#ifdef QUADMILL_CLONES
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), flatten))
#endif
std::int64_t
sum_rows(const std::int32_t* values, std::size_t n) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += values[i];
    return sum;
}

// ---- All threads

// The sum of work(first, n) over all pieces of the rows.
template <class Work>
std::uint64_t add_up(cpu::Workers& workers, std::size_t rows, const Work& work) {
    std::vector<std::uint64_t> parts((rows + task_rows - 1) / task_rows);
    workers.for_each(parts.size(),
                     [&](std::size_t i) { parts[i] = work(i * task_rows, std::min(task_rows, rows - i * task_rows)); });
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
}

constexpr int digit_bits = 12;
using Histogram = std::array<std::uint64_t, std::size_t{1} << digit_bits>;

// For each digit, the number of values with it whose bits above `shift + bits` equal `known`.
template <class T>
void count_digits(std::span<const T> values, std::uint64_t min, std::uint64_t known, int shift, int bits,
                  Histogram& counts) {
    counts.fill(0);
    const auto above = static_cast<unsigned>(shift + bits);
    const auto mask = (std::uint64_t{1} << static_cast<unsigned>(bits)) - 1;
    for (const auto value : values) {
        const auto code = static_cast<std::uint64_t>(KeyOf<T>::key(value)) - min;
        const bool counts_here = above >= 64 || (code >> above) == known;
        counts[(code >> static_cast<unsigned>(shift)) & mask] += counts_here ? 1 : 0;
    }
}

template <class T>
std::uint64_t kth(cpu::Workers& workers, const ColumnData& column, std::span<const T> values, std::uint64_t k) {
    const std::size_t threads = workers.threads();
    const auto share = (values.size() + threads - 1) / threads;
    std::vector<Histogram> counts(threads);
    std::uint64_t known = 0;
    for (int left = static_cast<int>(std::bit_width(column.max - column.min)); left > 0;) {
        const int bits = std::min(left, digit_bits);
        left -= bits;
        workers.for_each(threads, [&](std::size_t i) {
            const auto first = std::min(i * share, values.size());
            count_digits(values.subspan(first, std::min(share, values.size() - first)), column.min, known, left, bits,
                         counts[i]);
        });
        for (std::size_t digit = 0;; ++digit) {
            std::uint64_t here = 0;
            for (const auto& one : counts) here += one[digit];
            if (k < here) {
                known = (known << static_cast<unsigned>(bits)) | digit;
                break;
            }
            k -= here;
        }
    }
    return column.min + known;
}

// Each thread has the groups of some keys, in a hash table.
std::uint64_t groups(cpu::Workers& workers, const TableData& table, const ColumnData& by) {
    struct Group {
        std::uint64_t rows = 0;
        std::int32_t max = std::numeric_limits<std::int32_t>::min();
    };
    const auto& values = std::get<std::vector<std::int32_t>>(table.columns[column_a]->values);
    const std::size_t parts = workers.threads();
    std::vector<std::uint64_t> sums(parts);
    query::visit_column_type(by.type, [&]<class T>(const T* /*type*/) {
        const auto& keys = std::get<std::vector<T>>(by.values);
        workers.for_each(parts, [&](std::size_t part) {
            std::unordered_map<T, Group> found;
            for (std::size_t row = 0; row < keys.size(); ++row) {
                if (parts > 1 && std::hash<T>()(keys[row]) % parts != part) continue;
                auto& group = found[keys[row]];
                ++group.rows;
                group.max = std::max(group.max, values[row]);
            }
            for (const auto& [key, group] : found) sums[part] += group.rows * static_cast<std::uint64_t>(group.max);
        });
    });
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

}  // namespace

std::uint64_t Scan::answer(const query::TableData& table, const QueryCase& which) {
    const auto& column = *table.columns[which.column];
    switch (which.ask) {
        case QueryCase::Ask::Kth:
        case QueryCase::Ask::Min:
            return query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
                return kth(workers_, column, std::span(std::get<std::vector<T>>(column.values)), which.k);
            });
        case QueryCase::Ask::Groups:
            return groups(workers_, table, column);
        case QueryCase::Ask::Sum: {
            const auto* values = std::get<std::vector<std::int32_t>>(column.values).data();
            return add_up(workers_, table.rows, [&](std::size_t first, std::size_t n) {
                return static_cast<std::uint64_t>(sum_rows(values + first, n));
            });
        }
        default:
            break;
    }
    Tests tests;
    for (const auto& clause : which.where) {
        tests.clauses.emplace_back();
        for (const auto& leaf : clause) tests.clauses.back().push_back(test_of(table, leaf));
    }
    return add_up(workers_, table.rows, [&](std::size_t first, std::size_t n) { return count_rows(tests, first, n); });
}

std::uint64_t nth_element(const query::TableData& table, const QueryCase& which) {
    const auto& column = *table.columns[which.column];
    return query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) -> std::uint64_t {
        auto copy = std::get<std::vector<T>>(column.values);
        const auto at = copy.begin() + static_cast<std::ptrdiff_t>(which.k);
        std::nth_element(copy.begin(), at, copy.end());
        return KeyOf<T>::key(*at);
    });
}

const char* scan_instructions() {
#ifdef QUADMILL_CLONES
    if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4 (AVX-512)";
    if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3 (AVX2)";
#endif
    return "the compiler's default";
}

}  // namespace quadmill::detail::bench
