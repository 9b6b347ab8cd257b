#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/passes.hpp"
#include "cli/query_answer.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "input/csv.hpp"
#include "input/printable.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/plan/plan.hpp"
#include "sql/sql.hpp"

namespace quadmill::detail::cli {

namespace {

using sql::SqlNames;
using sql::SqlQuery;
using sql::SqlTypes;

// A table of a query: a file, or a stream that is read in batches.
struct Source {
    std::optional<input::CsvFile> file{};
    std::optional<input::CsvStream> stream{};
    input::CsvColumns columns{};

    [[nodiscard]] const SqlNames& names() const { return file ? file->names() : stream->names(); }
};

enum class Explain { No, Text, Dot };
const input::Words<Explain> explain_words{{"text", Explain::Text}, {"dot", Explain::Dot}};

struct QueryCommand {
    std::string sql;
    Format format = Format::Table;
    Explain explain = Explain::No;
    bool profile = false, explain_engine = false;
    std::uint64_t batch = 0;
    std::string delimiter = ",";
    int device = -1;
    QueryOptions options;
    JoinMethod join = JoinMethod::Auto;
    std::size_t join_block = 0;

    const CLI::App* verb = nullptr;

    void run();

  private:
    void parse();
    void open_sources();
    void choose_columns();
    [[nodiscard]] bool is_stream(std::size_t source) const;
    void open_processor();
    [[nodiscard]] QueryPlan plan(const std::vector<Table>& tables, const SqlTypes& known) const;
    void answer(const std::vector<input::CsvTable>& from);
    void answer_batches(std::vector<input::CsvTable> tables, std::size_t stream);
    void print_profile();

    SqlQuery query_;
    std::deque<Source> sources_;  // a deque, because streams cannot be moved
    files::OutputFile output_{"-"};
    std::optional<Context> context_;
    std::optional<Session> session_;
    std::optional<PassProfiler> profiler_;
    std::optional<QueryProcessor> processor_;
    std::vector<NodeStats> nodes_;
    Names names_ = Names::Write;  // written once, so that the answers of all batches are one CSV file
};

void QueryCommand::parse() {
    query_ = checked([this] { return sql::parse_sql(sql); });
    if (delimiter == "\\t" || delimiter == "tab") delimiter = "\t";
    if (delimiter.size() != 1 || delimiter.find_first_of("\"\r\n") == 0)
        throw CLI::ValidationError("--delimiter", "must be one character, and no quote or line end");
    if (explain != Explain::No && format == Format::JsonLine)
        throw CLI::ValidationError("--explain", "does not print JSON, so it does not go with --json");
    if (options.paper.sums == SumPrecision::Float32 && options.engine != QueryEngine::Depth)
        throw CLI::ValidationError("--sums", "float32 goes with --engine depth only; other engines have exact sums");
    const bool runs = explain == Explain::No;
    const bool on_gpu = options.engine == QueryEngine::Depth || options.engine == QueryEngine::Bitmap;
    only_with(*verb, {"--batch", "--profile", "--explain-engine"}, runs, "a query that runs, not with --explain");
    only_with(*verb, {"--join", "--join-block"}, query_.sources.size() > 1, "a JOIN, which this query does not have");
    only_with(*verb, {"--join-block"}, join != JoinMethod::SortMerge, "--join loops or auto");
    only_with(*verb, {"--execution"}, on_gpu, "--engine depth or bitmap");
}

// The stream is standard input or, without it, the first table.
bool QueryCommand::is_stream(std::size_t source) const {
    if (batch == 0) return false;
    const auto& from = query_.sources;
    const auto input = std::ranges::find(from, "-", &sql::SqlSource::path);
    return input == from.end() ? source == 0 : source == static_cast<std::size_t>(input - from.begin());
}

void QueryCommand::open_sources() {
    sources_.resize(query_.sources.size());
    for (const auto& source : query_.sources) input::refuse_inputs("FROM", "-", {source.path});
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const auto& path = query_.sources[i].path;
        if (is_stream(i)) {
            sources_[i].stream.emplace(path, delimiter[0]);
        } else {
            sources_[i].file.emplace(path, delimiter[0]);
        }
    }
}

// The columns that the query names. All others are only checked and take neither time nor memory.
void QueryCommand::choose_columns() {
    std::vector<SqlNames> names;
    for (const auto& source : sources_) names.push_back(source.names());
    query_ = checked([&] { return sql::parse_sql(sql, names); });
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i].columns = input::columns_of(query_, i, names[i]);
}

