// SQL text to statements: each construct, each error with its position, and mutated texts.
#include <doctest/doctest.h>

#include <random>
#include <sstream>

#include "query/plan/describe.hpp"
#include "query/plan/expression.hpp"
#include "sql/binder.hpp"
#include "sql/parser.hpp"

using namespace quadmill;
using detail::query::Expression;
using detail::sql::SqlError;
using detail::sql::SqlQuery;
using detail::sql::text_of;

namespace {

SqlQuery parse_sql(const std::string& text) {
    return detail::sql::bind(detail::sql::parse_sql(text));
}

std::string text_of(const Value& value) {
    std::ostringstream out;
    out.precision(17);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) out << *integer;
    if (const auto* number = std::get_if<double>(&value)) out << "double " << *number;
    if (const auto* text = std::get_if<std::string>(&value)) out << "'" << *text << "'";
    return out.str();
}

const char* text_of(Comparison op) {
    switch (op) {
        case Comparison::Less:
            return "<";
        case Comparison::LessOrEqual:
            return "<=";
        case Comparison::Equal:
            return "=";
        case Comparison::NotEqual:
            return "!=";
        case Comparison::GreaterOrEqual:
            return ">=";
        case Comparison::Greater:
            return ">";
    }
    return "?";
}

std::string text_of(const Expression& e) {
    std::ostringstream out;
    out.precision(17);
    const auto list = [&](const char* between) {
        for (std::size_t i = 0; i < e.operands.size(); ++i) out << (i > 0 ? between : "") << text_of(*e.operands[i]);
    };
    switch (e.kind) {
        case Expression::Kind::Always:
            out << (e.always ? "TRUE" : "FALSE");
            break;
        case Expression::Kind::Compare:
            out << e.column << text_of(e.op) << text_of(e.values[0]);
            break;
        case Expression::Kind::CompareColumns:
            out << e.column << text_of(e.op) << e.other;
            break;
        case Expression::Kind::Between:
            out << e.column << " in " << text_of(e.values[0]) << ".." << text_of(e.values[1]);
            break;
        case Expression::Kind::In:
            out << e.column << " in {";
            for (std::size_t i = 0; i < e.values.size(); ++i) out << (i > 0 ? "," : "") << text_of(e.values[i]);
            out << "}";
            break;
        case Expression::Kind::IsNull:
            out << e.column << " null";
            break;
        case Expression::Kind::Linear:
            for (const auto& term : e.terms) out << (term.factor < 0 ? "" : "+") << term.factor << "*" << term.column;
            out << text_of(e.op) << e.constant;
            break;
        case Expression::Kind::Formula:
            out << "[" << detail::query::describe(e) << "]";
            break;
        case Expression::Kind::And:
            out << "(";
            list(" & ");
            out << ")";
            break;
        case Expression::Kind::Or:
            out << "(";
            list(" | ");
            out << ")";
            break;
        case Expression::Kind::Not:
            out << "!";
            list("");
            break;
    }
    return out.str();
}

std::string where(const std::string& condition) {
    const auto parsed = parse_sql("SELECT * FROM t.csv WHERE " + condition);
    REQUIRE(parsed.where.has_value());
    return text_of(detail::Access::of(*parsed.where));
}

const detail::sql::SqlAggregate& aggregate(const SqlQuery& parsed, std::size_t i) {
    return *std::ranges::find(parsed.aggregates, parsed.outputs.at(i).steps.at(0).leaf,
                              &detail::sql::SqlAggregate::leaf);
}

// The expected offset is that of the '@' in the text, which is removed. The message begins with `words` and ends with a
// caret below the character.
void fails(std::string text, const std::string& words) {
    const auto offset = text.find('@');
    REQUIRE(offset != std::string::npos);
    text.erase(offset, 1);
    CAPTURE(text);
    try {
        static_cast<void>(parse_sql(text));
        FAIL("nothing thrown");
    } catch (const SqlError& error) {
        const std::string message = error.what();
        CAPTURE(message);
        CHECK(error.offset() == offset);
        CHECK(message.substr(0, words.size()) == words);
        if (text.size() <= 60 && text.find('\n') == std::string::npos)
            CHECK(message.substr(message.find('\n')) == "\n  " + text + "\n" + std::string(offset + 2, ' ') + "^");
    }
}

}  // namespace

