// Answers of queries as CSV or JSON, written as they are made.
#pragma once

#include <string>

#include "cli/answer.hpp"
#include "cli/files.hpp"
#include "quadmill/query.hpp"

namespace quadmill::cli {

// A line of names, then a line a row: NULL is an empty field, "" an empty text.
void write_csv(OutputFile& out, const QueryResult& result, char delimiter);
// {"columns":[..],"rows":[[..]],"matched":..,"ms":..} on one line.
void write_json(OutputFile& out, const QueryResult& result);

}  // namespace quadmill::cli