// Auto is the CPU: each column of a file is used once. On an H100, opening a context and compiling programs takes about
// 200 ms, which is longer than a predicate, sum or rank of 2^24 rows on 16 cores. GROUP BY takes 400 ms there; the
// whole command was not timed on both.
void QueryCommand::open_processor() {
    auto engine = options.engine;
    if (explain_engine) {
        fmt::print(stderr, "engine {}\n",
                   engine == QueryEngine::Auto
                       ? "cpu: each column of a file is asked once, and to open a context and to upload it takes longer"
                       : input::word_for(input::query_engine_words, engine) + ": as --engine says");
    }
    if (engine == QueryEngine::Auto) engine = QueryEngine::Cpu;
    options.statistics = profile ? Statistics::ByNode : Statistics::Off;
    if (engine != QueryEngine::Cpu) {
        context_ = Context::headless({.device = device});
        processor_.emplace(*context_, options);
        session_.emplace(*context_);
        if (profile) profiler_.emplace(*context_);
    }
    if (!processor_)
        processor_.emplace(QueryOptions{.threads = options.threads,
                                        .statistics = options.statistics,
                                        .paper = {.execution = options.paper.execution}});
}

QueryPlan QueryCommand::plan(const std::vector<Table>& tables, const SqlTypes& known) const {
    return checked([&] {
        auto query = typed(query_, known);
        if (query.join) {
            query.join->method = join;
            query.join->block_rows = join_block;
        }
        return tables.size() == 1 ? QueryPlan(query, tables[0].columns())
                                  : QueryPlan(query, tables[0].columns(), tables[1].columns());
    });
}

void QueryCommand::answer(const std::vector<input::CsvTable>& from) {
    const auto known = input::types_in(query_, from);
    checked([&] { check_types(sql, query_, known); });
    std::vector<Table> tables;
    for (std::size_t i = 0; i < from.size(); ++i) tables.push_back(input::filled(from[i], query_, i, known));
    const auto planned = plan(tables, known);
    if (explain != Explain::No) {
        auto text = explain == Explain::Dot ? planned.graphviz() : planned.text();
        if (output_.is_terminal()) text = input::printable(text);
        return output_.write(std::as_bytes(std::span(text)));
    }
    if (!processor_) open_processor();
    const auto writer = format == Format::JsonLine ? json_writer(output_) : csv_writer(output_, delimiter[0], names_);
    const auto take = [&](std::span<const std::vector<Value>> rows) {
        writer->begin(detail::Access::of(planned).nodes.back().names);
        writer->add(rows);
    };
    const auto result = tables.size() == 1 ? processor_->run(planned, tables[0], take)
                                           : processor_->run(planned, tables[0], tables[1], take);
    writer->begin(result.columns);
    writer->end(result);
    names_ = Names::Omit;
    // The sums over the nodes of all batches.
    for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        if (i == nodes_.size()) nodes_.push_back({result.nodes[i].node, 0, 0});
        nodes_[i].rows += result.nodes[i].rows;
        nodes_[i].ms += result.nodes[i].ms;
    }
}

void QueryCommand::answer_batches(std::vector<input::CsvTable> tables, std::size_t stream) {
    auto& source = sources_[stream];
    while (auto table = source.stream->next(source.columns, batch)) {
        tables[stream] = std::move(*table);
        answer(tables);
    }
}

void QueryCommand::run() {
    parse();
    open_sources();
    for (const auto& source : sources_)
        if (source.names().written.empty()) throw CLI::RuntimeError(source.stream->interrupt_status());
    choose_columns();
    std::vector<input::CsvTable> tables(sources_.size());
    std::optional<std::size_t> stream;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (sources_[i].stream) {
            stream = i;
        } else {
            tables[i] = sources_[i].file->table(sources_[i].columns, options.threads);
            sources_[i].file.reset();
        }
    }
    if (stream) {
        answer_batches(std::move(tables), *stream);
    } else {
        answer(tables);
    }
    if (profile && explain == Explain::No) print_profile();
    if (stream && sources_[*stream].stream->interrupted())
        throw CLI::RuntimeError(sources_[*stream].stream->interrupt_status());
}