TEST_CASE("the select list") {
    const auto parsed = parse_sql(
        "select COUNT(*), count( * ) n, COUNT(a), SUM(a) AS \"the sum\", AVG(b), min(b), MAX(\"a b\"), "
        "QUANTILE(c, 0.99), QUANTILE(c, 1), KTH_LARGEST(c, 3), KTH_SMALLEST(c,9), a, data.b, \"a b\" as x, "
        "MEDIAN(c), 2 * SUM(a) / COUNT(*) from data.csv;");
    const auto& out = parsed.outputs;
    using Kind = QueryAggregate::Kind;
    const std::vector<Kind> kinds{Kind::CountRows, Kind::CountRows,  Kind::Count,      Kind::Sum,
                                  Kind::Average,   Kind::Min,        Kind::Max,        Kind::Quantile,
                                  Kind::Quantile,  Kind::KthLargest, Kind::KthSmallest};
    const std::vector<std::string> columns{"*", "*", "a", "a", "b", "b", "a b", "c", "c", "c", "c"};
    const std::vector<std::string> names{"COUNT(*)",
                                         "n",
                                         "COUNT(a)",
                                         "the sum",
                                         "AVG(b)",
                                         "min(b)",
                                         "MAX(\"a b\")",
                                         "QUANTILE(c, 0.99)",
                                         "QUANTILE(c, 1)",
                                         "KTH_LARGEST(c, 3)",
                                         "KTH_SMALLEST(c,9)",
                                         "a",
                                         "data.b",
                                         "x",
                                         "MEDIAN(c)",
                                         "2 * SUM(a) / COUNT(*)"};
    REQUIRE(out.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) CHECK(out[i].name == names[i]);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        CHECK(aggregate(parsed, i).what.kind == kinds[i]);
        CHECK(text_of(aggregate(parsed, i).argument) == columns[i]);
    }
    CHECK(aggregate(parsed, 7).what.phi == 0.99);
    CHECK(aggregate(parsed, 8).what.phi == 1);
    CHECK(aggregate(parsed, 9).what.k == 3);
    CHECK(aggregate(parsed, 10).what.k == 9);
    CHECK(text_of(out[11].steps) == "a");
    CHECK(text_of(out[12].steps) == "b");
    CHECK(text_of(out[13].steps) == "a b");
    CHECK(out[14].steps.size() == 7);  // the mean of two quantiles
    CHECK(text_of(out[15].steps) == "2 * SUM(a) / COUNT(*)");
    CHECK(parse_sql("SELECT *, t.* FROM t").outputs[1].qualifier == "t");
    CHECK(parse_sql("SELECT count, sum FROM x").outputs[1].name == "sum");  // names, without "("
}

TEST_CASE("groups and order") {
    const auto parsed = parse_sql(
        "SELECT DISTINCT a % 10 AS d, STDDEV(b) s, COUNT(DISTINCT c) FROM t GROUP BY 1 HAVING s > 2 AND COUNT(*) > 1 "
        "ORDER BY d DESC NULLS LAST, 2 NULLS FIRST, MAX(b) - 1 LIMIT 5 OFFSET 7");
    CHECK(parsed.distinct);
    CHECK(text_of(parsed.group_by.at(0).steps) == "a % 10");
    CHECK(text_of(detail::Access::of(*parsed.having)) == "(STDDEV(b)>2 & COUNT(*)>1)");
    REQUIRE(parsed.order_by.size() == 3);
    CHECK(text_of(parsed.order_by[0].steps) == "a % 10");
    CHECK(parsed.order_by[0].descending);
    CHECK(!parsed.order_by[0].nulls_first);
    CHECK(text_of(parsed.order_by[1].steps) == "STDDEV(b)");
    CHECK(parsed.order_by[1].nulls_first);
    CHECK(text_of(parsed.order_by[2].steps) == "MAX(b) - 1");
    CHECK(parsed.limit == 5);
    CHECK(parsed.offset == 7);
    CHECK(detail::sql::parse_statements("SELECT a FROM t;; SELECT b FROM u ;").size() == 2);
}

TEST_CASE("expressions are printed with the brackets that they need") {
    const auto printed = [](const std::string& text) {
        return text_of(parse_sql("SELECT a FROM t ORDER BY " + text).order_by.at(0).steps);
    };
    for (const char* const text : {"-a * 0.5", "b - -a", "-(a + b)", "(a - b) * c", "a - (b - c)", "a / (b * c)"})
        CHECK(printed(text) == text);
}

