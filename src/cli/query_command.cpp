#include <fmt/core.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/passes.hpp"
#include "cli/query_answer.hpp"
#include "cli/query_costs.hpp"
#include "cli/query_spill.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "cli/tuned.hpp"
#include "cpu/stopwatch.hpp"
#include "cpu/workers.hpp"
#include "external/plan.hpp"
#include "files/files.hpp"
#include "input/binary_table.hpp"
#include "input/checks.hpp"
#include "input/csv.hpp"
#include "input/printable.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/table/column_names.hpp"
#include "sql/binder.hpp"
#include "sql/parser.hpp"
#include "sql/run.hpp"

namespace quadmill::detail::cli {

namespace {

using query::ColumnNames;
using sql::SqlQuery;

// A table of a query: a file, or a stream that is read in batches.
struct Source {
    std::optional<input::CsvFile> file{};
    std::optional<input::CsvStream> stream{};
    std::optional<input::BinaryTable> binary{};
    const input::CsvFile* shared = nullptr;
    input::CsvColumns columns{};

    [[nodiscard]] const ColumnNames& names() const {
        return binary ? binary->names : shared ? shared->names() : file ? file->names() : stream->names();
    }
};

// A file that several statements read: all columns that they need.
struct SharedFile {
    std::optional<input::CsvFile> file{};
    std::set<std::size_t> columns{}, compared{};  // compared: those that are not only printed
    std::optional<input::CsvTable> table{};
};

enum class Explain { No, Text, Dot };
const input::Words<Explain> explain_words{{"text", Explain::Text}, {"dot", Explain::Dot}};

// A table is larger than --memory.
class TableTooLarge final : public InvalidArgument {
  public:
    using InvalidArgument::InvalidArgument;
};

struct QueryCommand {
    std::string sql, sql_file, output = "-", temp;
    Format format = Format::Table;
    bool ndjson = false, csv = false;
    Explain explain = Explain::No;
    bool profile = false, explain_engine = false;
    std::uint64_t batch = 0, memory = files::machine_memory() / 4 * 3;
    std::string delimiter = "auto";
    bool no_header = false;
    std::vector<std::string> given_types, given_indexes;
    input::CsvForm csv_form;
    int device = -1;
    QueryOptions options;
    sql::RunOptions how;

    const CLI::App* verb = nullptr;

    void run();

  private:
    void parse();
    void check_options() const;
    void read_types();
    void check_type_names() const;
    void share_files();
    void statement();
    [[nodiscard]] SharedFile* shared(const std::string& path);
    [[nodiscard]] input::CsvTable read(std::size_t source);
    void open_sources();
    void choose_columns();
    [[nodiscard]] bool is_stream(std::size_t source) const;
    [[nodiscard]] bool takes_first_rows() const;
    void open_processor(const std::vector<input::CsvTable>& from);
    [[nodiscard]] bool gpu_pays(const std::vector<input::CsvTable>& from);
    [[nodiscard]] bool open_context();
    [[nodiscard]] RowsForm form() const;
    [[nodiscard]] std::vector<Table> prepared(SqlQuery& query, const std::vector<input::CsvTable>& from);
    [[nodiscard]] std::unique_ptr<AnswerWriter> begun_answer();
    void answer(const std::vector<input::CsvTable>& from);
    [[nodiscard]] std::optional<std::size_t> answer_from_memory();
    void answer_by_spilling(const TableTooLarge& why);
    void read_indexes();
    void make_indexes(const std::vector<Table>& tables);
    void print_plan(const SqlQuery& query, const std::vector<Table>& tables);
    void answer_batches(std::vector<input::CsvTable> tables, std::size_t stream);
    void print_profile();
    [[nodiscard]] TableTooLarge too_large() const;

