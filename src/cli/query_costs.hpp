// What statements cost on the CPU and on the GPU, estimated from the numbers of rows.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/tune.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::cli {

// Numbers of rows that statements work on.
class StatementWork {
  public:
    // The rows of each table in memory, by its path. Others count as empty.
    std::map<std::string, double> tables{};

    void add(const sql::SqlQuery& query);
    [[nodiscard]] double rows() const;
    // Whether all that it needs was measured.
    [[nodiscard]] bool is_known(const bench::StatementCosts& costs) const;
    [[nodiscard]] double ms_on_cpu(const bench::StatementCosts& costs) const;
    // With the start of the GPU.
    [[nodiscard]] double ms_on_gpu(const bench::StatementCosts& costs) const;

  private:
    [[nodiscard]] const std::string& table_of(const sql::SqlQuery& query, const sql::SqlColumn& column) const;
    [[nodiscard]] double size(const std::string& path) const {
        const auto found = tables.find(path);
        return found == tables.end() ? 0 : found->second;
    }

    double predicates_ = 0, ranks_ = 0, groups_ = 0, loads_ = 0;
    std::vector<std::pair<double, double>> joins_;          // rows of both tables
    std::set<std::pair<std::string, std::string>> loaded_;  // tables and columns, each of which is loaded once
};

}  // namespace quadmill::detail::cli
