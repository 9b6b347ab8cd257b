// A SELECT statement as plain data. Everything else of SQL is refused with an error that points at the character.
//
// SELECT [DISTINCT] (* | t.* | expression) [AS name], ... FROM path [AS alias]
// [[LEFT] JOIN path [AS alias] (ON x.k = y.k | ON ABS(x.k - y.k) <= d | USING (k))] [WHERE condition]
// [GROUP BY expression, name or position, ...] [HAVING condition]
// [ORDER BY expression, name or position [ASC | DESC] [NULLS FIRST | LAST], ...] [LIMIT n [OFFSET n]] [;]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/plan.hpp"
#include "query/plan/formula.hpp"

namespace quadmill::detail::sql {

// An error in a text, with the index of its byte. The message shows the line with a caret under the character.
class SqlError : public InvalidArgument {
  public:
    SqlError(const std::string& what, std::string_view text, std::size_t offset);
    ~SqlError() override;
    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

  private:
    std::size_t offset_;
};

struct SqlSource {
    std::string path;  // "-" is standard input
    std::string name;  // the alias, else the file's name without folder, .gz or .zst, and extension; "stdin" for "-"
};

// A column as written: name or qualifier.name.
struct SqlReference {
    std::string qualifier{}, name{};
    std::size_t offset = 0;
    bool in_double_quotes = false;  // then it is not a text
};

// How a column is used, which determines the type that it must have, or may be read as.
enum class SqlUse { Any, WithText, WithNumber, Sum, Pattern };

// One mention of a column; for a *, each of its columns.
struct SqlColumn {
    SqlReference written{};
    std::string leaf{};                   // its name in conditions and steps
    std::string name{};                   // in its table, once bound
    std::optional<std::size_t> source{};  // index of its table in `sources`, if that is known
    SqlUse use = SqlUse::Any;
    std::optional<std::size_t> beside{};  // index in `columns` of a column that it is compared with
    std::vector<std::string> texts{};     // texts that it is compared with
    enum class Alias { No, Second, First };
    Alias alias = Alias::No;  // whether it may be the name of an output, and what goes first
    bool printed = false;     // whether it is an I64 column of query::PrintedTexts
    bool wide = false;        // whether it is a Text column of query::ordered_text()
};

// A step of an expression in postfix order. Leaf: a column, an aggregate, or a computed column.
using SqlStep = query::NamedStep;
using SqlSteps = std::vector<SqlStep>;
// The constant of a quotient that is a mean: as in AVG, its integers may be rounded.
inline const query::Numeral rounding_mean = query::Integer{1};

// The name of a leaf until it is bound: c for columns, a for aggregates, x for computed columns.
[[nodiscard]] inline std::string leaf_name(char kind, std::size_t number) {
    std::string name(1, kind);
    return name += std::to_string(number);
}

[[nodiscard]] inline bool is_leaf(const SqlSteps& steps) {
    return steps.size() == 1 && steps[0].op == query::Arithmetic::Leaf;
}

struct SqlAggregate {
    enum class Form { Plain, Distinct, Variance };  // COUNT(DISTINCT c); VARIANCE and STDDEV
    QueryAggregate what{};                          // its column is set when it runs
    Form form = Form::Plain;
    bool population = false, root = false;  // of a variance
    SqlSteps argument{};                    // none for COUNT(*)
    std::string leaf{};
};

// A column that conditions need: an expression, or whether a text has a pattern.
struct SqlComputed {
    SqlSteps steps{};
    std::optional<std::string> pattern{};         // of LIKE; '\0' stands for %, '\1' for _
    bool ignore_case = false, of_groups = false;  // of_groups: in HAVING
    std::string leaf{};
};

struct SqlOutput {
    SqlSteps steps{};  // none: a star, until it is bound
    std::string name{}, qualifier{};
    std::size_t offset = 0, end = 0;
    bool is_key = false;  // for an order: wide integers stay as they are in memory
};

struct SqlOrder {
    SqlSteps steps{};
    bool descending = false, nulls_first = true;
    std::size_t offset = 0;
};

struct SqlJoin {
    std::size_t left = 0, right = 0;  // indices in `columns`
    double band = 0;
    bool outer = false;                 // LEFT JOIN
    std::optional<std::string> used{};  // USING: the column's name
};

struct SqlQuery {
    std::string text{};
    std::vector<SqlSource> sources{};  // one source, or the two of a join
    std::vector<SqlColumn> columns{};  // the only ones that need to be read
    std::vector<SqlAggregate> aggregates{};
    std::vector<SqlComputed> computed{};
    std::vector<SqlOutput> outputs{};
    bool distinct = false;
    std::optional<SqlJoin> join{};
    std::optional<Predicate> where{}, having{};
    std::vector<SqlOrder> group_by{}, order_by{};
    std::optional<std::uint64_t> limit{};
    std::uint64_t offset = 0;

    // Whether a column or aggregate with that leaf has wide integers.
    [[nodiscard]] bool is_wide(const std::string& leaf) const;
    // Whether each row of the answer is a group of rows.
    [[nodiscard]] bool groups() const { return !aggregates.empty() || !group_by.empty() || having.has_value(); }
};

}  // namespace quadmill::detail::sql
