#include "query/run/work.hpp"

#include <algorithm>
#include <bit>

#include "query/gpu/depth_codes.hpp"

namespace quadmill::detail::query {

namespace {

// Does not look for runs: that would read all values.
DepthPlanes planes_of(const TableData& table, std::size_t column) {
    return DepthPlanes::of(table.columns[column]->min, table.columns[column]->max);
}

}  // namespace

void QueryWork::add_test(const TableData& table, std::size_t column) {
    const auto planes = static_cast<std::size_t>(planes_of(table, column).planes);
    tests += planes == 1 ? 1 : 2 * planes + 3;
    if (planes > 1 || tested != column) copies += planes;
    tested = planes > 1 ? ~std::size_t{0} : column;
}

void QueryWork::add(const Expression& condition, const TableData& table) {
    using Kind = Expression::Kind;
    linear_columns = std::max(linear_columns, max_linear_columns(condition));
    switch (condition.kind) {
        case Kind::And:
        case Kind::Or:
        case Kind::Not:
            for (const auto& operand : condition.operands) add(*operand, table);
            break;
        case Kind::Compare:
        case Kind::Between:
            add_test(table, table.places.at(condition.column));
            break;
        case Kind::CompareColumns:
            ++tests;
            ++copies;
            tested = ~std::size_t{0};
            break;
        case Kind::Always:
            break;
        default:
            ++leaves;
    }
}

void QueryWork::add(QueryAggregate::Kind aggregate, const TableData& table, std::size_t column) {
    using Kind = QueryAggregate::Kind;
    const auto planes = planes_of(table, column);
    const auto bits = static_cast<std::size_t>(planes.width);
    switch (aggregate) {
        case Kind::CountRows:
        case Kind::Count:
            ++counts;
            break;
        case Kind::Sum:
        case Kind::Average:
            ++sums;
            sum_bits += bits;
            break;
        case Kind::Min:
        case Kind::Max:
            ++extremes;
            extreme_bits += 2 * bits;
            copies += static_cast<std::size_t>(planes.planes);
            break;
        default:
            ++ranks;
            rank_bits += bits;
            rank_words += (bits + 31) / 32;
            copies += static_cast<std::size_t>(planes.planes);
    }
}

namespace {

double ms(double ns_a_row, double us, std::size_t rows) {
    return ns_a_row * static_cast<double>(rows) * 1e-6 + us * 1e-3;
}

}  // namespace

QueryWork two_tests() {
    QueryWork work;
    work.counts = work.copies = 1;
    work.tests = 2;
    return work;
}

Tuning scaled(const Tuning& tuning, double depth_over_bitmap) {
    constexpr std::size_t many = std::size_t{1} << 40U;
    const auto by = depth_over_bitmap * bitmap_ms(two_tests(), many, tuning) / depth_ms(two_tests(), many, tuning);
    auto made = tuning;
    for (auto* cost : {&made.depth.test_ns, &made.depth.copy_ns, &made.depth.leaf_ns, &made.depth.rank_ns,
                       &made.depth.rank_us, &made.depth.fold_ns})
        *cost *= by;
    return made;
}

double depth_ms(const QueryWork& work, std::size_t rows, const Tuning& tuning) {
    const auto& cost = tuning.depth;
    const auto n = [](std::size_t count) { return static_cast<double>(count); };
    const double bits = n(work.rank_bits + work.extreme_bits);
    return ms(n(work.tests) * cost.test_ns + n(work.copies) * cost.copy_ns + n(work.leaves) * cost.leaf_ns +
                  bits * cost.rank_ns + n(work.sum_bits) * cost.fold_ns,
              cost.question_us + bits * cost.rank_us, rows);
}

double bitmap_ms(const QueryWork& work, std::size_t rows, const Tuning& tuning) {
    const auto& cost = tuning.bitmap;
    const auto n = [](std::size_t count) { return static_cast<double>(count); };
    return ms(n(work.tests) * cost.test_ns + n(work.leaves) * cost.leaf_ns + n(work.counts) * cost.count_ns +
                  n(work.rank_words) * cost.rank_ns + n(work.sums + work.extremes) * cost.fold_ns,
              cost.question_us + n(work.ranks) * cost.rank_us, rows);
}

}  // namespace quadmill::detail::query
