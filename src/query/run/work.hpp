// What a query asks of a table, as far as the choice of its engine depends on it.
#pragma once

#include <cstddef>

namespace quadmill::detail::query {

struct QueryWork {
    std::size_t linear_columns = 0;  // max_linear_columns() of its conditions
    bool ranks = false;              // quantiles or k-th values
};

}  // namespace quadmill::detail::query
