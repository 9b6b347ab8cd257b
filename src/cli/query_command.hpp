// The verb `query`: its options, and what runs its statements.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/passes.hpp"
#include "cli/query_answer.hpp"
#include "cli/query_spill.hpp"
#include "files/files.hpp"
#include "input/binary_table.hpp"
#include "input/csv.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/table/column_names.hpp"
#include "sql/run.hpp"

namespace quadmill::detail::cli {

// A table of a query: a file, or a stream that is read in batches.
struct Source {
    std::optional<input::CsvFile> file{};
    std::optional<input::CsvStream> stream{};
    std::optional<input::BinaryTable> binary{};
    const input::CsvFile* shared = nullptr;
    input::CsvColumns columns{};

    [[nodiscard]] const query::ColumnNames& names() const {
        return binary ? binary->names : shared ? shared->names() : file ? file->names() : stream->names();
    }
    // Pre: it is CSV.
    [[nodiscard]] char delimiter() const {
        return shared ? shared->delimiter() : file ? file->delimiter() : stream->delimiter();
    }
};

// A file that several statements read: all columns that they need.
struct SharedFile {
    std::optional<input::CsvFile> file{};
    std::set<std::size_t> columns{}, compared{};  // compared: those that are not only printed
    std::optional<input::CsvTable> table{};
};

// A table is larger than --memory.
class TableTooLarge final : public InvalidArgument {
  public:
    using InvalidArgument::InvalidArgument;
};

struct QueryCommand {
    std::string sql, sql_file, output = "-", temp;
    Format format = Format::Table;
    bool ndjson = false, csv = false;
    bool explain = false, profile = false, explain_engine = false;
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
    void note_first_lines();
    void note_headers(const std::vector<input::CsvTable>& from);
    [[nodiscard]] bool is_stream(std::size_t source) const;
    [[nodiscard]] bool takes_first_rows() const;
    void open_processor(const std::vector<input::CsvTable>& from);
    [[nodiscard]] bool gpu_pays(const std::vector<input::CsvTable>& from);
    [[nodiscard]] bool open_context();
    [[nodiscard]] RowsForm form() const;
    [[nodiscard]] std::vector<Table> prepared(sql::SqlQuery& query, const std::vector<input::CsvTable>& from);
    [[nodiscard]] std::unique_ptr<AnswerWriter> begun_answer();
    void answer(const std::vector<input::CsvTable>& from);
    [[nodiscard]] std::optional<std::size_t> answer_from_memory();
    std::uint64_t run(const sql::SqlQuery& query, const std::vector<Table>& tables, const sql::TakeRow& take);
    [[nodiscard]] const input::CsvFile* file_in_parts() const;
    [[nodiscard]] bool wants_parts() const;
    [[nodiscard]] bool orders_groups() const;
    struct PartsMemory {
        unsigned threads = 1;
        std::uint64_t to_sort = 0, to_group = 0;
    };
    [[nodiscard]] PartsMemory parts_memory(const TableTooLarge* why) const;
    void answer_in_parts(const TableTooLarge* why);
    void answer_groups(OrderedRows& rows, const std::vector<ColumnInfo>& columns, const query::NotesByName& notes,
                       std::uint64_t bytes, const sql::TakeRow& put);
    void read_indexes();
    void make_indexes(const std::vector<Table>& tables);
    void print_plan(const sql::SqlQuery& query, const std::vector<Table>& tables);
    void answer_batches(std::vector<input::CsvTable> tables, std::size_t stream);
    void print_profile();
    [[nodiscard]] TableTooLarge too_large() const;

    std::vector<sql::SqlQuery> statements_;
    sql::SqlQuery query_;
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
    std::set<std::string> noted_, like_data_;  // paths of CSV; like_data_: the first line has numbers only
    std::string types_text_;
    bool in_parts_ = false;       // whether the table is read in parts
    Names names_ = Names::Write;  // written once, so that the answers of all batches are one CSV file
};

}  // namespace quadmill::detail::cli
