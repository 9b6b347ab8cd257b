#include "query/sql.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "query/sql_condition.hpp"
#include "query/sql_cursor.hpp"

namespace quadmill::detail::query {

namespace {

constexpr std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// The line of the text that the offset is on, and a caret below. A long line is cut around the character.
std::string pointed_at(std::string_view text, std::size_t offset) {
    constexpr std::size_t most = 60;
    offset = std::min(offset, text.size());
    auto begin = offset > 0 ? text.rfind('\n', offset - 1) + 1 : 0;  // 0 also when there is none
    auto end = std::min(text.find('\n', offset), text.size());
    const bool cut_left = offset - begin > most, cut_right = end - offset > most;
    const auto inside = [&](std::size_t i) { return i < end && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80; };
    if (cut_left) begin = offset - most;
    if (cut_right) end = offset + most;
    while (inside(begin)) ++begin;  // not within a character
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) ++end;
    std::string line(text.substr(begin, end - begin));
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
    const std::string left = cut_left ? "  ..." : "  ";
    const auto width = left.size() + characters(text.substr(begin, offset - begin));
    return left + line + (cut_right ? "..." : "") + "\n" + std::string(width, ' ') + "^";
}

// a column, or an aggregate of one, before it is known which tables there are.
struct Item {
    std::optional<SqlReference> column{};
    std::optional<QueryAggregate> aggregate{};
    std::string name{};
};

struct Function {
    std::string_view name;
    QueryAggregate::Kind kind;
};
constexpr std::array<Function, 9> functions{{{"COUNT", QueryAggregate::Kind::Count},
                                             {"SUM", QueryAggregate::Kind::Sum},
                                             {"AVG", QueryAggregate::Kind::Average},
                                             {"MIN", QueryAggregate::Kind::Min},
                                             {"MAX", QueryAggregate::Kind::Max},
                                             {"MEDIAN", QueryAggregate::Kind::Quantile},
                                             {"QUANTILE", QueryAggregate::Kind::Quantile},
                                             {"KTH_LARGEST", QueryAggregate::Kind::KthLargest},
                                             {"KTH_SMALLEST", QueryAggregate::Kind::KthSmallest}}};

class SqlParser {
  public:
    explicit SqlParser(std::string_view text) : at_(text) {}
    SqlQuery run();

  private:
    void select_list();
    [[nodiscard]] Item item();
    [[nodiscard]] Item call(const SqlToken& function);
    void check_no_expression(const char* words);
    void function_constants(const SqlToken& function, QueryAggregate& aggregate);
    [[nodiscard]] std::uint64_t whole_number(std::uint64_t least, const char* what);
    void source();
    void join();
    void join_condition();
    void band(const SqlReference& left);
    void on_columns(SqlReference left, SqlReference right);
    void outputs();
    void group_by();
    [[nodiscard]] std::string resolve(const SqlReference& column);
    [[nodiscard]] std::size_t source_of(const SqlReference& column);

