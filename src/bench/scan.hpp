// The obvious rival: loops over the columns that the compiler vectorizes.
#pragma once

#include <cstdint>

#include "bench/query_cases.hpp"
#include "cpu/workers.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::bench {

class Scan {
  public:
    // 0: as many as the machine has.
    explicit Scan(unsigned threads) : workers_(threads) {}

    // Ranks are found by counting digits of keys from the top, one pass a digit; groups with hash tables, each thread
    // with its part of the keys.
    [[nodiscard]] std::uint64_t answer(const query::TableData& table, const QueryCase& which);

  private:
    cpu::Workers workers_;
};

// The key of rank k, as std::nth_element finds it in a copy of the column.
[[nodiscard]] std::uint64_t nth_element(const query::TableData& table, const QueryCase& which);

// The instruction sets of the loops; one is chosen when the program starts.
[[nodiscard]] const char* scan_instructions();

}  // namespace quadmill::detail::bench
