#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "cli/csv.hpp"
#include "cli/passes.hpp"
#include "cli/query_answer.hpp"
#include "cli/stream_run.hpp"
#include "cli/words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/plan.hpp"
#include "query/sql.hpp"

namespace quadmill::cli {

namespace {

using detail::query::SqlError;
using detail::query::SqlQuery;

// One of the tables of a query: a file, or a stream in batches.
struct Source {
    std::optional<CsvFile> file{};
    std::optional<CsvStream> stream{};
    CsvColumns columns{};

    [[nodiscard]] const std::vector<std::string>& names() const { return file ? file->names() : stream->names(); }
};

enum class Explain { No, Text, Dot };
const Words<Explain> explain_words{{"text", Explain::Text}, {"dot", Explain::Dot}};

struct QueryCommand {
    std::string sql;
    Format format = Format::Table;
    Explain explain = Explain::No;
    bool profile = false;
    std::uint64_t batch = 0;
    std::string delimiter = ",";
    int device = -1;
    QueryOptions options;

    void run();

  private:
    void parse();
    void open_sources();
    void choose_columns();
    void add_stars();
    [[nodiscard]] bool is_stream(std::size_t source) const;
    void open_processor();
    [[nodiscard]] QueryPlan plan(const std::vector<Table>& tables) const;
    void answer(const std::vector<Table>& tables);
    void answer_batches(std::vector<Table> tables, std::size_t stream);
    void print_profile();

    SqlQuery query_;
    std::deque<Source> sources_;  // streams do not move
    OutputFile output_{"-"};
    std::optional<Context> context_;
    std::optional<Session> session_;
    std::optional<PassProfiler> profiler_;
    std::optional<QueryProcessor> processor_;
    std::vector<NodeStats> nodes_;
    Names names_ = Names::Write;  // once, so that the answers of all batches are CSV together
};

// What is wrong with the query is wrong with the call.
template <class Work>
auto checked(const Work& work) {
    try {
        return work();
    } catch (const InvalidArgument& error) {
        throw CLI::ValidationError(error.what());
    }
}

void QueryCommand::parse() {
    query_ = checked([this] { return detail::query::parse_sql(sql); });
    if (delimiter == "\\t" || delimiter == "tab") delimiter = "\t";
    if (delimiter.size() != 1 || delimiter.find_first_of("\"\r\n") == 0)
        throw CLI::ValidationError("--delimiter", "must be one character, and no quote or line end");
    if (explain != Explain::No && format == Format::JsonLine)
        throw CLI::ValidationError("--explain", "prints no JSON; it does not go with --json");
    if (explain != Explain::No && batch > 0) throw CLI::ValidationError("--explain", "does not go with --batch");
}

// The stream is standard input, else the first table.
bool QueryCommand::is_stream(std::size_t source) const {
    if (batch == 0) return false;
    const auto& from = query_.sources;
    const auto input = std::ranges::find(from, "-", &detail::query::SqlSource::path);
    return input == from.end() ? source == 0 : source == static_cast<std::size_t>(input - from.begin());
}

void QueryCommand::open_sources() {
    sources_.resize(query_.sources.size());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const auto& path = query_.sources[i].path;
        if (is_stream(i)) {
            sources_[i].stream.emplace(path, delimiter[0]);
        } else {
            sources_[i].file.emplace(path, delimiter[0]);
        }
    }
}

std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 20;
    std::string list;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) list += (i > 0 ? ", " : "") + names[i];
    return list + (names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

// What the query names; all columns that are not are checked only, and take neither time nor memory.
void QueryCommand::choose_columns() {
    const auto place_in = [&](std::size_t source, const std::string& name) -> std::optional<std::size_t> {
        const auto& names = sources_[source].names();
        const auto found = std::ranges::find(names, name);
        if (found == names.end()) return {};
        return static_cast<std::size_t>(found - names.begin());
    };
    for (const auto& column : query_.columns) {
        bool known = false;
        std::string there;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            if (column.source && *column.source != i) continue;
            const auto place = place_in(i, column.name);
            if (place) sources_[i].columns.push_back(*place);
            known |= place.has_value();
            there += fmt::format("{}{} has {}", there.empty() ? "" : "; ", query_.sources[i].name,
                                 list_of(sources_[i].names()));
        }
        if (!known) throw SqlError(fmt::format("there is no column {}: {}", column.name, there), sql, column.offset);
    }
    for (auto& source : sources_) {
        auto& columns = source.columns;
        if (!query_.stars.empty()) {
            columns.clear();
            for (std::size_t i = 0; i < source.names().size(); ++i) columns.push_back(i);
        }
        if (columns.empty()) columns.push_back(0);  // for COUNT(*), which needs the number of rows
        std::ranges::sort(columns);
        columns.erase(std::ranges::unique(columns).begin(), columns.end());
    }
}