TEST_CASE("tables") {
    const auto source = [](const std::string& from) {
        const auto parsed = parse_sql("SELECT * FROM " + from);
        REQUIRE(parsed.sources.size() == 1);
        return parsed.sources[0].path + "|" + parsed.sources[0].name;
    };
    CHECK(source("data.csv") == "data.csv|data");
    CHECK(source("./dir.d/data-1.tar.csv WHERE a=1") == "./dir.d/data-1.tar.csv|data-1.tar");
    CHECK(source("~/2024.csv;") == "~/2024.csv|2024");
    CHECK(source("-") == "-|stdin");
    CHECK(source("- AS s") == "-|s");
    CHECK(source("'my ''file''.csv' t") == "my 'file'.csv|t");
    CHECK(source("\"a b.csv\"") == "a b.csv|a b");
    CHECK(source("/tmp/.hidden") == "/tmp/.hidden|.hidden");
    CHECK(source("-- the data\n x.csv -- all of it") == "x.csv|x");

    auto parsed = parse_sql("SELECT x.k, b FROM x.csv JOIN dir/y.csv ON y.k = x.j WHERE x.a > y.a");
    REQUIRE(parsed.join.has_value());
    CHECK(parsed.columns[parsed.join->left].leaf == "x.j");
    CHECK(parsed.columns[parsed.join->right].leaf == "y.k");
    CHECK(parsed.join->band == 0);
    CHECK(parsed.sources[1].path == "dir/y.csv");
    CHECK(parsed.outputs[0].name == "x.k");
    CHECK(text_of(parsed.outputs[0].steps) == "x.k");
    CHECK(text_of(detail::Access::of(*parsed.where)) == "x.a>y.a");

    parsed = parse_sql("SELECT * FROM a.csv p INNER JOIN a.csv AS q ON ABS(p.t - q.t) <= 2.5");
    CHECK(parsed.join->band == 2.5);
    CHECK(parsed.columns[parsed.join->left].name == "t");
    CHECK(parse_sql("SELECT * FROM a JOIN b ON a.abs = b.k").columns[0].name == "abs");
    parsed = parse_sql("SELECT * FROM a LEFT OUTER JOIN b USING (k)");
    CHECK(parsed.join->outer);
    CHECK(parsed.join->used == "k");
}

TEST_CASE("columns named, and where") {
    const auto parsed = parse_sql("SELECT SUM(a), t.b FROM t WHERE c > 1 AND NOT d + e > 2 GROUP BY b, t.f LIMIT 10");
    std::string all;
    for (const auto& column : parsed.columns) all += column.name + (column.source ? "." : "") + " ";
    CHECK(all == "a b. c d e b f. ");
    CHECK(parsed.columns[2].written.offset == 32);
    CHECK(text_of(parsed.group_by.at(0).steps) == "b");
    CHECK(text_of(parsed.group_by.at(1).steps) == "f");
    CHECK(parsed.limit == 10);
    CHECK(parse_sql("SELECT a FROM t LIMIT 0").limit == 0);
    CHECK(!parse_sql("SELECT a FROM t").limit);
}

TEST_CASE("conditions") {
    CHECK(where("(a > 3 OR b <= 2.5) AND c BETWEEN -1 AND 7 AND NOT d IN (1,2,3)") ==
          "((a>3 | b<=double 2.5) & c in -1..7 & !d in {1,2,3})");
    CHECK(where("a=1 OR b==2 AND c<>3 OR d!=4") == "(a=1 | (b=2 & c!=3) | d!=4)");
    CHECK(where("3 < a AND 3 <= a AND 3 = a AND 3 > a AND 3 >= a") == "(a>3 & a>=3 & a=3 & a<3 & a<=3)");
    CHECK(where("a < b") == "a<b");
    CHECK(where("not not a < 1") == "a<1");
    CHECK(where("NOT a = 1 AND b = 2") == "(!a=1 & b=2)");
    CHECK(where("a NOT BETWEEN 1 AND 2 OR a NOT IN ('x', 'it''s') OR a IN (1, -2.5)") ==
          "(!a in 1..2 | !a in {'x','it's'} | a in {1,double -2.5})");
    fails("SELECT a FROM t WHERE a IN (@1, 'x')", "these must be numbers only, or texts only");
    CHECK(where("a IS NULL OR t.b IS NOT NULL") == "(a null | !b null)");
    CHECK(where("TRUE AND false") == "(TRUE & FALSE)");
    CHECK(where("\"a b\" = '' AND 'z' > \"c\"\"d\"") == "(a b='' & c\"d<'z')");
    CHECK(where("1 = 1 AND 1 > 2 AND 'a' < 'b' AND 2 > 1.5") == "(TRUE & FALSE & TRUE & TRUE)");
    CHECK(where("((((a)) > ((3))))") == "a>3");
    CHECK(where("2 BETWEEN a AND b") == "(a<=2 & b>=2)");
    CHECK(where("a BETWEEN b AND 3") == "(a>=b & a<=3)");
}

