// Every answer equals SQLite's.
#include <doctest/doctest.h>

#include "query/random_queries.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

TEST_CASE("queries of one table, as SQLite answers them") {
    QueryProcessor processor;
    AgainstSqlite(processor, {.tables = 1000}).tables();
}

TEST_CASE("queries of larger tables, as SQLite answers them") {
    QueryProcessor processor;
    AgainstSqlite(processor, {.tables = 10, .queries = 20, .rows = 5000, .seed = 2}).tables();
}

TEST_CASE("joins, as SQLite answers them") {
    QueryProcessor processor;
    AgainstSqlite(processor, {.tables = 600, .queries = 6, .seed = 3}).joins();
}
