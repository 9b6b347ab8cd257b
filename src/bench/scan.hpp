// The obvious rival: loops over the columns, vectorized by the compiler.
#pragma once

#include <cstdint>

#include "bench/query_cases.hpp"
#include "cpu/workers.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::bench {

class Scan {
  public:
    // 0: as many threads as the machine has.
    explicit Scan(unsigned threads) : workers_(threads) {}

    // Ranks are found by counting digits of keys from the highest one, with one pass per digit. Groups use hash tables,
    // where each thread has a part of the keys.
    [[nodiscard]] std::uint64_t answer(const query::TableData& table, const QueryCase& which);

  private:
    cpu::Workers workers_;
};

// The key of rank k, found by std::nth_element in a copy of the column.
[[nodiscard]] std::uint64_t nth_element(const query::TableData& table, const QueryCase& which);

// The instruction set of the loops, chosen when the program starts.
[[nodiscard]] const char* scan_instructions();

}  // namespace quadmill::detail::bench
