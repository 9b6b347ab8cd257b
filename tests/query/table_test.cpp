// Tables: how columns are stored, and what is rejected.
#include <doctest/doctest.h>

#include <array>
#include <span>

#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "reference.hpp"

using namespace reference;  // NOLINT(google-build-using-namespace)

namespace {

const ColumnData& data(const Table& table, const char* name) {
    return *detail::Access::of(table)->columns[index_of(*detail::Access::of(table), name)];
}

std::vector<std::string> texts_of(const Table& table, const char* name) {
    std::vector<std::string> all;
    for (const auto code : std::get<std::vector<std::uint32_t>>(data(table, name).values))
        all.push_back((*detail::Access::of(table)->dictionary)[code]);
    return all;
}

}  // namespace

TEST_CASE("Columns keep their values, NULLs are 0, and the min and max key ignore NULLs") {
    Table table;
    table.add("f", std::vector<float>{3, -1e30F, -0.0F}, {true, false, true});
    table.add("all", std::vector<std::int64_t>{5, -7, 6}, {true, true, true});
    table.add("none", std::vector<std::int32_t>{1, 2, 3}, {false, false, false});
    const auto& f = data(table, "f");
    CHECK(std::get<std::vector<float>>(f.values) == std::vector<float>{3, 0, 0});
    CHECK(f.valid == std::vector<std::uint32_t>{5});
    CHECK(f.min == KeyOf<float>::key(0));
    CHECK(f.max == KeyOf<float>::key(3));
    CHECK(data(table, "all").valid.empty());
    CHECK(data(table, "all").min == KeyOf<std::int64_t>::key(-7));
    CHECK(data(table, "all").max == KeyOf<std::int64_t>::key(6));
    CHECK(data(table, "none").min == KeyOf<std::int32_t>::key(0));
    CHECK(data(table, "none").max == data(table, "none").min);
    CHECK(table.rows() == 3);
    CHECK(table.columns()[2].name == "none");
    CHECK(table.columns()[1].type == ColumnType::I64);
    for (std::size_t row = 0; row < 3; ++row) CHECK(has_value(f, row) == (row != 1));
}

TEST_CASE("Values in the caller's memory are copied") {
    std::vector<float> floats{1, 2, 3};
    std::array<std::int64_t, 3> integers{4, 5, 6};
    Table table;
    table.add("f", std::span<const float>(floats), {true, true, false});
    table.add("i", std::span<const std::int64_t>(integers));
    floats[0] = 9;
    CHECK(std::get<std::vector<float>>(data(table, "f").values) == std::vector<float>{1, 2, 0});
    CHECK(std::get<std::vector<std::int64_t>>(data(table, "i").values) == std::vector<std::int64_t>{4, 5, 6});
}

TEST_CASE("Columns of a result by name, number and type") {
    QueryResult result;
    result.columns = {"i", "mixed", "text", "text"};
    result.rows = {{std::int64_t{1}, std::int64_t{2}, std::string("a"), Value()},
                   {Value(), 2.5, std::string("b"), Value()}};
    const auto integers = result.column<std::int64_t>("i");
    CHECK(integers.values == std::vector<std::int64_t>{1, 0});
    CHECK(integers.valid == std::vector<bool>{true, false});
    CHECK(result.column<double>("mixed").values == std::vector<double>{2, 2.5});
    CHECK(result.column<std::string>(2).values == std::vector<std::string>{"a", "b"});
    CHECK(result.column<double>(3).valid == std::vector<bool>{false, false});
    const auto refused = [&](auto ask, const char* words) { CHECK_THROWS_WITH_AS(ask(), words, InvalidArgument); };
    refused([&] { static_cast<void>(result.column<double>("x")); }, "QueryResult::column: there is no column 'x'");
    refused([&] { static_cast<void>(result.column<std::string>("text")); },
            "QueryResult::column: several columns are called 'text'; ask by number");
    refused([&] { static_cast<void>(result.column<double>(4)); },
            "QueryResult::column: there is no column number 4, but 4 columns, counted from 0");
    refused([&] { static_cast<void>(result.column<std::int64_t>("mixed")); },
            "QueryResult::column: 'mixed' is not of integers (row 1)");
    refused([&] { static_cast<void>(result.column<std::string>("i")); },
            "QueryResult::column: 'i' is not of text (row 0)");
}

TEST_CASE("Rows of NULL beyond a word") {
    Table table;
    std::vector<bool> valid(70);
    for (const std::size_t row : {0U, 31U, 32U, 69U}) valid[row] = true;
    table.add("i", std::vector<std::int32_t>(70, 1), valid);
    CHECK(data(table, "i").valid == std::vector<std::uint32_t>{0x80000001U, 1, 0x20});
}