    std::vector<SqlQuery> statements_;
    SqlQuery query_;
    std::deque<Source> sources_;                // a deque, because streams cannot be moved
    std::map<std::string, SharedFile> shared_;  // by path
    std::optional<files::OutputFile> output_;
    std::optional<Context> context_;
    std::optional<Session> session_;
    std::optional<PassProfiler> profiler_;
    std::optional<QueryProcessor> processor_;
    std::string why_;  // the engine
    std::vector<NodeStats> nodes_;
    std::vector<std::vector<std::string>> indexes_;  // columns
    std::set<std::size_t> indexes_made_;
    Names names_ = Names::Write;  // written once, so that the answers of all batches are one CSV file
};

void QueryCommand::parse() {
    if (sql.empty() == sql_file.empty())
        throw CLI::ValidationError("QUERY", sql.empty() ? "is missing: give it, or -f FILE" : "does not go with -f");
    if (!sql_file.empty()) {
        const auto bytes = files::read_file(sql_file);
        const auto text = bytes.as<const char>();
        sql.assign(text.begin(), text.end());
    }
    statements_ = checked([this] { return sql::parse_statements(sql); });
    if (delimiter == "\\t" || delimiter == "tab") delimiter = "\t";
    if (delimiter != "auto" && (delimiter.size() != 1 || delimiter.find_first_of("\"\r\n") == 0))
        throw CLI::ValidationError("--delimiter", "must be one character that is not a quote or a line end");
    csv_form.delimiter = delimiter == "auto" ? '\0' : delimiter[0];
    csv_form.has_names = !no_header;
    csv_form.after_block = [this] {
        // An order needs memory, too, so its table may take three quarters.
        if (external::resident_bytes() > (can_spill(query_) ? memory / 4 * 3 : memory)) throw too_large();
    };
    read_types();
    read_indexes();
    check_options();
}

TableTooLarge QueryCommand::too_large() const {
    return TableTooLarge(fmt::format(
        "the columns that the query needs take more than {} bytes of memory: name fewer columns or give more "
        "--memory; `quadmill sort --lines --column NAME` orders files that are larger than memory",
        memory));
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

void QueryCommand::check_type_names() const {
    for (const auto& [name, type] : csv_form.types) {
        const auto has = [&, &column = name](const Source& source) {
            return !source.binary && std::ranges::find(source.names().unique, column) != source.names().unique.end();
        };
        if (std::ranges::none_of(sources_, has)) throw InvalidArgument("--types: no table has a column " + name);
    }
}

void QueryCommand::check_options() const {
    if (explain != Explain::No && (format == Format::JsonLine || ndjson))
        throw CLI::ValidationError("--explain", "does not print JSON, so it does not go with --json");
    if (ndjson && format == Format::JsonLine) throw CLI::ValidationError("--ndjson", "does not go with --json");
    if (options.paper.sums == SumPrecision::Float32 && options.engine != QueryEngine::Depth)
        throw CLI::ValidationError("--sums", "float32 goes with --engine depth only; other engines have exact sums");
    const bool runs = explain == Explain::No;
    const bool on_gpu = options.engine == QueryEngine::Depth || options.engine == QueryEngine::Bitmap;
    const bool joins = std::ranges::any_of(statements_, [](const SqlQuery& query) { return query.join.has_value(); });
    only_with(*verb, {"--batch", "--profile", "--explain-engine"}, runs, "a query that runs, not with --explain");
    only_with(*verb, {"--join", "--join-block"}, joins, "a JOIN, which this query does not have");
    only_with(*verb, {"--join-block"}, how.join != JoinMethod::SortMerge, "--join loops or auto");
    only_with(*verb, {"--execution", "--index"}, on_gpu, "--engine depth or bitmap");
    only_with(*verb, {"--index"}, batch == 0, "tables that do not change, not with --batch");
    only_with(*verb, {"--batch"}, statements_.size() == 1, "one statement");
    only_with(*verb, {"--comment", "--skip-bad"}, batch == 0, "a whole input, not with --batch");
}

// The stream is standard input or, without it, the first table.
bool QueryCommand::is_stream(std::size_t source) const {
    if (batch == 0) return false;
    const auto& from = query_.sources;
    const auto input = std::ranges::find(from, "-", &sql::SqlSource::path);
    return input == from.end() ? source == 0 : source == static_cast<std::size_t>(input - from.begin());
}

// The first rows of a table need nothing else of it.
bool QueryCommand::takes_first_rows() const {
    return query_.limit && !query_.join && !query_.where && !query_.groups() && !query_.distinct &&
           query_.order_by.empty() && batch == 0 && explain == Explain::No &&
           !input::is_pattern(query_.sources[0].path) && !input::is_binary_name(query_.sources[0].path) &&
           !csv_form.is_careful() && !shared_.contains(query_.sources[0].path);
}

void QueryCommand::open_sources() {
    sources_.clear();
    sources_.resize(query_.sources.size());
    for (const auto& source : query_.sources) input::refuse_inputs("FROM", output, {source.path});
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const auto& path = query_.sources[i].path;
        if (const auto* one = shared(path)) {
            sources_[i].shared = &*one->file;
        } else if (input::is_binary_name(path)) {
            if (is_stream(i)) throw InvalidArgument("--batch reads CSV, and " + path + " is not");
            sources_[i].binary.emplace(input::read_binary_table(path));
        } else if (is_stream(i) || takes_first_rows()) {
            sources_[i].stream.emplace(path, csv_form);
        } else {
            sources_[i].file.emplace(path, csv_form);
        }
    }
}

// The columns that the query names. All others are only checked and take neither time nor memory.
void QueryCommand::choose_columns() {
    std::vector<ColumnNames> names;
    for (const auto& source : sources_) names.push_back(source.names());
    query_ = checked([&] { return sql::bind(query_, names); });
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i].columns = columns_read(query_, i, names[i]);
}

// Whether all statements on the tables of the first one save time on the GPU, by the costs that `quadmill tune`
// measured: conditions, ranks and groups; also the columns' way to the GPU, and its start.
bool QueryCommand::gpu_pays(const std::vector<input::CsvTable>& from) {
    constexpr double worth_ms = 100;
    constexpr double most_ns = 25;  // of the CPU, per row; more rows need the file of `quadmill tune`
    if (batch > 0) {
        why_ = "batches go to the CPU";
        return false;
    }
    StatementWork work;
    for (std::size_t i = 0; i < from.size(); ++i)
        work.tables[query_.sources[i].path] = static_cast<double>(from[i].rows);
    work.add(query_);
    std::erase_if(work.tables, [this](const auto& table) { return !shared(table.first); });
    for (const auto& later : statements_) work.add(later);  // of the earlier one nothing is left
    if (work.rows() * most_ns < worth_ms * 1e6) {
        why_ = fmt::format("the CPU answers this in less than {:.0f} ms, and auto opens a context only to save as much",
                           worth_ms);
        return false;
    }
    const auto tuned = tuned_before_context(device, options.threads);
    const auto costs = tuned ? tuned->statements : bench::StatementCosts();
    if (costs.cpu_ns == 0 || (work.has_groups() && costs.cpu_group_ns == 0)) {
        why_ = "`quadmill tune` has not measured what statements cost on this machine's CPU and GPU";
        return false;
    }
    const double on_cpu = work.ms_on_cpu(costs), on_gpu = work.ms_on_gpu(costs);
    why_ = fmt::format(
        "about {:.0f} ms on the CPU and {:.0f} ms on the GPU, with its start; auto opens a context only "
        "to save {:.0f} ms ({})",
        on_cpu, on_gpu, worth_ms, where_from(tuned));
    return on_cpu - on_gpu >= worth_ms;
}

// False if there is no context, and --engine allows that.
bool QueryCommand::open_context() {
    try {
        context_ = Context::headless({.device = device});
    } catch (const ContextError& error) {
        if (options.engine != QueryEngine::Auto) throw;
        fmt::print(stderr, "quadmill query: answering on the CPU: {}\n", error.what());
        why_ = "the GPU cannot be used";
    }
    return context_.has_value();
}

void QueryCommand::open_processor(const std::vector<input::CsvTable>& from) {
    const bool is_auto = options.engine == QueryEngine::Auto;
    why_ = "as --engine says";
    const bool on_gpu = (is_auto ? gpu_pays(from) : options.engine != QueryEngine::Cpu) && open_context();
    if (explain_engine) {
        const auto* const engine = is_auto && on_gpu ? "auto with the GPU" : "cpu";
        fmt::print(stderr, "engine {}: {}\n",
                   is_auto ? engine : input::word_for(input::query_engine_words, options.engine), why_);
    }
    options.statistics = profile ? Statistics::ByNode : Statistics::Off;
    if (on_gpu) {
        if (const auto tuned = tuned_for(context_->info(), options.threads); is_auto && tuned)
            options.crossings = tuned->query;
        processor_.emplace(*context_, options);
        session_.emplace(*context_);
        if (profile) profiler_.emplace(*context_);
    }
    if (!processor_)
        processor_.emplace(QueryOptions{.threads = options.threads,
                                        .statistics = options.statistics,
                                        .paper = {.execution = options.paper.execution}});
}

RowsForm QueryCommand::form() const {
    if (format == Format::JsonLine) return RowsForm::JsonLine;
    if (ndjson) return RowsForm::NdJson;
    return output_->is_terminal() && !csv && batch == 0 ? RowsForm::Table : RowsForm::Csv;
}

// Makes each index in every table that has its columns. A table has only those columns that the statements name.
void QueryCommand::make_indexes(const std::vector<Table>& tables) {
    for (std::size_t i = 0; i < indexes_.size(); ++i) {
        for (const auto& table : tables) {
            const auto has = [&](const std::string& name) {
                return std::ranges::find(table.columns(), name, &ColumnInfo::name) != table.columns().end();
            };
            if (!std::ranges::all_of(indexes_[i], has)) continue;
            processor_->index(table, indexes_[i]);
            indexes_made_.insert(i);
        }
    }
}

void QueryCommand::print_plan(const SqlQuery& query, const std::vector<Table>& tables) {
    const auto made = checked([&] { return sql::plan(query, tables, how); });
    auto text = explain == Explain::Dot ? made.plan->graphviz() : made.before + made.plan->text() + made.after;
    const bool on_table =
        tables.size() == 1 && std::ranges::none_of(query.computed, [](const auto& one) { return !one.of_groups; });
    if (explain == Explain::Text && !indexes_.empty() && on_table) text += processor_->explain(*made.plan, tables[0]);
    if (output_->is_terminal()) text = input::printable(text);
    output_->write(std::as_bytes(std::span(text)));
}

sql::SourceTypes types_of(const input::CsvTable& from) {
    sql::SourceTypes types{.why_text = from.why_text, .printed = from.printed, .wide = from.wide};
    for (const auto& info : from.table.columns()) types.types.emplace(info.name, info.type);
    return types;
}

// MIN and MAX of numbers that became text because of one value are rarely what was meant.
void note_texts(const SqlQuery& query, const std::vector<input::CsvTable>& from) {
    using enum QueryAggregate::Kind;
    for (const auto& one : query.aggregates) {
        if ((one.what.kind != Min && one.what.kind != Max) || one.argument.empty()) continue;
        const auto column = std::ranges::find(query.columns, one.argument[0].leaf, &sql::SqlColumn::leaf);
        if (column == query.columns.end() || !column->source) continue;
        const auto& table = from[*column->source];
        const auto why = table.why_text.find(column->name);
        if (why == table.why_text.end() || !table.mostly_numbers.contains(column->name)) continue;
        fmt::print(stderr, "quadmill query: {} compares texts, although most values are numbers: {}\n",
                   input::printable(one.leaf), input::printable(why->second));
    }
}

// The tables of a statement, which gets their types.
std::vector<Table> QueryCommand::prepared(SqlQuery& query, const std::vector<input::CsvTable>& from) {
    std::vector<sql::SourceTypes> types;
    for (const auto& table : from) types.push_back(types_of(table));
    const auto known = sql::types_in(query, types);
    checked([&] { check_types(query, known); });
    take_types(query, known);
    if (explain == Explain::No) note_texts(query, from);
    std::vector<Table> tables;
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::vector<std::string> texts;
        for (std::size_t k = 0; k < known.types.size(); ++k) {
            const auto& column = query.columns[k];
            if (column.source == i && known.types[k] == ColumnType::Text) texts.push_back(column.name);
        }
        tables.push_back(input::filled(from[i], texts));
    }
    return tables;
}