TEST_CASE("numbers") {
    CHECK(where("a = 9223372036854775807 AND a = -9223372036854775808") ==
          "(a=9223372036854775807 & a=-9223372036854775808)");
    CHECK(where("a = 9223372036854775808") == "a=double 9.2233720368547758e+18");
    CHECK(where("a = 1e3 AND a = .5 AND a = 5. AND a = 1.5E-3 AND a = +7 AND a = - -7") ==
          "(a=double 1000 & a=double 0.5 & a=double 5 & a=double 0.0015 & a=7 & a=7)");
    CHECK(where("a > 2 + 3 * 4 - 1") == "a>13");
    CHECK(where("a = 1e400 AND a > -1e400 AND a = 1e-400") == "(a=double inf & a>double -inf & a=double 0)");
    CHECK(where("a > 9223372036854775807 + 1") == "a>double 9.2233720368547758e+18");
    CHECK(where("a > 9223372036854775807 + 2") == "[a > 9223372036854775809]");
    CHECK(where("a < -170141183460469231731687303715884105728") == "a<double -1.7014118346046923e+38");
    fails("SELECT a FROM t WHERE a > @170141183460469231731687303715884105728", "an integer is from -2^127 to 2^127-1");
    fails("SELECT a FROM t WHERE a > 9223372036854775807 * 9223372036854775807 * @4",
          "the result is an integer beyond 128 bits");
    fails("SELECT a FROM t WHERE a > 0.5 + @9007199254740993",
          "a double, in which this is computed, cannot represent the integer");
    fails("SELECT a FROM x JOIN y ON ABS(x.a - y.a) <= @9007199254740993", "d must be exact as a double");
}

TEST_CASE("sums") {
    CHECK(where("2*a + 3*b - c > 4") == "[2 * a + 3 * b - c > 4]");
    CHECK(where("a + b > c + 1") == "[a + b > c + 1]");
    CHECK(where("-a + b + c <= 3") == "[-a + b + c <= 3]");
    CHECK(where("4 < 2 * (a - b * 0.5) - 1") == "[2 * (a - b * 0.5) - 1 > 4]");
    CHECK(where("(a + b) * 2 BETWEEN 1 AND 2") == "([(a + b) * 2 >= 1] & [(a + b) * 2 <= 2])");
    CHECK(where("a - b < 1") == "[a - b < 1]");
    CHECK(where("9007199254740993 * a > b - 9007199254740993") == "[9007199254740993 * a > b - 9007199254740993]");
    CHECK(where("2 * 3 * a - (b - c) > 1.0 * 2") == "[6 * a - (b - c) > 2.0]");
}

TEST_CASE("comparisons of one column are exact") {
    CHECK(where("a + 0 = 9007199254740992 AND 1 - a <= 3 AND a + 0.5 > 2") ==
          "([a + 0 = 9007199254740992] & [1 - a <= 3] & [a + 0.5 > 2])");
    CHECK(where("-9007199254740992 > -a") == "[-a < -9007199254740992]");
    CHECK(where("-a = -9223372036854775808 AND a - 1 < -9223372036854775807") ==
          "([-a = -9223372036854775808] & [a - 1 < -9223372036854775807])");
    CHECK(where("a - b = 0 AND b - a < 0 AND -a >= -b AND 2*a - a > 0") ==
          "([a - b = 0] & [b - a < 0] & [-a >= -b] & [2 * a - a > 0])");
    CHECK(where("9007199254740993 = 9007199254740992.0 OR 9007199254740993 > 9007199254740992.0 OR 0 != 1e308 * 0") ==
          "(FALSE | TRUE | FALSE)");
}

TEST_CASE("conditions nest up to the limit of the stack, beyond which the error points there") {
    // One OR, one AND and possibly one NOT per level.
    const auto nested = [](int levels, const std::string& before) {
        std::string text = "SELECT a FROM t WHERE ";
        for (int i = 0; i < levels; ++i) text += "a = 1 OR b = 2 AND " + before + "(";
        return text + "a = 3" + std::string(static_cast<std::size_t>(levels), ')');
    };
    CHECK_NOTHROW(static_cast<void>(parse_sql(nested(124, ""))));
    CHECK_NOTHROW(static_cast<void>(parse_sql(nested(83, "NOT "))));
    const std::string why = "this nests deeper than 250 levels of alternating AND and OR or NOT";
    for (const auto& text : {nested(125, ""), nested(150, ""), nested(84, "NOT "), nested(95, "NOT ")})
        CHECK_THROWS_WITH_AS(static_cast<void>(parse_sql(text)), doctest::Contains(why.c_str()), SqlError);
}

