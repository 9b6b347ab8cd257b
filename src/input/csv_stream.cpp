#include <algorithm>
#include <deque>
#include <utility>

#include "input/csv_table.hpp"
#include "input/stream_input.hpp"
#include "input/text.hpp"
#include "input/unpack.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

using cpu::Workers;
using query::ColumnNames;

// Collects rows as they arrive and makes a table whenever there are enough.
class BatchRows {
  public:
    BatchRows(ColumnNames names, CsvColumns columns, std::uint64_t batch, std::uint64_t first_line, const CsvForm& form)
        : names_(std::move(names)),
          columns_(std::move(columns)),
          batch_(batch),
          first_line_(first_line),
          kinds_(columns_.size(), Cells::Kind::Nothing),
          given_(columns_.size(), false),
          rows_(names_.written, columns_, {}, form.null) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const auto type = form.types.find(names_.unique[columns_[i]]);
            given_[i] = type != form.types.end();
            if (given_[i]) kinds_[i] = type->second;
        }
        if (form.is_ragged) rows_.be_ragged();
        rows_.restart(fresh());
    }

    void field(std::optional<std::string_view> field) { rows_.field(field); }
    void line_end() {
        const auto line = rows_.line(), before = rows_.rows();
        rows_.line_end();
        if (rows_.rows() > before) lines_.push_back(line);
        if (rows_.rows() == batch_) finish_batch();
    }
    [[nodiscard]] std::uint64_t line() const { return rows_.line(); }

    // Makes a table of the rows since the last batch, if there are any or if there was no row at all.
    void finish() {
        rows_.drop_unfinished();
        if (rows_.rows() > 0 || !any_) finish_batch();
    }
    [[nodiscard]] std::deque<CsvTable>& tables() { return tables_; }

  private:
    // While a column has no kind, its cells are texts; at the end of the batch it gets a kind.
    std::vector<Cells> fresh() const {
        std::vector<Cells> cells;
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            cells.emplace_back(kinds_[i] == Cells::Kind::Nothing ? Cells::Kind::Texts : kinds_[i]);
            if (given_[i]) cells.back().be_given();
        }
        return cells;
    }
    void finish_batch() {
        std::vector<std::vector<Cells>> parts;
        std::vector<Cells::Seen> seen;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            auto& cells = rows_.cells()[i];
            if (kinds_[i] == Cells::Kind::Nothing) cells = cells.narrowed(lines_);
            kinds_[i] = cells.seen().column();
            const auto& rounded = cells.seen().rounded;
            if (kinds_[i] == Cells::Kind::Texts && cells.seen().kind == Cells::Kind::Floats)
                throw CsvFault{rounded.line, in_quotes(rounded.word) +
                                                 " in a column of integers, to which fractions came"
                                                 ", would be rounded; --types " +
                                                 names_.unique[columns_[i]] + ":f64 allows that"};
            seen.emplace_back().add(cells.seen(), first_line_ - 1);
            parts.push_back({std::move(cells)});
        }
        query::SharedTexts shared;
        tables_.push_back(table_of(names_, columns_, parts, seen, Widths::Wide, shared, Workers(1)));
        any_ = true;
        rows_.restart(fresh());
        lines_.clear();
    }

    ColumnNames names_;
    CsvColumns columns_;
    std::uint64_t batch_, first_line_;
    std::vector<Cells::Kind> kinds_;
    std::vector<bool> given_;  // whether --types says the kind
    CsvRows rows_;
    std::vector<std::uint64_t> lines_;  // line at which each row ends
    std::deque<CsvTable> tables_;
    bool any_ = false;
};

struct CsvStream::State {
    State(const std::string& path, CsvForm given) : form(std::move(given)), input(path) {}

    void read_header();
    void count_columns();
    void read();

    CsvForm form;
    TextStream input;
    ColumnNames names{};
    std::uint64_t line = 1;  // line of the first row
    std::optional<BatchRows> rows{};
    std::optional<CsvParser<BatchRows>> parser{};
    std::optional<CsvFault> fault{};  // comes after the tables that are ready
    bool ended = false;
};

void CsvStream::State::read_header() {
    const auto& path = input.path();
    while (input.text().size() < 3 && input.more()) {  // the length of a byte order mark
    }
    const auto mark = length_of_mark(path, input.text());
    require_text(path, input.text());
    input.drop(mark);
    const auto has_line = [&] { return input.text().find_first_of("\r\n") != std::string_view::npos; };
    if (form.delimiter == '\0') {
        while (!has_line() && input.more()) {
        }
        form.delimiter = delimiter_of(input.text());
    }
    if (!form.has_names) return count_columns();
    HeaderReader header(path, form.delimiter);
    do {
        input.drop(header.read(input.text()));
    } while (!header.complete() && input.more());
    if (!header.complete() && input.interrupted()) return;
    names = with_unique(header.names());
    line = header.next_line();
    if (!header.ends_with_cr() || (input.text().empty() && !input.more())) return;
    if (input.text().starts_with('\n')) input.drop(1);
}

// Reads until the first row is complete, and leaves it there.
void CsvStream::State::count_columns() {
    for (;;) {
        HeaderReader first(input.path(), form.delimiter);
        static_cast<void>(first.read(input.text()));
        if (!first.complete() && input.more()) continue;
        if (!first.complete() && input.interrupted()) return;
        names = with_unique(numbered(first.names().size()));
        return;
    }
}

void CsvStream::State::read() {
    try {
        // Waits only if all rows so far have been passed on.
        ended = input.text().empty() && !input.more();
        if (ended && !input.interrupted()) parser->finish();
        if (ended) return rows->finish();
        // In pieces, so that a table is ready soon.
        constexpr std::size_t piece = std::size_t{1} << 16U;
        std::size_t used = 0;
        for (const auto text = input.text(); used < text.size() && rows->tables().empty();
             used += std::min(piece, text.size() - used))
            parser->parse(text.substr(used, piece));
        input.drop(used);
    } catch (const CsvFault& found) {
        fault = found;
        ended = true;
    }
}

CsvStream::CsvStream(const std::string& path, CsvForm form) : state_(std::make_unique<State>(path, std::move(form))) {
    state_->read_header();
}

CsvStream::~CsvStream() = default;

const ColumnNames& CsvStream::names() const {
    return state_->names;
}

char CsvStream::delimiter() const {
    return state_->form.delimiter;
}

bool CsvStream::interrupted() {
    return state_->input.interrupted();
}

int CsvStream::interrupt_status() const {
    return state_->input.interrupt().status();
}

std::optional<CsvTable> CsvStream::next(const CsvColumns& columns, std::uint64_t rows) {
    auto& state = *state_;
    if (!state.rows) {
        state.rows.emplace(state.names, columns, rows, state.line, state.form);
        state.parser.emplace(*state.rows, state.form.delimiter);
    }
    auto& tables = state.rows->tables();
    while (tables.empty() && !state.ended) state.read();
    if (tables.empty()) {
        if (state.fault) refuse(state.input.path(), state.line, *state.fault);
        return {};
    }
    auto table = std::move(tables.front());
    tables.pop_front();
    return table;
}

}  // namespace quadmill::detail::input