    SqlCursor at_;
    std::vector<Item> items_;
    SqlQuery out_;
};

SqlQuery SqlParser::run() {
    if (!at_.token().is_word("SELECT")) at_.fail("a query begins with SELECT", at_.token().begin);
    at_.take();
    select_list();
    at_.expect_word("FROM");
    source();
    if (at_.token().is_word("JOIN") || at_.token().is_word("INNER")) join();
    outputs();
    auto& query = out_.query;
    if (at_.accept_word("WHERE"))
        query.where = parse_condition(at_, [this](const SqlReference& column) { return resolve(column); });
    group_by();
    if (at_.accept_word("LIMIT")) query.limit = whole_number(0, "LIMIT takes a whole number from 0");
    at_.accept_symbol(";");
    if (at_.token().kind == SqlToken::Kind::End) return std::move(out_);
    if (at_.token().is_word("JOIN")) at_.fail("only one JOIN is offered, before WHERE", at_.token().begin);
    if (at_.token().is_symbol(",") && out_.sources.size() == 1)
        at_.fail("two tables are FROM x.csv JOIN y.csv ON x.k = y.k", at_.token().begin);
    at_.refuse("an operator or the end of the query");
}

void SqlParser::select_list() {
    do {
        if (at_.accept_symbol("*")) {
            out_.stars.push_back(items_.size());
        } else {
            items_.push_back(item());
        }
    } while (at_.accept_symbol(","));
}

Item SqlParser::item() {
    if (!at_.at_name()) at_.refuse("a column or an aggregate");
    const auto first = at_.take();
    const bool calls = first.kind == SqlToken::Kind::Word && at_.token().is_symbol("(");
    auto found = calls ? call(first) : Item{at_.reference_from(first), {}, {}};
    check_no_expression("expressions are for WHERE; here go columns and aggregates of one column");
    const auto written = at_.text().substr(first.begin, at_.taken() - first.begin);
    found.name = found.aggregate                   ? written
                 : found.column->qualifier.empty() ? found.column->name
                                                   : found.column->qualifier + "." + found.column->name;
    if (at_.accept_word("AS") || at_.at_name()) found.name = at_.name("a name");
    return found;
}

Item SqlParser::call(const SqlToken& function) {
    const auto* known = std::ranges::find_if(functions, [&](const Function& f) { return function.is_word(f.name); });
    if (known == functions.end()) {
        std::string all;
        for (const auto& [name, kind] : functions) all += (all.empty() ? "" : ", ") + std::string(name);
        at_.fail("there is no " + function.text + "(); there are " + all, function.begin);
    }
    at_.expect_symbol("(");
    Item found{{}, QueryAggregate{.kind = known->kind}, {}};
    if (known->kind == QueryAggregate::Kind::Count && at_.accept_symbol("*")) {
        found.aggregate->kind = QueryAggregate::Kind::CountRows;
    } else {
        found.column = at_.reference();
        function_constants(function, *found.aggregate);
    }
    check_no_expression("an aggregate is of one column as it is, not of an expression");
    at_.expect_symbol(")");
    return found;
}

void SqlParser::check_no_expression(const char* words) {
    for (const char* sign : {"+", "-", "*"}) {
        if (at_.token().is_symbol(sign)) at_.fail(words, at_.token().begin);
    }
}

void SqlParser::function_constants(const SqlToken& function, QueryAggregate& aggregate) {
    using Kind = QueryAggregate::Kind;
    if (aggregate.kind == Kind::KthLargest || aggregate.kind == Kind::KthSmallest) {
        at_.expect_symbol(",");
        aggregate.k = whole_number(1, "k is a whole number from 1");
    } else if (function.is_word("QUANTILE")) {
        at_.expect_symbol(",");
        const auto begin = at_.token().begin;
        const auto value = at_.number();
        const auto* phi = std::get_if<double>(&value);
        aggregate.phi = phi ? *phi : static_cast<double>(std::get<std::int64_t>(value));
        if (!(aggregate.phi <= 1)) at_.fail("a quantile is from 0, the least value, to 1, the greatest", begin);
    }
}

std::uint64_t SqlParser::whole_number(std::uint64_t least, const char* what) {
    const auto begin = at_.token().begin;
    if (at_.token().kind != SqlToken::Kind::Number) at_.fail(what, begin);
    const auto value = at_.number();
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (!integer || static_cast<std::uint64_t>(*integer) < least) at_.fail(what, begin);
    return static_cast<std::uint64_t>(*integer);
}

void SqlParser::source() {
    const auto [kind, begin, end, path] = at_.path();
    auto name = path.substr(path.rfind('/') + 1);
    if (const auto dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
    if (path == "-") name = "stdin";
    auto offset = begin;
    const bool as = at_.accept_word("AS");
    if (as || at_.at_name()) {
        offset = at_.token().begin;
        name = at_.name("a name");
        // A misspelt keyword looks like a name.
        const auto& next = at_.token();
        if (!as && (at_.at_name() || next.kind == SqlToken::Kind::Number || next.is_symbol("(")))
            at_.fail("JOIN, WHERE, GROUP BY, LIMIT or AS is expected here, not " + name, offset);
    }
    for (const auto& other : out_.sources) {
        if (other.name == name) at_.fail("two tables are called " + name + "; give one another name by AS", offset);
        if (other.path == "-" && path == "-") at_.fail("standard input can be read only once", begin);
    }
    out_.sources.push_back({path, std::move(name)});
}

void SqlParser::join() {
    at_.accept_word("INNER");
    at_.expect_word("JOIN");
    source();
    at_.expect_word("ON");
    join_condition();
    if (at_.token().is_word("JOIN") || at_.token().is_word("INNER"))
        at_.fail("only one JOIN is offered; pipe the answer of the first into a second query: FROM -",
                 at_.token().begin);
    if (at_.token().is_word("AND") || at_.token().is_word("OR"))
        at_.fail("ON takes one comparison; further conditions go after WHERE", at_.token().begin);
}

void SqlParser::join_condition() {
    const auto first = at_.token();
    if (!at_.at_name()) at_.refuse("x.k = y.k, or ABS(x.k - y.k) <= d");
    at_.take();
    if (first.is_word("ABS") && at_.accept_symbol("(")) return band(at_.reference());
    auto left = at_.reference_from(first);
    if (!at_.accept_symbol("=") && !at_.accept_symbol("==")) at_.refuse("=");
    on_columns(std::move(left), at_.reference());
}

// ABS(x.k - y.k) <= d, from the minus on.
void SqlParser::band(const SqlReference& left) {
    at_.expect_symbol("-");
    auto right = at_.reference();
    at_.expect_symbol(")");
    at_.expect_symbol("<=");
    const auto value = at_.number();
    on_columns(left, std::move(right));
    const auto* d = std::get_if<double>(&value);
    out_.query.join->band = d ? *d : static_cast<double>(std::get<std::int64_t>(value));
}

void SqlParser::on_columns(SqlReference left, SqlReference right) {
    for (const auto* side : {&left, &right}) {
        if (side->qualifier.empty())
            at_.fail("say of which table it is: " + out_.sources[0].name + "." + side->name + " or " +
                         out_.sources[1].name + "." + side->name,
                     side->offset);
        static_cast<void>(resolve(*side));
    }
    if (source_of(left) == source_of(right)) at_.fail("a join compares columns of two tables", right.offset);
    if (source_of(left) == 1) std::swap(left, right);
    out_.query.join = Join{
        .left = left.name, .right = right.name, .left_name = out_.sources[0].name, .right_name = out_.sources[1].name};
}

void SqlParser::outputs() {
    for (auto& [column, aggregate, name] : items_) {
        if (!aggregate) {
            out_.query.outputs.push_back({resolve(*column), std::move(name)});
            continue;
        }
        if (column) aggregate->column = resolve(*column);
        out_.query.outputs.push_back({std::move(*aggregate), std::move(name)});
    }
}

void SqlParser::group_by() {
    if (!at_.accept_word("GROUP")) return;
    at_.expect_word("BY");
    do {
        out_.query.group_by.push_back(resolve(at_.reference()));
    } while (at_.accept_symbol(","));
}

std::size_t SqlParser::source_of(const SqlReference& column) {
    const auto found = std::ranges::find(out_.sources, column.qualifier, &SqlSource::name);
    if (found != out_.sources.end()) return static_cast<std::size_t>(found - out_.sources.begin());
    std::string all = out_.sources[0].name;
    if (out_.sources.size() > 1) all += " and " + out_.sources[1].name;
    at_.fail("there is no table " + column.qualifier + " in this query, only " + all, column.offset);
}

std::string SqlParser::resolve(const SqlReference& column) {
    SqlColumn named{column.name, {}, column.offset};
    if (!column.qualifier.empty()) named.source = source_of(column);
    out_.columns.push_back(std::move(named));
    const bool whole = !column.qualifier.empty() && out_.sources.size() > 1;
    return whole ? column.qualifier + "." + column.name : column.name;
}

}  // namespace

SqlError::SqlError(const std::string& what, std::string_view text, std::size_t offset)
    : InvalidArgument(what + "\n" + pointed_at(text, offset)), offset_(offset) {}
SqlError::~SqlError() = default;

SqlQuery parse_sql(std::string_view text) {
    return SqlParser(text).run();
}

}  // namespace quadmill::detail::query