TEST_CASE("a table is named after its file, compressed or not") {
    for (const auto* path : {"x", "x.csv", "dir/x.csv", "x.csv.gz", "/a/b.c/x.csv.zst", "x.gz"})
        CHECK(parse_sql("SELECT a FROM '" + std::string(path) + "'").sources[0].name == "x");
    CHECK(parse_sql("SELECT a FROM x.gz.csv").sources[0].name == "x.gz");
    CHECK(parse_sql("SELECT a FROM .gz").sources[0].name == ".gz");
}

TEST_CASE("spellings of other dialects") {
    CHECK(where("/* one\n -- */ `a b` = 1 /**/ AND [c d] > 2 -- so\n;;") == "(a b=1 & c d>2)");
    CHECK(aggregate(parse_sql("SELECT COUNT(1) FROM t"), 0).what.kind == QueryAggregate::Kind::CountRows);
    CHECK(parse_sql("SELECT * FROM x JOIN y ON ((x.k = y.j)) WHERE x.a > 1").columns[1].name == "j");
    CHECK(text_of(parse_sql("SELECT a AS b, COUNT(*) AS n FROM `t` GROUP BY B").group_by.at(0).steps) == "a");
    fails("SELECT COUNT(*) AS n FROM t GROUP BY @n", "COUNT(*) is an aggregate");
    fails("SELECT a FROM t WHERE @/* a > 1", "this comment is not closed");
    fails("SELECT a FROM t WHERE @[a > 1", "this [ is not closed");
    fails("SELECT a FROM t LIMIT 1@, 2", "LIMIT takes one number");
    fails("SELECT a FROM t WHERE @order > 1",
          "a column or a constant is expected here, not order; a column of that name goes in double quotes: \"order\"");
    fails("SELECT @from FROM t", "a column or an aggregate is expected here, not from; a column of that name goes in");
}

