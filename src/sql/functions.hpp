// The aggregates by name.
#pragma once

#include <array>
#include <string_view>

#include "sql/statement.hpp"

namespace quadmill::detail::sql {

struct Function {
    std::string_view name;
    QueryAggregate::Kind kind;
    SqlAggregate::Form form = SqlAggregate::Form::Plain;
    bool population = false, root = false;
};
inline constexpr auto variance = SqlAggregate::Form::Variance;
inline constexpr std::array<Function, 18> functions{
    {{"COUNT", QueryAggregate::Kind::Count},
     {"SUM", QueryAggregate::Kind::Sum},
     {"AVG", QueryAggregate::Kind::Average},
     {"MIN", QueryAggregate::Kind::Min},
     {"MAX", QueryAggregate::Kind::Max},
     {"MEDIAN", QueryAggregate::Kind::Quantile},
     {"QUANTILE", QueryAggregate::Kind::Quantile},
     {"VARIANCE", QueryAggregate::Kind::Average, variance},
     {"STDDEV", QueryAggregate::Kind::Average, variance, false, true},
     {"KTH_LARGEST", QueryAggregate::Kind::KthLargest},
     {"KTH_SMALLEST", QueryAggregate::Kind::KthSmallest},
     {"VAR_SAMP", QueryAggregate::Kind::Average, variance},
     {"VAR_POP", QueryAggregate::Kind::Average, variance, true},
     {"STDDEV_SAMP", QueryAggregate::Kind::Average, variance, false, true},
     {"STDDEV_POP", QueryAggregate::Kind::Average, variance, true, true},
     {"QUANTILE_DISC", QueryAggregate::Kind::Quantile},
     {"VAR", QueryAggregate::Kind::Average, variance},
     {"MEAN", QueryAggregate::Kind::Average}}};

}  // namespace quadmill::detail::sql
