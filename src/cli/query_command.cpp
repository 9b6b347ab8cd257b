#include "cli/query_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "cli/query_costs.hpp"
#include "cli/refusals.hpp"
#include "cli/tuned.hpp"
#include "cpu/stopwatch.hpp"
#include "cpu/trim.hpp"
#include "cpu/workers.hpp"
#include "external/plan.hpp"
#include "input/checks.hpp"
#include "input/csv_table.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "input/words.hpp"
#include "sql/binder.hpp"
#include "sql/table_maker.hpp"

namespace quadmill::detail::cli {

using query::ColumnNames;
using sql::SqlQuery;

TableTooLarge QueryCommand::too_large() const {
    if (query_.join)
        return TableTooLarge(fmt::format(
            "the tables of the JOIN and its pairs take more than {} bytes of memory, and a JOIN needs all of them "
            "there: name fewer columns, give more --memory, or first write the rows and columns that it needs of each "
            "table to a file, with WHERE and -o",
            memory));
    return TableTooLarge(fmt::format(
        "the columns that the query needs take more than {} bytes of memory: name fewer columns or give more "
        "--memory; `quadmill sort --lines --column NAME` orders files that are larger than memory",
        memory));
}

void QueryCommand::check_type_names() const {
    for (const auto& [name, type] : csv_form.types) {
        const auto has = [&, &column = name](const Source& source) {
            return !source.binary && std::ranges::find(source.names().unique, column) != source.names().unique.end();
        };
        if (std::ranges::none_of(sources_, has)) throw InvalidArgument("--types: no table has a column " + name);
    }
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
           query_.order_by.empty() && batch == 0 && !explain && !input::is_pattern(query_.sources[0].path) &&
           !input::is_binary_name(query_.sources[0].path) && !csv_form.is_careful() &&
           !shared_.contains(query_.sources[0].path);
}

// Tells a person at a terminal which delimiter was found. Remembers the files whose first line has numbers only.
void QueryCommand::note_first_lines() {
    if (isatty(STDERR_FILENO) == 0) return;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const auto& path = query_.sources[i].path;
        if (sources_[i].binary || !noted_.insert(path).second) continue;
        const char found = sources_[i].delimiter();
        if (csv_form.delimiter == '\0' && found != ',')
            fmt::print(stderr, "quadmill query: {}: the delimiter is {}\n", files::input_name(path),
                       found == '\t' ? "a tab" : std::string{'\'', found, '\''});
        const auto is_number = [](const std::string& name) {
            double value = 0;
            return input::parse_number(name, value) == nullptr;
        };
        if (csv_form.has_names && std::ranges::all_of(sources_[i].names().written, is_number)) like_data_.insert(path);
    }
}

// Tells that the first line may be data: it has numbers only, and so do the columns.
void QueryCommand::note_headers(const std::vector<input::CsvTable>& from) {
    for (std::size_t i = 0; i < from.size() && !like_data_.empty(); ++i) {
        const auto is_text = [](const ColumnInfo& info) { return info.type == ColumnType::Text; };
        const auto is_printed = [](const auto& column) { return column.second.printed; };
        if (std::ranges::any_of(from[i].notes, is_printed) || std::ranges::any_of(from[i].table.columns(), is_text))
            continue;
        if (like_data_.erase(query_.sources[i].path) > 0)
            fmt::print(stderr, "quadmill query: {}: line 1 is taken as names; use --no-header if it is data\n",
                       files::input_name(query_.sources[i].path));
    }
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
    note_first_lines();
    query_ = checked([&] { return sql::bind(query_, names); });
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i].columns = columns_read(query_, i, names[i]);
}