TEST_CASE("errors point at the character") {
    fails("@", "there is no statement");
    fails("-- a comment\n;;@", "there is no statement");
    CHECK(parse_sql(";;SELECT a FROM t").outputs.size() == 1);
    fails("@EXPLAIN SELECT a FROM t", "EXPLAIN is not supported, but the option --explain");
    fails("@DELETE FROM t", "a query begins with SELECT");
    fails("SELECT @FROM t", "a column or an aggregate is expected here, not FROM");
    fails("SELECT a,  @FROM t", "a column or an aggregate is expected here, not FROM");
    fails("SELECT a @WHERE b", "FROM is expected here, not WHERE");
    fails("SELECT a FROM t @WHRE a > 1", "JOIN, WHERE, GROUP BY, ORDER BY, LIMIT or AS is expected here, not WHRE");
    fails("SELECT a@", "FROM is expected here, where the query ends");
    fails("SELECT a FROM @", "the path of a file is expected here, where the query ends");
    fails("SELECT a FROM @'' WHERE a > 1", "the path of a file must not be empty");
    fails("SELECT a FROM t WHERE@", "a column or a constant is expected here, where the query ends");
    fails("SELECT a FROM t WHERE a >@", "a column or a constant is expected here, where the query ends");
    fails("SELECT a FROM t WHERE (a > 1@", "')' is expected here, where the query ends");
    fails("SELECT a FROM t WHERE a > 1@)", "an operator or the end of the query is expected here, not )");
    fails("SELECT a FROM t WHERE a = @'x", "this ' is not closed");
    fails("SELECT @\"a FROM t", "this \" is not closed");
    fails("SELECT @\"\" FROM t", "a name is not empty");
    fails("SELECT a FROM t WHERE a = @12ab", "this is not a number");
    fails("SELECT a FROM t WHERE a = @1.2.3", "this is not a number");
    fails("SELECT a FROM t WHERE a = @1e", "this number has no digits in its exponent");
    fails("SELECT a FROM t WHERE a @# 1", "this character has no meaning here");
    fails("SELECT a FROM t WHERE a = @NULL", "NULL satisfies no comparison");
    fails("SELECT a FROM t WHERE @a", "a condition is expected here, such as a > 3, not a value");
    fails("SELECT a FROM t WHERE a > 1 AND @b", "a condition is expected here");
    fails("SELECT a FROM t WHERE NOT @3", "a condition is expected here");
    fails("SELECT a FROM t WHERE a < b @< c", "a comparison takes two values");
    fails("SELECT a FROM t WHERE @(a > 1) > 2", "a value is expected here, not a condition");
    fails("SELECT a FROM t WHERE @1 = 'x'", "a number and a text cannot be compared");
    fails("SELECT a FROM t WHERE @a + 1 = 'x'", "text goes with a column");
    fails("SELECT a FROM t WHERE a + @'x' > 1", "text can only be compared with a column");
    fails("SELECT a FROM t WHERE a NOT @= 1", "BETWEEN, IN or LIKE is expected here, not =");
    fails("SELECT a FROM t WHERE a IS @3", "NULL is expected here, not 3");
    fails("SELECT a FROM t WHERE @3 IS NULL", "IS NULL goes with a column");
    fails("SELECT a FROM t WHERE @3 IN (1)", "IN goes with a column");
    fails("SELECT a FROM t WHERE a LIKE @b", "a pattern such as 'a%' is expected here, not b");
    fails("SELECT a FROM t WHERE @a + 1 LIKE 'x'", "LIKE needs a column of text");
    fails("SELECT a FROM t WHERE a / @0 > 1", "this divides by zero");
    fails("SELECT a FROM t WHERE a IN @3", "'(' is expected here, not 3");
    fails("SELECT a FROM t WHERE a IN (@)", "a column or a constant is expected here, not )");
    fails("SELECT a FROM t WHERE a IN (1, @b)", "IN takes a list of constants");
    fails("SELECT a FROM t WHERE a BETWEEN 1 @OR 2", "AND is expected here, not OR");
    fails("SELECT a FROM t WHERE @SUM(a) > 1", "aggregates go between SELECT and FROM");
    fails("SELECT a FROM t WHERE @u.a > 1", "there is no table u in this query, only t");
    fails("SELECT @u.a FROM t", "there is no table u in this query, only t");
    fails("SELECT a FROM t GROUP @a", "BY is expected here, not a");
    fails("SELECT a FROM t GROUP BY @2", "a number after GROUP BY is the position of an output, from 1 to 1");
    fails("SELECT a FROM t ORDER BY a, @0.5", "a number after ORDER BY is the position of an output, from 1 to 1");
    fails("SELECT a FROM t ORDER BY a NULLS @DESC", "FIRST or LAST is expected here, not DESC");
    fails("SELECT SUM(@MAX(a)) FROM t", "an aggregate inside an aggregate");
    fails("SELECT a FROM t LIMIT @-1", "LIMIT takes a whole number from 0");
    fails("SELECT a FROM t LIMIT @1.5", "LIMIT takes a whole number from 0");
    fails("SELECT a FROM t LIMIT @18446744073709551616", "LIMIT takes a whole number from 0 to 2^63 - 1");
    fails("SELECT a FROM t LIMIT 1 @WHERE a > 1", "an operator or the end of the query is expected here, not WHERE");
    fails("SELECT a FROM t; @SELECT b FROM t", "the end of the query is expected here, not SELECT");
    fails("SELECT @MODE(a) FROM t", "there is no MODE(); there are COUNT, SUM");
    fails("SELECT SUM(@*) FROM t", "a column is expected here, not *");
    fails("SELECT SUM(@) FROM t", "a column or an aggregate is expected here, not )");
    fails("SELECT SUM(@2) FROM t", "an aggregate needs a column");
    fails("SELECT QUANTILE(a@) FROM t", "',' is expected here, not )");
    fails("SELECT QUANTILE(a, @1.01) FROM t", "a quantile must be from 0");
    fails("SELECT KTH_LARGEST(a, @0) FROM t", "k must be a whole number from 1");
    fails("SELECT KTH_LARGEST(a, @x) FROM t", "k must be a whole number from 1");
    fails("SELECT a AS @3 FROM t", "a name is expected here, not 3");
}