// All columns for each *; of a join, with the table's name where both have one of that name.
void QueryCommand::add_stars() {
    std::vector<Output> all;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const auto* other = sources_.size() > 1 ? &sources_[1 - i].names() : nullptr;
        for (const auto& name : sources_[i].names()) {
            const bool both = other && std::ranges::find(*other, name) != other->end();
            const auto whole = query_.sources[i].name + "." + name;
            all.push_back({other ? whole : name, both ? whole : name});
        }
    }
    auto& outputs = query_.query.outputs;
    for (auto star = query_.stars.rbegin(); star != query_.stars.rend(); ++star)
        outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(*star), all.begin(), all.end());
}

// Auto is the CPU: the columns of a file are asked once, and to open a context, compile programs and load columns takes
// longer than the CPU's answer at all sizes measured (an H100: 200 ms, and 15 ns a row of 12 bytes; 16 cores beside it:
// 0.3 ns a row).
void QueryCommand::open_processor() {
    auto engine = options.engine;
    if (engine == QueryEngine::Auto) engine = QueryEngine::Cpu;
    options.statistics = profile ? Statistics::ByNode : Statistics::Off;
    if (engine != QueryEngine::Cpu) {
        context_ = Context::headless({.device = device});
        processor_.emplace(*context_, options);
        session_.emplace(*context_);
        if (profile) profiler_.emplace(*context_);
    }
    if (!processor_) processor_.emplace(QueryOptions{.threads = options.threads, .statistics = options.statistics});
}

QueryPlan QueryCommand::plan(const std::vector<Table>& tables) const {
    return checked([&] {
        return tables.size() == 1 ? QueryPlan(query_.query, tables[0].columns())
                                  : QueryPlan(query_.query, tables[0].columns(), tables[1].columns());
    });
}

void QueryCommand::answer(const std::vector<Table>& tables) {
    const auto planned = plan(tables);
    if (explain != Explain::No) {
        const auto text = explain == Explain::Dot ? planned.graphviz() : planned.text();
        return output_.write(std::as_bytes(std::span(text)));
    }
    if (!processor_) open_processor();
    const auto writer = format == Format::JsonLine ? json_writer(output_) : csv_writer(output_, delimiter[0], names_);
    const auto take = [&](std::span<const std::vector<Value>> rows) {
        writer->begin(planned.state().nodes.back().names);
        writer->add(rows);
    };
    const auto result = tables.size() == 1 ? processor_->run(planned, tables[0], take)
                                           : processor_->run(planned, tables[0], tables[1], take);
    writer->begin(result.columns);
    writer->end(result);
    names_ = Names::Omit;
    // Of all batches together.
    for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        if (i == nodes_.size()) nodes_.push_back({result.nodes[i].node, 0, 0});
        nodes_[i].rows += result.nodes[i].rows;
        nodes_[i].ms += result.nodes[i].ms;
    }
}

void QueryCommand::answer_batches(std::vector<Table> tables, std::size_t stream) {
    auto& source = sources_[stream];
    while (auto table = source.stream->next(source.columns, batch)) {
        tables[stream] = std::move(*table);
        answer(tables);
    }
}

