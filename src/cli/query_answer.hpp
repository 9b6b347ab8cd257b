// Answers of queries as CSV or JSON, written as they are made.
#pragma once

#include <string>

#include "cli/answer.hpp"
#include "cli/files.hpp"
#include "quadmill/query.hpp"

namespace quadmill::cli {

// A line of names, unless they stand there from the answer before, then a line a row: NULL is an empty field, "" an
// empty text.
enum class Names { Write, Omit };
void write_csv(OutputFile& out, const QueryResult& result, char delimiter, Names names);
// {"columns":[..],"rows":[[..]],"matched":..,"ms":..} on one line.
void write_json(OutputFile& out, const QueryResult& result);

}  // namespace quadmill::cli