TEST_CASE("unsupported SQL is named in the error") {
    const std::string scope =
        " is not supported: quadmill query answers conditions, groups, orders and joins; use a full SQL engine for the "
        "rest";
    fails("@WITH x AS (SELECT a FROM t) SELECT a FROM x", "WITH" + scope);
    fails("SELECT @CASE WHEN a > 1 THEN 2 END FROM t", "CASE" + scope);
    fails("SELECT @CAST(a AS REAL) FROM t", "CAST()" + scope);
    fails("SELECT a@::int FROM t", "a cast" + scope);
    fails("SELECT a FROM t @FETCH FIRST 3 ROWS ONLY", "FETCH is not supported; write LIMIT at the end");
    fails("SELECT a FROM t GROUP BY @ROLLUP (a)", "ROLLUP()" + scope);
    fails("SELECT SUM(a) @OVER (ORDER BY b) FROM t", "OVER" + scope);
    fails("SELECT SUM(a) @FILTER (WHERE b > 1) FROM t", "FILTER" + scope);
    fails("SELECT a FROM t WHERE b > @DATE '2024-01-01'", "DATE '...'" + scope);
    fails("SELECT a FROM t @UNION SELECT b FROM t", "UNION" + scope);
    fails("SELECT a FROM (@SELECT b FROM t)", "a sub-query" + scope);
    fails("SELECT a FROM t WHERE a IN (@SELECT b FROM t)", "a sub-query" + scope);
    fails("SELECT a FROM t WHERE a > (@SELECT b FROM t)", "a sub-query" + scope);
    fails("SELECT a FROM t WHERE a @|| b = 'x'", "||" + scope);
    fails("SELECT @TOP 3 a FROM t", "TOP is not supported; write LIMIT at the end");
    fails("SELECT a FROM t WHERE a @GLOB 'x%'", "GLOB is not supported; use LIKE");
    fails("SELECT a FROM t@, u", "two tables are FROM x.csv JOIN y.csv ON x.k = y.k");
    fails("SELECT u.b FROM t@, u WHERE t.a = u.a", "two tables are FROM x.csv JOIN y.csv ON x.k = y.k");
    // Even if the columns belong to a table that follows.
    fails("SELECT t.a, u.b FROM t @RIGHT JOIN u ON t.a = u.a", "RIGHT is not supported: quadmill query answers");
    fails("SELECT a FROM t @FULL JOIN u ON t.a = u.a", "FULL is not supported: quadmill query answers");
    fails("SELECT @RANDOM() FROM t", "RANDOM() is not supported: quadmill query answers");
    fails("SELECT @GROUP_CONCAT(a) FROM t", "GROUP_CONCAT() is not supported: quadmill query answers");
    fails("SELECT @CURRENT_DATE FROM t", "CURRENT_DATE is not supported: quadmill query answers");
    fails("SELECT a FROM t ORDER BY a @COLLATE nocase", "COLLATE is not supported: quadmill query answers");
    fails("SELECT v.b FROM t JOIN u ON t.a = u.a @CROSS JOIN v", "CROSS is not supported");
    fails("SELECT a FROM t JOIN u ON t.a = u.a @LEFT JOIN v ON v.a = u.a", "only one JOIN is supported");
    fails("SELECT a FROM t JOIN u ON t.a = u.a @AND t.b = u.b", "ON takes one comparison");
    fails("SELECT a FROM t JOIN u USING (a@, b)", "a join compares one column");
    fails("SELECT a FROM t JOIN u ON t.a = @t.b", "a join compares columns of two tables");
    fails("SELECT a FROM t JOIN u ON t.a @< u.a", "= is expected here, not <");
    fails("SELECT a FROM t JOIN u ON ABS(t.a - u.a) <= @-1", "a number is expected here, not -");
    fails("SELECT a FROM t.csv JOIN @t.csv ON t.a = t.a", "two tables are called t");
    fails("SELECT a FROM - JOIN @- AS y ON stdin.a = y.a", "standard input can be read only once");
    fails("SELECT @'x' FROM t", "a text constant is compared with a column");
    fails("SELECT a @> 1 FROM t", "FROM is expected here, not >");
    fails("SELECT a FROM t @OFFSET 2", "OFFSET goes after LIMIT n");
}

TEST_CASE("the caret stands below the character") {
    const auto shown = [](const std::string& text) {
        try {
            static_cast<void>(parse_sql(text));
        } catch (const SqlError& error) {
            const std::string message = error.what();
            return message.substr(message.find('\n') + 1);
        }
        return std::string();
    };
    CHECK(shown("SELECT a\nFROM t\n\tWHERE é = # 1\nLIMIT 3") == "   WHERE é = # 1\n             ^");
    const auto found = shown("SELECT " + std::string(500, 'a') + " FROM t WHERE # AND " + std::string(500, 'b'));
    CHECK(found.substr(0, 8) == "  ...aaa");
    CHECK(found.size() < 260);
    const auto line = found.substr(0, found.find('\n'));
    CHECK(line[found.rfind('^') - line.size() - 1] == '#');
    CHECK(shown("SELECT a FROM t WHERE\n") == "  SELECT a FROM t WHERE\n                       ^");
}