void QueryCommand::run() {
    parse();
    open_sources();
    checked([this] { choose_columns(); });
    add_stars();
    std::vector<Table> tables(sources_.size());
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
    if (stream && sources_[*stream].stream->interrupted()) throw CLI::RuntimeError(128 + SIGINT);
}

void QueryCommand::print_profile() {
    std::size_t width = 4;
    for (const auto& node : nodes_) width = std::max(width, node.node.size());
    fmt::print(stderr, "{:<{}} {:>12} {:>12}\n", "node", width, "rows", "ms");
    for (const auto& [node, rows, ms] : nodes_) fmt::print(stderr, "{:<{}} {:>12} {:>12.3f}\n", node, width, rows, ms);
    if (!profiler_) {
        fmt::print(stderr, "no passes: answered on the CPU\n");
        return;
    }
    const auto rows = profiler_->rows();
    profiler_.reset();  // the limits are measured by passes, too
    session_.reset();
    print_passes(*context_, rows);
}

void add_options(CLI::App& verb, QueryCommand& command) {
    verb.add_option("QUERY", command.sql, "SQL, see below")->required()->type_name("");
    add_json_option(verb, command.format);
    verb.add_flag("--explain{text}", command.explain,
                  "Print the plan, a line a node, and do not run it; --explain=dot: as a graph for `dot`")
        ->transform(one_of(explain_words));
    verb.add_flag("--profile", command.profile, "Tables of what each node and pass took on standard error");
    verb.add_option("--batch", command.batch,
                    "Answer after each N rows of standard input (without FROM -, of the first table)")
        ->transform(count_up_to(std::uint64_t{1} << 32U))
        ->type_name("N");
    verb.add_option("--delimiter", command.delimiter, "What is between fields, in and out; \\t or tab is a tab")
        ->type_name("C")
        ->capture_default_str();
    verb.add_option(
            "--engine", command.options.engine,
            "cpu: threads; depth: depth and stencil tests and occlusion queries; bitmap: fragment programs that "
            "write 32 rows' bits at once; auto: cpu, which is quickest where columns are read once")
        ->transform(one_of(query_engine_words))
        ->default_str("auto");
    verb.add_option("--threads", command.options.threads, "CPU threads that read and compute (default: all)")
        ->check(CLI::Range(0U, 1024U))
        ->type_name("N");
    add_device_option(verb, command.device);
}

}  // namespace

void add_query_command(CLI::App& app) {
    auto command = std::make_shared<QueryCommand>();
    auto* verb = app.add_subcommand("query", "Answer SQL about CSV files");
    add_options(*verb, *command);
    verb->footer(
        "SELECT *, columns, or COUNT(*) COUNT(c) SUM AVG MIN MAX MEDIAN(c) QUANTILE(c, phi) KTH_LARGEST(c, k)\n"
        "KTH_SMALLEST(c, k), each with AS name; FROM a path, in quotes where it has blanks, or - for standard input;\n"
        "JOIN path ON x.k = y.k, or ABS(x.k - y.k) <= d; WHERE with AND OR NOT = != < <= > >= BETWEEN IN IS NULL and\n"
        "sums such as 2*a - b > 4; GROUP BY columns; LIMIT n. A table is called as its file without folder and\n"
        "extension, or AS name. Texts go in '...', unusual names in \"...\".\n"
        "CSV has a line of names; types are found from all values; an empty field is NULL, in answers, too.\n"
        "Examples:\n"
        "  quadmill query \"SELECT COUNT(*), SUM(a), MEDIAN(c) FROM data.csv WHERE (a > 3 OR b <= 2.5) AND NOT d IN "
        "(1,2)\"\n"
        "  quadmill query \"SELECT city, AVG(price) FROM 'my sales.csv' WHERE price IS NOT NULL GROUP BY city\"\n"
        "  quadmill query \"SELECT x.id, y.name FROM x.csv JOIN y.csv ON x.k = y.k\" | head\n"
        "  tail -n +1 -f log.csv | quadmill query \"SELECT COUNT(*), MAX(ms) FROM -\" --batch 1000 --json");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::cli