// A writer that has the names of the outputs.
std::unique_ptr<AnswerWriter> QueryCommand::begun_answer() {
    auto writer = answer_writer(*output_, form(), delimiter == "auto" ? ',' : delimiter[0], names_);
    std::vector<std::string> names;
    for (const auto& column : query_.outputs) names.push_back(column.name);
    writer->begin(names);
    return writer;
}

void QueryCommand::answer(const std::vector<input::CsvTable>& from) {
    auto query = query_;
    const auto tables = prepared(query, from);
    if (!processor_ && (explain == Explain::No || !indexes_.empty())) open_processor(from);
    if (!indexes_.empty()) make_indexes(tables);
    if (explain != Explain::No) return print_plan(query, tables);
    const cpu::Stopwatch time;
    const auto writer = begun_answer();
    const auto result =
        sql::run(query, tables, *processor_, how, [&](std::span<const sql::SqlCell> row) { writer->row(row); });
    writer->end(result, time.ms());
    if (batch > 0) names_ = Names::Omit;
    // The sums over the nodes of all batches.
    for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        if (i == nodes_.size()) nodes_.push_back({result.nodes[i].node, 0, 0});
        nodes_[i].rows += result.nodes[i].rows;
        nodes_[i].ms += result.nodes[i].ms;
    }
}