TEST_CASE("All texts of a table share one dictionary, and copies keep theirs") {
    Table table;
    table.add("a", std::vector<std::string>{"pear", "fig", "pear", "zzz"}, {true, true, true, false});
    CHECK(*detail::Access::of(table)->dictionary == std::vector<std::string>{"fig", "pear"});
    const auto before = table;
    const auto old = detail::Access::of(table);
    table.add("n", std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(detail::Access::of(table)->dictionary == old->dictionary);
    table.add("b", std::vector<std::string>{"apple", "pear", "", "quince"});
    CHECK(*detail::Access::of(table)->dictionary == std::vector<std::string>{"", "apple", "fig", "pear", "quince"});
    CHECK(texts_of(table, "b") == std::vector<std::string>{"apple", "pear", "", "quince"});
    CHECK(std::get<std::vector<std::uint32_t>>(data(table, "a").values) == std::vector<std::uint32_t>{3, 2, 3, 0});
    CHECK(data(table, "a").min == 2);
    CHECK(data(table, "a").max == 3);
    CHECK(data(table, "a").valid == std::vector<std::uint32_t>{7});
    CHECK(texts_of(before, "a") == std::vector<std::string>{"pear", "fig", "pear", "fig"});
    CHECK(before.columns().size() == 1);

    const auto dictionary = detail::Access::of(table)->dictionary;
    table.add("c", std::vector<std::string>{"fig", "fig", "fig", "apple"});
    CHECK(detail::Access::of(table)->dictionary == dictionary);
    CHECK(texts_of(table, "c") == std::vector<std::string>{"fig", "fig", "fig", "apple"});
}

TEST_CASE("Texts that are all NULL, and tables of no rows") {
    Table table;
    table.add("t", std::vector<std::string>{"a", "b"}, {false, false});
    CHECK(detail::Access::of(table)->dictionary->empty());
    CHECK(std::get<std::vector<std::uint32_t>>(data(table, "t").values) == std::vector<std::uint32_t>{0, 0});
    Table empty;
    empty.add("f", std::vector<float>{}).add("t", std::vector<std::string>{});
    CHECK(empty.rows() == 0);
    CHECK(empty.columns().size() == 2);
    CHECK(Table().rows() == 0);
}

TEST_CASE("A key stands for a value") {
    Table table;
    table.add("f", std::vector<float>{0.1F}).add("l", std::vector<std::int64_t>{-3});
    table.add("u", std::vector<std::uint32_t>{~0U}).add("t", std::vector<std::string>{"x"});
    const Value expected[] = {double{0.1F}, std::int64_t{-3}, std::int64_t{0xffffffff}, "x"};
    for (std::size_t column = 0; column < 4; ++column)
        CHECK((value_of(*detail::Access::of(table), column, key_of(*detail::Access::of(table), column, 0)) ==
               expected[column]));
}

TEST_CASE("Values that do not fit are refused, and the table does not change") {
    Table table;
    table.add("a", std::vector<float>{1, 2});
    const auto message = [&](auto add) -> std::string {
        try {
            add();
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return {};
    };
    CHECK(message([&] {
              table.add("a", std::vector<double>{1, 2});
          }) == "Table::add: the table has a column 'a' already");
    CHECK(message([&] { table.add("b", std::vector<std::string>{"x"}); }) ==
          "Table::add: column 'b' must have as many rows as the table, 2, not 1");
    CHECK(message([&] {
              table.add("b", std::vector<std::int32_t>{1, 2}, {true});
          }) == "Table::add: `valid` of column 'b' must have as many entries as there are values, 2, not 1");
    CHECK(message([&] { table.add_texture("b", 7, ColumnType::F32, 3); }).find("2, not 3") != std::string::npos);
    CHECK(message([&] { table.add_texture("b", 7, ColumnType::I64, 2); }).find("not I64") != std::string::npos);
    CHECK(message([&] { table.add_texture("b", 0, ColumnType::F32, 2); }).find("number 0") != std::string::npos);
    CHECK(table.columns().size() == 1);
    CHECK(detail::Access::of(table)->dictionary->empty());
}

TEST_CASE("A texture is stored as described") {
    Table table;
    table.add_texture("x", 7, ColumnType::I32, 10);
    CHECK(table.rows() == 10);
    CHECK(std::get<std::vector<std::uint32_t>>(std::get<HostObjects>(data(table, "x").values).of) ==
          std::vector<std::uint32_t>{7});
    CHECK(data(table, "x").min == 0);
    CHECK(data(table, "x").max == 0xffffffff);
}
