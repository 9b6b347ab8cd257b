// Columns that are computed from other columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "query/table/table.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::sql {

// Rows of a table, in any order.
class RowList {
  public:
    // The first `n` rows.
    explicit RowList(std::size_t n) : size_(n) {}
    explicit RowList(std::vector<std::uint64_t> rows) : rows_(std::move(rows)), size_(rows_->size()) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint64_t operator[](std::size_t i) const { return rows_ ? (*rows_)[i] : i; }
    [[nodiscard]] bool has_all(std::size_t n) const { return !rows_ && size_ == n; }
    // `count` of them from index `begin` on.
    [[nodiscard]] RowList part(std::size_t begin, std::size_t count) const;

  private:
    std::optional<std::vector<std::uint64_t>> rows_{};
    std::size_t size_;
};

// Integers are 64 bits wide, everything else is a double.
struct Numbers {
    bool are_integers = true;
    std::vector<std::int64_t> integers{};
    std::vector<double> doubles{};
    std::vector<bool> valid{};

    [[nodiscard]] std::size_t size() const { return valid.size(); }
    // Calls `work` with the values.
    template <class Work>
    decltype(auto) visit(const Work& work) {
        return are_integers ? work(integers) : work(doubles);
    }
};

// The values of an expression, one per row. A quotient is a double. Dividing by zero gives NULL, and so does any NULL.
// Throws InvalidArgument for an integer beyond 64 bits, and for one that a double would round where it meets a
// fraction.
[[nodiscard]] Numbers computed(const SqlSteps& steps, const query::TableData& table, const RowList& rows);

// 1 for each row whose text has the pattern of LIKE, 0 for others, NULL for NULL.
[[nodiscard]] Numbers matches(const SqlComputed& like, const query::TableData& table, const RowList& rows);
[[nodiscard]] bool has_pattern(std::string_view text, std::string_view pattern, bool ignore_case);

}  // namespace quadmill::detail::sql