// Reads the table twice: for the types of its columns, and in parts whose rows are sorted by way of temporary files.
void QueryCommand::answer_by_spilling(const TableTooLarge& why) {
    constexpr std::size_t part = std::size_t{12} << 20U, least = std::size_t{16} << 20U;  // for each thread; to sort
    const auto rows_only = unordered(query_);
    const auto* const file = sources_[0].shared ? sources_[0].shared : sources_[0].file ? &*sources_[0].file : nullptr;
    if (!can_spill(query_) || explain != Explain::No || !file || csv_form.is_careful()) throw why;
#ifdef __GLIBC__
    malloc_trim(0);  // what was read before
#endif
    const auto& columns = sources_[0].columns;
    const auto column_kinds = file->kinds(columns, options.threads);
    const cpu::Stopwatch time;
    const auto held = external::resident_bytes() + part * cpu::threads_or_all(options.threads);
    if (memory < held + least) throw why;
    SpilledRows rows(query_, memory - held, temp, options.threads);
    sql::SqlAnswer result;
    const auto printed = columns_printed(query_, 0, sources_[0].names());
    file->parts(columns, options.threads, printed, column_kinds, [&](const input::CsvTable& some) {
        auto query = rows_only;
        const auto tables = prepared(query, {some});
        if (!processor_) open_processor({some});
        const auto found =
            sql::run(query, tables, *processor_, how, [&](std::span<const sql::SqlCell> row) { rows.add(row); });
        result.matched += found.matched;
    });
    const auto writer = begun_answer();
    rows.give([&](std::span<const sql::SqlCell> row) { writer->row(row); });
    writer->end(result, time.ms());
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
    how.threads = options.threads;
    for (const auto& one : statements_) {
        for (const auto& source : one.sources) input::refuse_inputs("-o", output, {source.path});
    }
    output_.emplace(output);
    share_files();
    for (auto& one : statements_) {
        query_ = std::move(one);
        statement();
    }
    if (output != "-") output_->commit();
    for (std::size_t i = 0; i < indexes_.size(); ++i) {
        if (!indexes_made_.contains(i))
            fmt::print(stderr, "quadmill query: --index {} is not made: no statement names {} of a table in memory\n",
                       input::printable(given_indexes[i]), indexes_[i].size() == 2 ? "both columns" : "the column");
    }
}