void QueryCommand::print_profile() {
    std::size_t width = 4;
    for (const auto& node : nodes_) width = std::max(width, node.node.size());
    fmt::print(stderr, "{:<{}} {:>12} {:>12}\n", "node", width, "rows", "ms");
    for (const auto& [node, rows, ms] : nodes_)
        fmt::print(stderr, "{:<{}} {:>12} {:>12.3f}\n", input::printable(node), width, rows, ms);
    if (!profiler_) {
        fmt::print(stderr, "no passes: answered on the CPU\n");
        return;
    }
    const auto rows = profiler_->rows();
    profiler_.reset();  // limits are measured with passes, too
    session_.reset();
    print_passes(*context_, rows);
}

void add_options(CLI::App& verb, QueryCommand& command) {
    verb.add_option("QUERY", command.sql, "SQL, see below")->required()->type_name("");
    add_json_option(verb, command.format);
    verb.add_flag("--explain{text}", command.explain,
                  "Print the plan, one node per line, without running it. --explain=dot prints a graph for `dot`")
        ->transform(input::one_of(explain_words));
    verb.add_flag("--profile", command.profile, "Tables on standard error: time by node of the plan, and by pass");
    verb.add_flag("--explain-engine", command.explain_engine,
                  "Print the chosen engine and the reason on standard error");
    verb.add_option("--batch", command.batch,
                    "Print an answer for each N rows of standard input. Without FROM -, of the first table")
        ->transform(input::count_up_to(std::uint64_t{1} << 32U))
        ->type_name("N");
    verb.add_option("--delimiter", command.delimiter, "Field separator of input and output; \\t or tab is a tab")
        ->type_name("C")
        ->capture_default_str();
    verb.add_option("--engine", command.options.engine,
                    "cpu: CPU threads; depth: depth and stencil tests and occlusion queries on the GPU; bitmap: "
                    "fragment programs on the GPU that write the bits of 32 rows together; auto: cpu, because copying "
                    "a column to the GPU takes longer than reading it once")
        ->transform(input::one_of(input::query_engine_words))
        ->default_str("auto");
    verb.add_option("--join", command.join,
                    "loops: compare every pair of rows (nested loops); merge: sort both columns and merge them; auto: "
                    "the faster one for the number of rows")
        ->transform(input::one_of(input::join_words))
        ->default_str("auto");
    verb.add_option(
            "--join-block", command.join_block,
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
        "- SELECT * or columns or COUNT(*), COUNT(c), SUM(c), AVG(c), MIN(c), MAX(c), MEDIAN(c), QUANTILE(c, phi), "
        "KTH_LARGEST(c, k), KTH_SMALLEST(c, k); each may have AS name\n"
        "- FROM path, in quotes if it has blanks; - is standard input\n"
        "- JOIN path ON x.k = y.k, or ON ABS(x.k - y.k) <= d\n"
        "- WHERE with AND, OR, NOT, =, !=, <, <=, >, >=, BETWEEN, IN, IS NULL, and sums such as 2*a - b > 4\n"
        "- GROUP BY columns\n"
        "- LIMIT n: at most n rows of output. The input is always read completely.\n"
        "The name of a table is its file name without folder and extensions (logs/a.csv.gz: a), or the name after AS. "
        "Texts go in '...', unusual names in \"...\". Names are not case-sensitive.\n"
        "CSV needs a header line. It may be compressed with gzip or zstd. An empty field is NULL, also in answers.\n"
        "The type of a column is inferred from all its values. A column is text if a value is not a number, has a "
        "leading zero (01234) or is an integer beyond 64 bits. A quoted value that is compared with numbers is read as "
        "a number: a > '5'.\n"
        "Sums of integers are exact, in 128 bits. Sums of columns with decimal numbers are doubles; integers in them "
        "that a double cannot represent are refused. In a query, 1e400 is inf and 1e-400 is 0.\n"
        "With --batch, a column of integers becomes a column of doubles when its first decimal number arrives. After "
        "Ctrl-C the command prints the answer for the complete rows.\n"
        "\n"
        "Examples:\n"
        "  quadmill query \"SELECT COUNT(*), SUM(a), MEDIAN(c) FROM data.csv WHERE (a > 3 OR b <= 2.5) "
        "AND NOT d IN (1,2)\"\n"
        "  quadmill query \"SELECT city, AVG(price) FROM 'my sales.csv' WHERE price IS NOT NULL GROUP "
        "BY city\"\n"
        "  quadmill query \"SELECT x.id, y.name FROM x.csv JOIN y.csv ON x.k = y.k\" | head\n"
        "  tail -n +1 -f log.csv | quadmill query \"SELECT COUNT(*), MAX(ms) FROM -\" --batch 1000 "
        "--json");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