// Whether all statements on the tables of the first one save time on the GPU, by the costs that `quadmill tune`
// measured: conditions, ranks and groups; also the columns' way to the GPU, and its start.
bool QueryCommand::gpu_pays(const std::vector<input::CsvTable>& from) {
    constexpr double worth_ms = 100;
    constexpr double most_ns = 25;  // of the CPU, per row; more rows need the file of `quadmill tune`
    if (batch > 0 || in_parts_) {
        why_ = "batches and parts of a table go to the CPU";
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
    if (!work.is_known(costs)) {
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
    auto text = made.before + made.plan->text() + made.after + types_text_;
    const bool on_table =
        tables.size() == 1 && std::ranges::none_of(query.computed, [](const auto& one) { return !one.of_groups; });
    if (!indexes_.empty() && on_table) text += processor_->explain(*made.plan, tables[0]);
    if (output_->is_terminal()) text = input::printable(text);
    output_->write(std::as_bytes(std::span(text)));
}

namespace {

void note_skipped(const input::CsvTable& table) {
    if (table.skipped == 0) return;
    fmt::print(stderr, "quadmill query: skipped {} bad row{}; the first: {}\n", table.skipped,
               table.skipped == 1 ? "" : "s", input::printable(table.first_skipped));
}

// MIN and MAX of numbers that became text because of one value are rarely what was meant.
void note_texts(const SqlQuery& query, const std::vector<input::CsvTable>& from) {
    using enum QueryAggregate::Kind;
    for (const auto& one : query.aggregates) {
        if ((one.what.kind != Min && one.what.kind != Max) || one.argument.empty()) continue;
        const auto column = std::ranges::find(query.columns, one.argument[0].leaf, &sql::SqlColumn::leaf);
        if (column == query.columns.end() || !column->source) continue;
        const auto& table = from[*column->source];
        const auto notes = table.notes.find(column->name);
        if (notes == table.notes.end() || notes->second.why.empty() || !notes->second.mostly_numbers) continue;
        fmt::print(stderr, "quadmill query: {} compares texts, although most values are numbers: {}\n",
                   input::printable(one.leaf), input::printable(notes->second.why));
    }
}

}  // namespace

// The tables of a statement, which gets their types.
std::vector<Table> QueryCommand::prepared(SqlQuery& query, const std::vector<input::CsvTable>& from) {
    std::vector<sql::SqlTable> types;
    for (const auto& one : from) types.push_back({one.table, one.notes});
    const auto known = sql::types_in(query, types);
    checked([&] { check_types(query, known); });
    take_types(query, known);
    types_text_ = types_text(query, known);
    if (!explain) note_texts(query, from);
    note_headers(from);
    std::vector<Table> tables;
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::vector<std::string> texts;
        for (std::size_t k = 0; k < known.size(); ++k) {
            const auto& column = query.columns[k];
            if (column.source == i && known[k].is_text) texts.push_back(column.name);
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
    if (ndjson) names = input::with_unique(std::move(names)).unique;  // keys of an object differ
    writer->begin(names);
    return writer;
}

void QueryCommand::answer(const std::vector<input::CsvTable>& from) {
    auto query = query_;
    const auto tables = prepared(query, from);
    if (!processor_ && (!explain || !indexes_.empty())) open_processor(from);
    if (!indexes_.empty()) make_indexes(tables);
    if (explain) return print_plan(query, tables);
    const cpu::Stopwatch time;
    const auto writer = begun_answer();
    const auto matched = run(query, tables, [&](std::span<const sql::SqlCell> row) { writer->row(row); });
    writer->end(matched, time.ms());
    if (batch > 0) names_ = Names::Omit;
}

// Returns the number of rows that satisfied WHERE. Adds the nodes of all parts and batches.
std::uint64_t QueryCommand::run(const SqlQuery& query, const std::vector<Table>& tables, const sql::TakeRow& take) {
    const auto result = sql::run(query, tables, *processor_, how, take);
    for (std::size_t i = 0; i < result.nodes.size(); ++i) {
        if (i == nodes_.size()) nodes_.push_back({result.nodes[i].node, 0, 0});
        nodes_[i].rows += result.nodes[i].rows;
        nodes_[i].ms += result.nodes[i].ms;
    }
    return result.matched;
}

// The only table of a statement that can be answered from parts of it.
const input::CsvFile* QueryCommand::file_in_parts() const {
    if (!can_spill(query_) || explain) return nullptr;
    const auto& source = sources_[0];
    return source.shared ? source.shared : source.file ? &*source.file : nullptr;
}

// Whether the answer needs few rows of a table that no other statement reads.
bool QueryCommand::wants_parts() const {
    const bool on_cpu = options.engine == QueryEngine::Auto || options.engine == QueryEngine::Cpu;
    return wants_few_rows(query_) && !query_.groups() && on_cpu && sources_[0].file && file_in_parts();
}

// Whether groups are put in order or counted after they are found.
bool QueryCommand::orders_groups() const {
    return query_.groups() && (query_.limit || !query_.order_by.empty());
}

// What reading in parts may take. Throws `why` this is needed if it is too little.
QueryCommand::PartsMemory QueryCommand::parts_memory(const TableTooLarge* why) const {
    constexpr auto part = std::uint64_t{12} << 20U, least = std::uint64_t{16} << 20U;  // of a thread; to sort
    const auto left = memory - std::min<std::uint64_t>(memory, external::resident_bytes());
    const std::uint64_t sorts = orders_groups() && !wants_few_rows(query_) ? 2 : 1;
    const auto most = (left - std::min(left, sorts * least)) / part;
    if (why && (!file_in_parts() || most == 0)) throw TableTooLarge(*why);
    const auto threads = std::clamp(static_cast<unsigned>(most), 1U, cpu::threads_or_all(options.threads));
    const auto blocks = part * threads;
    return {.threads = threads, .to_sort = (left - std::min(left, blocks)) / sorts, .to_group = blocks / 4 * 3};
}

// Reads the table in parts, and once more if the first ones had other types than all. Keeps the first rows, or sorts
// all by way of temporary files: `why` this is needed.
void QueryCommand::answer_in_parts(const TableTooLarge* why) {
    cpu::trim_memory();  // what was read before
    const auto can_take = parts_memory(why);
    const bool groups = query_.groups();
    const auto statement = groups ? rows_of_groups(query_) : query_;
    const auto part_statement = part_of(statement);
    const auto printed = groups ? std::set<std::size_t>() : columns_printed(query_, 0, sources_[0].names());
    in_parts_ = true;
    const cpu::Stopwatch time;
    input::CsvKinds kinds;
    std::optional<OrderedRows> rows;
    input::CsvTable read;  // what is known of it
    std::vector<ColumnInfo> columns;
    std::uint64_t matched = 0;
    const auto take = [&](const input::CsvTable& some) {
        auto query = part_statement;
        const auto tables = prepared(query, {some});
        if (!processor_) open_processor({some});
        matched += run(query, tables, [&](std::span<const sql::SqlCell> row) { rows->add(row); });
        if (read.skipped == 0) read.first_skipped = some.first_skipped;
        read.skipped += some.skipped;
        for (const auto& [name, notes] : some.notes) read.notes[name].wide = notes.wide;
        columns = columns_out(query, tables);
        return csv_form.skips_bad || !rows->is_full();  // all bad rows are counted
    };
    do {
        rows.emplace(statement, can_take.to_sort, temp, options.threads);
        nodes_.clear();
        read.skipped = matched = 0;
    } while (!file_in_parts()->parts(sources_[0].columns, can_take.threads, printed, kinds, take));
    note_skipped(read);
    const auto writer = begun_answer();
    if (groups) {
        columns.resize(std::min(columns.size(), statement.outputs.size()));
        std::optional<OrderedRows> ordered;
        if (orders_groups()) ordered.emplace(query_, can_take.to_sort, temp, options.threads);
        const auto put = [&](std::span<const sql::SqlCell> row) { ordered ? ordered->add(row) : writer->row(row); };
        answer_groups(*rows, columns, read.notes, can_take.to_group, put);
        if (ordered) ordered->give([&](std::span<const sql::SqlCell> row) { writer->row(row); });
    } else {
        rows->give([&](std::span<const sql::SqlCell> row) { writer->row(row); });
    }
    writer->end(matched, time.ms());
    if (!context_) processor_.reset();  // so that later statements choose their engine
}

// Answers the statement for the rows of some groups at a time, which take about as many bytes, or of one group. Their
// columns are these.
void QueryCommand::answer_groups(OrderedRows& rows, const std::vector<ColumnInfo>& columns,
                                 const query::NotesByName& notes, std::uint64_t bytes, const sql::TakeRow& put) {
    constexpr std::size_t text_bytes = 112, cell_bytes = 16;
    auto statement = part_of(query_);
    statement.where.reset();
    sql::TableMaker maker(columns);
    std::uint64_t count = 0, taken = 0;
    const auto flush = [&] {
        if (count == 0) return;
        auto query = statement;
        const auto tables = prepared(
            query, {{.table = std::exchange(maker, sql::TableMaker(columns)).table(), .notes = notes, .rows = count}});
        run(query, tables, put);
        count = taken = 0;
    };
    const auto a_group = bytes_of_group(query_);
    rows.give_keyed([&](std::span<const sql::SqlCell> row, bool is_new) {
        if (is_new && taken + a_group >= bytes) flush();
        maker.add(row);
        ++count;
        taken += is_new ? a_group : 0;
        for (const auto& cell : row) {
            const auto* const text = std::get_if<std::string_view>(&cell);
            taken += cell_bytes + (text ? text_bytes + text->size() : 0);
        }
        if (count % (1U << 16U) == 0 && external::resident_bytes() > memory) throw too_large();
    });
    flush();
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
    if (explain) printed.clear();
    auto& file = all ? all->file : sources_[source].file;
    auto table = file->table(columns, options.threads, printed);
    cpu::trim_memory();
    const auto left = memory - std::min<std::uint64_t>(memory, external::resident_bytes());
    if (file_in_parts() && bytes_to_answer(query_, input::filled(table), left) > left) throw too_large();
    note_skipped(table);
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
    nodes_.clear();
    in_parts_ = false;
    std::optional<std::size_t> stream;
    try {
        if (wants_parts()) {
            answer_in_parts(nullptr);
        } else {
            stream = answer_from_memory();
        }
    } catch (const TableTooLarge& why) {
        answer_in_parts(&why);
    }
    if (profile && !explain) print_profile();
    if (!stream || !sources_[*stream].stream->interrupted()) return;
    if (output != "-") output_->commit();
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

}  // namespace quadmill::detail::cli