SharedFile* QueryCommand::shared(const std::string& path) {
    const auto found = shared_.find(path);
    return found == shared_.end() ? nullptr : &found->second;
}

// Files that several statements name are read once, and so is what can only be read once.
void QueryCommand::share_files() {
    if (batch > 0) return;
    std::map<std::string, std::size_t> users;
    for (const auto& one : statements_) {
        for (const auto& source : one.sources) ++users[source.path];
    }
    for (const auto& [path, count] : users) {
        const bool once = statements_.size() > 1 && !files::is_regular(path);
        if ((count > 1 || once) && !input::is_binary_name(path)) shared_[path].file.emplace(path, csv_form);
    }
    for (const auto& one : statements_) {
        if (shared_.empty()) return;
        query_ = one;
        if (std::ranges::none_of(one.sources, [&](const auto& source) { return shared(source.path) != nullptr; }))
            continue;
        open_sources();
        choose_columns();
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            auto* const of = shared(query_.sources[i].path);
            if (!of) continue;
            const auto printed = columns_printed(query_, i, sources_[i].names());
            for (const auto column : sources_[i].columns) {
                of->columns.insert(column);
                if (!printed.contains(column)) of->compared.insert(column);
            }
        }
    }
}

// The rows of a file, which is read unless an earlier statement has read it.
input::CsvTable QueryCommand::read(std::size_t source) {
    auto* const all = shared(query_.sources[source].path);
    if (all && all->table) return *all->table;
    auto columns = sources_[source].columns;
    std::set<std::size_t> printed;
    if (all) {
        columns.assign(all->columns.begin(), all->columns.end());
        std::ranges::set_difference(all->columns, all->compared, std::inserter(printed, printed.end()));
    } else if (batch == 0) {
        printed = columns_printed(query_, source, sources_[source].names());
    }
    if (explain != Explain::No) printed.clear();
    auto& file = all ? all->file : sources_[source].file;
    auto table = file->table(columns, options.threads, printed);
    if (table.skipped > 0)
        fmt::print(stderr, "quadmill query: skipped {} bad row{}; the first: {}\n", table.skipped,
                   table.skipped == 1 ? "" : "s", input::printable(table.first_skipped));
    constexpr std::uint64_t item = 16;  // bytes that ordering takes, for a row
    if (can_spill(query_) && external::resident_bytes() + item * table.rows > memory) throw too_large();
    if (all) return all->table.emplace(std::move(table));
    file.reset();
    return table;
}