TEST_CASE("nesting has a limit, length has none") {
    const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
        std::string text = "a > 1";
        for (std::size_t i = 0; i < depth; ++i) text = open + text + close;
        return "SELECT a FROM t WHERE " + text;
    };
    CHECK_NOTHROW(static_cast<void>(parse_sql(nested(150, "(", ")"))));
    for (const auto* open : {"(", "NOT ", "NOT ("}) {
        const std::string close = std::string(open).back() == '(' ? ")" : "";
        CHECK_THROWS_WITH_AS(static_cast<void>(parse_sql(nested(20000, open, close))),
                             doctest::Contains("nests deeper"), SqlError);
    }
    std::string many = "a = 0";
    for (int i = 1; i < 20000; ++i) many += " OR a = " + std::to_string(i);
    const auto parsed = parse_sql("SELECT a FROM t WHERE " + many);
    CHECK(detail::Access::of(*parsed.where).operands.size() == 20000);
    CHECK_NOTHROW(static_cast<void>(parse_sql("SELECT a FROM t WHERE a = " + std::string(100000, '+') + "1")));
}

TEST_CASE("mutated texts parse or throw SqlError, with an offset in the text") {
    const std::vector<std::string> seeds{
        "SELECT COUNT(*), SUM(a), AVG(b), MEDIAN(c) FROM data.csv WHERE (a > 3 OR b <= 2.5) AND c BETWEEN -1 AND 7 AND "
        "NOT d IN (1,2,3)",
        "SELECT x.a AS \"q r\", QUANTILE(y.b, 0.5) FROM 'x y.csv' x JOIN y.csv ON ABS(x.k - y.k) <= 2 GROUP BY x.a "
        "LIMIT 5;",
        "select * from - where 2*a + 3*b - c > 4e-3 and t is not null or 'it''s' = n -- so\n",
        "SELECT DISTINCT a % 2 AS d, STDDEV(k) FROM t LEFT JOIN u USING (k) WHERE a LIKE 'x%' GROUP BY 1 HAVING d > 1 "
        "ORDER BY 2 DESC NULLS LAST LIMIT 3 OFFSET 1"};
    const std::vector<std::string> words{
        "SELECT", "FROM",     "WHERE", "AND",  "OR",   "NOT",    "(",     ")",
        "IN",     "BETWEEN",  "NULL",  "IS",   "'",    "\"",     "--",    "\n",
        "*",      "+",        "-",     ".",    ",",    "<",      "<=",    "=",
        "1e9",    "0",        "JOIN",  "ON",   "ABS",  "AS",     "GROUP", "LIMIT",
        "HAVING", "DISTINCT", "USING", "LEFT", "LIKE", "OFFSET", "DESC",  "NULLS",
        "\xff",   "é",        "ORDER", ";",    "/",    "TRUE",   "x",     "99999999999999999999"};
    std::mt19937 chance(20240607);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(chance); };
    std::size_t parsed = 0;
    for (int round = 0; round < 30000; ++round) {
        auto text = seeds[below(seeds.size())];
        for (auto changes = 1 + below(4); changes > 0; --changes) {
            const auto at = below(text.size() + 1);
            switch (below(5)) {
                case 0:
                    text.erase(at, 1 + below(4));
                    break;
                case 1:
                    text.insert(at, words[below(words.size())]);
                    break;
                case 2:
                    text.insert(at, " " + words[below(words.size())] + " ");
                    break;
                case 3:
                    text.insert(at, 1, static_cast<char>(below(256)));
                    break;
                default:
                    text = text.substr(0, at) + text.substr(std::min(text.size(), below(text.size() + 1)));
            }
        }
        try {
            const auto free = detail::sql::parse_sql(text);
            ++parsed;
            const detail::query::ColumnNames names{.written = {"a", "k", "B", "a"}, .unique = {"a", "k", "B", "a 2"}};
            static_cast<void>(detail::sql::bind(free, std::vector(free.sources.size(), names)));
        } catch (const SqlError& error) {
            REQUIRE(error.offset() <= text.size());
        }
    }
    CHECK(parsed > 1000);
}
