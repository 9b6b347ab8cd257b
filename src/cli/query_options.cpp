#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "cli/query_command.hpp"
#include "cli/query_spill.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_options.hpp"
#include "external/plan.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "sql/parser.hpp"

namespace quadmill::detail::cli {

void QueryCommand::parse() {
    if (sql.empty() == sql_file.empty())
        throw CLI::ValidationError("QUERY", sql.empty() ? "is missing: give it, or -f FILE" : "does not go with -f");
    if (!sql_file.empty()) {
        const auto bytes = files::read_file(sql_file);
        const auto text = bytes.as<const char>();
        sql.assign(text.begin(), text.end());
    }
    if (sql.starts_with("\xef\xbb\xbf")) sql.erase(0, 3);  // a byte order mark
    statements_ = checked([this] { return sql::parse_statements(sql); });
    csv_form.delimiter = delimiter == "auto" ? '\0' : delimiter[0];
    csv_form.has_names = !no_header;
    csv_form.before_bytes = [this](std::uint64_t bytes) {
        // An order or groups need memory, too, so their table may take three quarters.
        const auto most = can_spill(query_) ? memory / 4 * 3 : memory;
        if (!in_parts_ && external::resident_bytes() + bytes > most) throw too_large();
    };
    how.before_bytes = [this](std::uint64_t bytes) {
        if (external::resident_bytes() + bytes > memory) throw too_large();
    };
    read_types();
    read_indexes();
    check_options();
}

// Words such as id:text.
void QueryCommand::read_types() {
    using Type = input::Cells::Kind;
    const input::Words<Type> words{
        {"text", Type::Texts}, {"i64", Type::Integers}, {"i128", Type::WideIntegers}, {"f64", Type::Floats}};
    for (const auto& one : given_types) {
        const auto colon = one.rfind(':');
        const auto word = colon == std::string::npos ? std::string() : one.substr(colon + 1);
        const auto known = std::ranges::find(words, word, &std::pair<std::string, Type>::first);
        if (known == words.end())
            throw CLI::ValidationError("--types",
                                       "must be NAME:TYPE, where TYPE is text, i64, i128 or f64, not " + one);
        csv_form.types.emplace(one.substr(0, colon), known->second);
    }
}

// Words such as x,y.
void QueryCommand::read_indexes() {
    for (const auto& one : given_indexes) {
        const auto names = CLI::detail::split(one, ',');
        const bool empty = std::ranges::any_of(names, [](const std::string& name) { return name.empty(); });
        if (empty || names.empty() || names.size() > 2 || (names.size() == 2 && names[0] == names[1]))
            throw CLI::ValidationError("--index", "must be a column or two, such as x,y, not " + one);
        indexes_.push_back(names);
    }
}

void QueryCommand::check_options() const {
    if (explain && (format == Format::JsonLine || ndjson))
        throw CLI::ValidationError("--explain", "does not print JSON, so it does not go with --json");
    if (ndjson && format == Format::JsonLine) throw CLI::ValidationError("--ndjson", "does not go with --json");
    if (options.paper.sums == SumPrecision::Float32 && options.engine != QueryEngine::Depth)
        throw CLI::ValidationError("--sums", "float32 goes with --engine depth only; other engines have exact sums");
    const bool runs = !explain;
    const bool on_gpu = options.engine == QueryEngine::Depth || options.engine == QueryEngine::Bitmap;
    const bool joins =
        std::ranges::any_of(statements_, [](const sql::SqlQuery& query) { return query.join.has_value(); });
    only_with(*verb, {"--batch", "--profile", "--explain-engine"}, runs, "a query that runs, not with --explain");
    only_with(*verb, {"--join", "--join-block"}, joins, "a JOIN, which this query does not have");
    only_with(*verb, {"--join-block"}, how.join != JoinMethod::SortMerge, "--join loops or auto");
    only_with(*verb, {"--execution", "--index"}, on_gpu, "--engine depth or bitmap");
    only_with(*verb, {"--index"}, batch == 0, "tables that do not change, not with --batch");
    only_with(*verb, {"--batch"}, statements_.size() == 1, "one statement");
    only_with(*verb, {"--comment", "--skip-bad"}, batch == 0, "a whole input, not with --batch");
}

namespace {

void add_options(CLI::App& verb, QueryCommand& command) {
    verb.add_option("QUERY", command.sql, "SQL, see below. Several statements are separated by ;")->type_name("");
    verb.add_option("-f,--file", command.sql_file, "Read the SQL from this file")->type_name("FILE");
    verb.add_option("-o,--output", command.output, "Write the answer to this file, when it is complete")
        ->check(input::file_name())
        ->type_name("FILE");
    verb.add_flag("--csv", command.csv, "Print CSV on a terminal, too, instead of an aligned table");
    verb.add_flag("--ndjson", command.ndjson, "Print one JSON object per row");
    add_json_option(verb, command.format);
    verb.add_flag("--explain", command.explain,
                  "Print the plan, one node per line, and the types of columns, without running it");
    verb.add_flag("--profile", command.profile, "Tables on standard error: time by node of the plan, and by pass");
    verb.add_flag("--explain-engine", command.explain_engine,
                  "Print the chosen engine and the reason on standard error");
    verb.add_option(
            "--batch", command.batch,
            "Print an answer for each N rows of standard input, or of the first table if the query does not read "
            "standard input")
        ->transform(input::count_up_to(std::uint64_t{1} << 32U))
        ->type_name("N");
    verb.add_option("--memory", command.memory,
                    "Max memory, such as 1G (default: 3/4 of the machine's). If rows, ORDER BY, GROUP BY or DISTINCT "
                    "of one table "
                    "need more, they go through temporary files. Other queries that need more are refused")
        ->transform(input::byte_count())
        ->type_name("SIZE");
    verb.add_option("--temp", command.temp, "Folder for temporary files (default: TMPDIR, or /tmp)")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR");
    verb.add_option(
            "--delimiter", command.delimiter,
            "Field separator of input and output; \\t or tab is a tab; auto: of , ; tab and | the one that is most "
            "frequent in the first line, and , in the output")
        ->transform(input::field_delimiter())
        ->type_name("C")
        ->capture_default_str();
    verb.add_flag("--no-header", command.no_header,
                  "The first line is a row; columns are called column1, column2, ...");
    verb.add_option("--null", command.csv_form.null,
                    "A text that stands for NULL, such as NA. Empty fields are NULL, too")
        ->type_name("TEXT");
    verb.add_option("--types", command.given_types,
                    "Types of columns, such as id:text,price:f64, instead of inferred ones: text, i64, i128 or f64, "
                    "which rounds")
        ->delimiter(',')
        ->type_name("NAME:TYPE,...");
    verb.add_option("--comment", command.csv_form.comment, "Skip lines that begin with this text, such as #")
        ->type_name("TEXT");
    verb.add_flag("--skip-bad", command.csv_form.skips_bad,
                  "Skip rows with a wrong number of fields, wrong quotes, or values that --types does not allow in any "
                  "column, and say how many");
    verb.add_flag("--ragged", command.csv_form.is_ragged, "Fields that are missing at the end of a row are NULL");
    verb.add_option("--engine", command.options.engine,
                    "cpu: CPU threads; depth: depth and stencil tests and occlusion queries on the GPU; bitmap: "
                    "fragment programs on the GPU that write the bits of 32 rows together; auto: cpu, unless `quadmill "
                    "tune` found that the GPU saves 100 ms for these statements, start and copies included")
        ->transform(input::one_of(input::query_engine_words))
        ->default_str("auto");
    verb.add_option(
            "--index", command.given_indexes,
            "Index a column or two, such as x,y, of the tables that have them: WHERE with ranges of these columns "
            "then reads few rows. It pays after some 200 statements on a table. Needs --engine bitmap or depth; "
            "--explain says what it does for each statement")
        ->type_name("NAME[,NAME]")
        ->allow_extra_args(false);
    verb.add_option("--join", command.how.join,
                    "loops: compare every pair of rows (nested loops); merge: sort both columns and merge them; auto: "
                    "the faster one for the number of rows")
        ->transform(input::one_of(input::join_words))
        ->default_str("auto");
    verb.add_option(
            "--join-block", command.how.join_block,
            "For loops with a GPU engine: rows of the left table per pass, a multiple of 4 (default: as many as fit)")
        ->transform(input::count_up_to(std::uint64_t{1} << 31U))
        ->type_name("B");
    verb.add_option(
            "--sums", command.options.paper.sums,
            "exact; or float32, for --engine depth: sums in 32-bit floats, rounded at each step, as in SIGMOD'04")
        ->transform(input::one_of(input::sum_words))
        ->default_str("exact");
    verb.add_option("--execution", command.options.paper.execution,
                    "pipelined: selections stay on the GPU for the next node of the plan; one-op: each node uploads "
                    "its columns and reads its rows back, the baseline of MDS'09")
        ->transform(input::one_of(input::execution_words))
        ->default_str("pipelined");
    verb.add_option("--threads", command.options.threads, "CPU threads that read and compute (default: all)")
        ->check(input::thread_count())
        ->type_name("N");
    add_device_option(verb, command.device);
}

}  // namespace

void add_query_command(CLI::App& app) {
    auto command = std::make_shared<QueryCommand>();
    auto* verb = app.add_subcommand("query", "Run SQL on CSV files");
    command->verb = verb;
    add_options(*verb, *command);
    verb->footer(
        "SQL:\n"
        "- SELECT [DISTINCT] *, t.* or expressions of columns and aggregates with + - * / %; each may have AS name\n"
        "- Aggregates: COUNT(*), COUNT(c), COUNT(DISTINCT c), SUM, AVG, MIN, MAX, MEDIAN, STDDEV, VARIANCE (also "
        "..._POP), QUANTILE(c, phi), KTH_LARGEST(c, k), KTH_SMALLEST(c, k)\n"
        "- FROM path, in quotes if it has blanks; - is standard input; 'logs/*.csv' is several files, whose paths are "
        "in "
        "the column file; data.f32 (or .f16, .f64, .i32, .u32, .i64, .u64) are raw values in the column value; .npy is "
        "an array of NumPy\n"
        "- [LEFT] JOIN path ON x.k = y.k, or USING (k), or ON ABS(x.k - y.k) <= d\n"
        "- WHERE with AND, OR, NOT, =, !=, <, <=, >, >=, BETWEEN, IN, LIKE, ILIKE, IS NULL, and expressions\n"
        "- GROUP BY columns, expressions, names or positions of outputs; HAVING condition\n"
        "- ORDER BY columns, expressions, names or positions, each with ASC or DESC, NULLS FIRST or LAST\n"
        "- LIMIT n [OFFSET m]\n"
        "a / b is a fraction, also for integers; a / b and a % b are NULL where b is 0. MEDIAN of an even number of "
        "values is the "
        "mean of the two in the middle; QUANTILE is one of the values. NULLs come first in ascending order. Texts are "
        "ordered by their bytes.\n"
        "The name of a table is its file name without folder and extensions (logs/a.csv.gz: a), or the name after AS. "
        "Texts go in '...', unusual names in \"...\". Names are not case-sensitive.\n"
        "The first line of CSV has the names of the columns, unless --no-header is given. It may be compressed with "
        "gzip "
        "or zstd. An empty field is NULL, also in answers.\n"
        "The type of a column is inferred from all its values. A column is text if a value could not be printed as it "
        "was written: if it is not a number, has a leading zero (01234), is an integer outside -2^127 to 2^127-1, has "
        "digits that a double would round among decimal numbers, or has an exponent (1e5) and no value has a point. "
        "--explain says which value it was. A quoted value that is compared with numbers is read as a number: a > "
        "'5'.\n"
        "Sums of integers are exact, in 128 bits; a sum beyond 64 bits is refused. Sums of columns with decimal "
        "numbers are doubles. An integer that a double would round is refused where it meets a decimal number or a "
        "quotient. In a query, 1e400 is inf and 1e-400 is 0.\n"
        "With --batch, a column of integers becomes a column of doubles when its first decimal number arrives. After "
        "Ctrl-C the command prints the answer for the complete rows, or writes it to the file of -o.\n"
        "\n"
        "Examples:\n"
        "  quadmill query \"SELECT COUNT(*), SUM(a), MEDIAN(c) FROM data.csv WHERE (a > 3 OR b <= 2.5) "
        "AND NOT d IN (1,2)\"\n"
        "  quadmill query \"SELECT city, AVG(price) AS mean FROM 'my sales.csv' GROUP BY city ORDER BY mean DESC LIMIT "
        "10\"\n"
        "  quadmill query \"SELECT x.id, y.name FROM x.csv JOIN y.csv ON x.k = y.k\" | head\n"
        "  tail -n +1 -f log.csv | quadmill query \"SELECT COUNT(*), MAX(ms) FROM -\" --batch 1000 "
        "--json");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