void QueryCommand::statement() {
    open_sources();
    for (const auto& source : sources_)
        if (source.names().written.empty()) throw CLI::RuntimeError(source.stream->interrupt_status());
    check_type_names();
    choose_columns();
    std::optional<std::size_t> stream;
    try {
        stream = answer_from_memory();
    } catch (const TableTooLarge& why) {
        answer_by_spilling(why);
    }
    if (profile && explain == Explain::No) print_profile();
    if (stream && sources_[*stream].stream->interrupted())
        throw CLI::RuntimeError(sources_[*stream].stream->interrupt_status());
}

// Returns the source that is a stream, if there is one.
std::optional<std::size_t> QueryCommand::answer_from_memory() {
    std::vector<input::CsvTable> tables(sources_.size());
    std::optional<std::size_t> stream;
    constexpr auto most_rows = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (sources_[i].binary) {
            tables[i] = std::move(sources_[i].binary->rows);
        } else if (takes_first_rows()) {
            const auto rows = *query_.limit > most_rows - query_.offset ? most_rows : *query_.limit + query_.offset;
            tables[i] = *sources_[i].stream->next(sources_[i].columns, std::max<std::uint64_t>(rows, 1));
        } else if (sources_[i].stream) {
            stream = i;
        } else {
            tables[i] = read(i);
        }
    }
    if (stream) {
        answer_batches(std::move(tables), *stream);
    } else {
        answer(tables);
    }
    return stream;
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
    verb.add_option("QUERY", command.sql, "SQL, see below. Several statements are separated by ;")->type_name("");
    verb.add_option("-f,--file", command.sql_file, "A file with the SQL")->type_name("FILE");
    verb.add_option("-o,--output", command.output, "Write the answer to this file, when it is complete")
        ->check(input::file_name())
        ->type_name("FILE");
    verb.add_flag("--csv", command.csv, "Print CSV on a terminal, too, instead of an aligned table");
    verb.add_flag("--ndjson", command.ndjson, "Print one JSON object per row");
    add_json_option(verb, command.format);
    verb.add_flag("--explain{text}", command.explain,
                  "Print the plan, one node per line, without running it. --explain=dot prints a graph for `dot`")
        ->transform(input::one_of(explain_words));
    verb.add_flag("--profile", command.profile, "Tables on standard error: time by node of the plan, and by pass");
    verb.add_flag("--explain-engine", command.explain_engine,
                  "Print the chosen engine and the reason on standard error");
    verb.add_option(
            "--batch", command.batch,
            "Print an answer for each N rows of standard input, or of the first table if the query does not read "
            "standard input")
        ->transform(input::count_up_to(std::uint64_t{1} << 32U))
        ->type_name("N");
    verb.add_option(
            "--memory", command.memory,
            "Max memory, such as 1G (default: 3/4 of the machine's). For an ORDER BY that needs more, rows of one "
            "table are sorted by way of temporary files; other queries that need more are refused")
        ->transform(input::byte_count())
        ->type_name("SIZE");
    verb.add_option("--temp", command.temp, "Folder for temporary files (default: TMPDIR, or /tmp)")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR");
    verb.add_option(
            "--delimiter", command.delimiter,
            "Field separator of input and output; \\t or tab is a tab; auto: of , ; tab and | the one that is most "
            "frequent in the first line, and , in the output")
        ->type_name("C")
        ->capture_default_str();
    verb.add_flag("--no-header", command.no_header,
                  "The first line is a row; columns are called column1, column2, ...");
    verb.add_option("--null", command.csv_form.null, "A field that stands for NULL, such as NA, next to empty fields")
        ->type_name("TEXT");
    verb.add_option("--types", command.given_types,
                    "Types of columns, instead of those that their values have: text, i64, i128 or f64")
        ->delimiter(',')
        ->type_name("NAME:TYPE,...");
    verb.add_option("--comment", command.csv_form.comment, "Skip lines that begin with this text, such as #")
        ->type_name("TEXT");
    verb.add_flag(
        "--skip-bad", command.csv_form.skips_bad,
        "Skip rows with a wrong number of fields, wrong quotes, or values that --types does not allow, and say "
        "how many");
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
        "the column file; data.f32 (or .f64, .i32, .u32, .i64) are raw values in the column value; .npy is an array of "
        "NumPy\n"
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
        "  quadmill query \"SELECT city, AVG(price) AS mean FROM 'my sales.csv' GROUP BY city ORDER BY mean DESC LIMIT "
        "10\"\n"
        "  quadmill query \"SELECT x.id, y.name FROM x.csv JOIN y.csv ON x.k = y.k\" | head\n"
        "  tail -n +1 -f log.csv | quadmill query \"SELECT COUNT(*), MAX(ms) FROM -\" --batch 1000 "
        "--json");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
