#include "input/csv.hpp"

#include <fmt/core.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <new>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cpu/workers.hpp"
#include "input/csv_rows.hpp"
#include "input/csv_scan.hpp"
#include "input/stream_input.hpp"
#include "input/text.hpp"
#include "input/unpack.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

using cpu::Workers;
using query::ColumnNames;
using Blanks = CsvParser<CsvRows>::Blanks;

[[noreturn]] void refuse(const std::string& path, std::uint64_t line, const CsvFault& fault) {
    throw InvalidArgument(line_of(path, line - 1 + fault.line) + fault.what);
}

// A name that occurred before gets its column number appended.
ColumnNames with_unique(std::vector<std::string> written) {
    ColumnNames names{.written = std::move(written)};
    std::unordered_set<std::string> taken;
    for (const auto& name : names.written) {
        auto own = name;
        while (!taken.insert(own).second) own = fmt::format("{} (column {})", own, names.unique.size() + 1);
        names.unique.push_back(std::move(own));
    }
    return names;
}

// The error for a column of floats with an integer that they do not represent exactly.
std::optional<CsvFault> rounding(const Cells& cells, const std::string& name) {
    const auto& [line, word] = cells.long_integer();
    if (line == 0) return {};
    return CsvFault{
        line, fmt::format("{} is an integer beyond 2^53, which column {} would round, as not all of its numbers are "
                          "integers; write {}.0 if it may be rounded",
                          in_quotes(word), in_quotes(name), word)};
}

// Makes columns, except for those without values. `parts[i]` belongs to columns[i]. `lines` has the number of lines
// before each part.
CsvTable table_of(const ColumnNames& names, const CsvColumns& columns, std::vector<std::vector<Cells>>& parts,
                  const std::vector<std::uint64_t>& lines, Widths widths) {
    CsvTable all;
    std::vector<query::NumberedTexts> texts;
    for (const auto& part : parts.front()) all.rows += part.rows();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& name = names.unique[columns[i]];
        for (std::size_t k = 0; k < parts[i].size(); ++k) {
            const auto& [line, word] = parts[i][k].text();
            if (line > 0) all.why_text.emplace(name, fmt::format("line {} has {}", lines[k] + line, in_quotes(word)));
        }
        if (Cells::common_kind(parts[i]) == Cells::Kind::Nothing) {
            all.empty.push_back(name);
        } else {
            Cells::add_to(all.table, texts, name, parts[i], widths);
        }
        parts[i].clear();
    }
    query::add_texts(all.table, texts);
    return all;
}

std::size_t length_of_mark(const std::string& path, std::string_view text) {
    const bool is_utf32 = text.starts_with(std::string_view("\xff\xfe\0\0", 4));  // require_text() reports it
    if ((text.starts_with("\xff\xfe") && !is_utf32) || text.starts_with("\xfe\xff"))
        refuse(path, 1, {1, "looks like UTF-16; `iconv -f UTF-16 -t UTF-8` makes it readable"});
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.starts_with(mark) ? mark.size() : 0;
}

// Reads the line of names from text that arrives in pieces. It takes one byte at a time to find where the rows begin.
class HeaderReader {
    template <class Call>
    auto checked(const Call& call) {
        try {
            return call();
        } catch (const CsvFault& fault) {
            refuse(path_, 1, fault);
        }
    }

  public:
    HeaderReader(const std::string& path, char delimiter)
        : path_(path), parser_(header_, delimiter, CsvParser<CsvHeader>::Blanks::Some) {}

    // Returns how much of the text it has taken: all of it if the line is not complete.
    [[nodiscard]] std::size_t read(std::string_view text) {
        return checked([&] {
            std::size_t used = 0;
            while (used < text.size() && !header_.complete()) parser_.parse(text.substr(used++, 1));
            ends_with_cr_ = used > 0 && text[used - 1] == '\r';
            return used;
        });
    }
    [[nodiscard]] bool complete() const { return header_.complete(); }
    // Whether a line feed may still belong to it.
    [[nodiscard]] bool ends_with_cr() const { return ends_with_cr_; }
    // Pre: the line is complete, or there is no more text.
    [[nodiscard]] std::vector<std::string> names() {
        return checked([&] {
            if (!header_.complete()) parser_.finish();
            return header_.names();
        });
    }
    // The line number of the first row.
    [[nodiscard]] std::uint64_t next_line() const { return header_.line(); }

  private:
    std::string path_;
    CsvHeader header_;
    CsvParser<CsvHeader> parser_;
    bool ends_with_cr_ = false;
};

// The delimiter that is most frequent outside of quotes in the first line.
char delimiter_of(std::string_view text) {
    constexpr std::string_view delimiters = ",;\t|";
    std::array<std::size_t, delimiters.size()> counts{};
    bool inside = false;
    for (const char c : text) {
        inside ^= c == '"';
        if (!inside && (c == '\n' || c == '\r')) break;
        if (const auto at = delimiters.find(c); !inside && at != std::string_view::npos) ++counts.at(at);
    }
    return delimiters[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

// column1, column2, ...
std::vector<std::string> numbered(std::size_t columns) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= columns; ++i) names.push_back(fmt::format("column{}", i));
    return names;
}

// Cuts text into parts of whole rows for the threads. A line end is outside of quotes if the number of quotes before it
// is even. If quotes are wrong, the parser stops before that matters.
std::vector<std::string_view> parts_of(std::string_view text, Workers& workers) {
    constexpr std::size_t size = std::size_t{1} << 23U;
    std::vector<std::size_t> quotes(text.size() / size + 1);
    workers.for_each(quotes.size(), [&](std::size_t i) {
        const auto part = text.substr(i * size, size);
        quotes[i] = static_cast<std::size_t>(std::count(part.begin(), part.end(), '"'));
    });
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    bool inside = false;
    for (std::size_t i = 1; i < quotes.size(); ++i) {
        inside ^= quotes[i - 1] % 2 != 0;
        bool in_quotes = inside;
        for (auto at = i * size; at < std::min(text.size(), (i + 1) * size); ++at) {
            in_quotes ^= text[at] == '"';
            if (text[at] != '\n' || in_quotes) continue;
            parts.push_back(text.substr(begin, at + 1 - begin));
            begin = at + 1;
            break;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

// Whether a field may begin or end with a blank, which is rare.
Blanks blanks_in(std::string_view text, char delimiter) {
    const auto is_edge = [&](std::size_t i) {
        return i >= text.size() || text[i] == delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    };
    for (const char blank : {' ', '\t'}) {
        if (blank == delimiter) continue;
        for (auto at = text.find(blank); at != std::string_view::npos; at = text.find(blank, at + 1)) {
            if (at == 0 || is_edge(at - 1) || is_edge(at + 1)) return Blanks::Some;
        }
    }
    return Blanks::None;
}

// Columns of a part of a file.
class PartReader {
  public:
    PartReader(const std::vector<std::string>& names, const CsvForm& form, std::string_view text)
        : names_(names), form_(form), text_(text) {}

    void read(const CsvColumns& columns) { rows_.emplace(parsed(columns, std::vector<Cells>(columns.size()))); }
    // The cells of columns that have turned out to be text. Pre: read() found no fault.
    [[nodiscard]] std::vector<Cells> texts(const CsvColumns& positions) {
        return std::move(parsed(positions, std::vector(positions.size(), Cells(Cells::Kind::Texts))).cells());
    }
    [[nodiscard]] CsvRows& rows() { return *rows_; }
    [[nodiscard]] const std::optional<CsvFault>& fault() const { return fault_; }

  private:
    CsvRows parsed(const CsvColumns& positions, std::vector<Cells> cells) {
        CsvRows rows(names_, positions, cells, form_.null);
        try {
            if (CsvScanner(rows, text_, form_.delimiter).run()) return rows;
        } catch (const CsvFault& fault) {
            fault_ = fault;
            return rows;
        }
        rows = CsvRows(names_, positions, std::move(cells), form_.null);
        CsvParser<CsvRows> parser(rows, form_.delimiter, blanks_in(text_, form_.delimiter));
        try {
            parser.parse(text_);
            parser.finish();
        } catch (const CsvFault& fault) {
            fault_ = fault;
        }
        return rows;
    }

    const std::vector<std::string>& names_;
    const CsvForm& form_;
    std::string_view text_;
    std::optional<CsvRows> rows_;
    std::optional<CsvFault> fault_;
};

// The number of lines before each part. Throws the first fault in the file, if there is one.
std::vector<std::uint64_t> checked_lines(std::span<PartReader> parts, const std::string& path, std::uint64_t line) {
    std::vector<std::uint64_t> lines;
    std::optional<std::uint64_t> blank;
    for (auto& part : parts) {
        lines.push_back(line - 1);
        const auto& rows = part.rows();
        if (blank && (rows.rows() > 0 || part.fault())) refuse(path, *blank, {1, "is blank"});
        if (part.fault()) refuse(path, line, *part.fault());
        if (rows.blank() && !blank) blank = line - 1 + *rows.blank();
        line += rows.line() - 1;
    }
    return lines;
}

std::vector<std::string> paths_of(const std::string& path) {
    if (!is_pattern(path)) return {path};
    glob_t found{};
    const auto status = glob(path.c_str(), 0, nullptr, &found);
    std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    if (status == GLOB_NOSPACE) throw std::bad_alloc();
    if (paths.empty()) throw InvalidArgument("no file has a name like " + in_quotes(path));
    return paths;
}

}  // namespace

bool is_pattern(const std::string& path) {
    return path.find_first_of("*?[") != std::string::npos && access(path.c_str(), F_OK) != 0;
}

CsvFile::CsvFile(const std::string& path, CsvForm form) : form_(std::move(form)) {
    for (const auto& one : paths_of(path)) {
        pieces_.push_back({.path = one, .bytes = read_unpacked(one)});
        auto names = open(pieces_.back());
        if (pieces_.size() > 1 && names != names_.written)
            throw InvalidArgument(in_quotes(one) + " has other columns than " + in_quotes(pieces_[0].path));
        if (pieces_.size() == 1) names_ = with_unique(std::move(names));
    }
}

std::vector<std::string> CsvFile::open(Piece& piece) {
    const auto text = piece.text();
    const auto mark = piece.data = length_of_mark(piece.path, text);
    require_text(piece.path, text);
    if (form_.delimiter == '\0') form_.delimiter = delimiter_of(text.substr(mark));
    HeaderReader header(piece.path, form_.delimiter);
    piece.data += header.read(text.substr(mark));
    if (header.ends_with_cr() && text.substr(piece.data).starts_with('\n')) ++piece.data;
    auto names = header.names();
    piece.line = header.next_line();
    if (form_.has_names) return names;
    piece.line = 1;
    piece.data = mark;
    return numbered(names.size());
}

CsvTable CsvFile::table(const CsvColumns& columns, unsigned threads) const {
    Workers workers(threads);
    std::vector<PartReader> parts;
    std::vector<const Piece*> of;  // the piece of each part
    for (const auto& piece : pieces_) {
        for (const auto part : parts_of(piece.text().substr(piece.data), workers)) {
            parts.emplace_back(names_.written, form_, part);
            of.push_back(&piece);
        }
    }
    workers.for_each(parts.size(), [&](std::size_t i) { parts[i].read(columns); });
    std::vector<std::uint64_t> lines;
    for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
        while (end < parts.size() && of[end] == of[begin]) ++end;
        const auto more = checked_lines(std::span(parts).subspan(begin, end - begin), of[begin]->path, of[begin]->line);
        lines.insert(lines.end(), more.begin(), more.end());
    }

    std::vector<std::vector<Cells>> cells(columns.size());
    std::vector<std::vector<std::size_t>> again(parts.size());  // indices of these columns
    for (std::size_t i = 0; i < columns.size(); ++i) {
        for (auto& part : parts) cells[i].push_back(std::move(part.rows().cells()[i]));
        const auto kind = Cells::common_kind(cells[i]);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            if (kind == Cells::Kind::Texts && cells[i][k].forgets_texts()) again[k].push_back(i);
            if (kind != Cells::Kind::Floats) continue;
            if (const auto fault = rounding(cells[i][k], names_.written[columns[i]]))
                refuse(of[k]->path, lines[k] + 1, *fault);
        }
    }
    workers.for_each(parts.size(), [&](std::size_t k) {
        if (again[k].empty()) return;
        CsvColumns positions;
        for (const auto i : again[k]) positions.push_back(columns[i]);
        auto texts = parts[k].texts(positions);
        for (std::size_t j = 0; j < texts.size(); ++j) {
            auto& old = cells[again[k][j]][k];
            texts[j].keep_mark(old);
            old = std::move(texts[j]);
        }
    });
    return table_of(names_, columns, cells, lines, Widths::Narrow);
}

// Collects rows as they arrive and makes a table whenever there are enough.
class BatchRows {
  public:
    BatchRows(ColumnNames names, CsvColumns columns, std::uint64_t batch, std::uint64_t first_line,
              const std::string& null)
        : names_(std::move(names)),
          columns_(std::move(columns)),
          batch_(batch),
          first_line_(first_line),
          kinds_(columns_.size(), Cells::Kind::Nothing),
          rows_(names_.written, columns_, fresh(), null) {}

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
        for (const auto kind : kinds_) cells.emplace_back(kind == Cells::Kind::Nothing ? Cells::Kind::Texts : kind);
        return cells;
    }
    void finish_batch() {
        std::vector<std::vector<Cells>> parts;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            auto& cells = rows_.cells()[i];
            if (kinds_[i] == Cells::Kind::Nothing) cells = cells.narrowed(lines_);
            kinds_[i] = cells.kind();
            const auto fault = rounding(cells, names_.written[columns_[i]]);
            if (fault && kinds_[i] == Cells::Kind::Floats) throw CsvFault(*fault);
            parts.push_back({std::move(cells)});
        }
        tables_.push_back(table_of(names_, columns_, parts, {first_line_ - 1}, Widths::Wide));
        any_ = true;
        rows_.restart(fresh());
        lines_.clear();
    }

    ColumnNames names_;
    CsvColumns columns_;
    std::uint64_t batch_, first_line_;
    std::vector<Cells::Kind> kinds_;
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
        parser->parse(input.text());
        input.drop(input.text().size());
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
        state.rows.emplace(state.names, columns, rows, state.line, state.form.null);
        state.parser.emplace(*state.rows, state.form.delimiter, CsvParser<BatchRows>::Blanks::Some);
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

Table filled(const CsvTable& from, const std::vector<std::string>& texts) {
    auto table = from.table;
    const std::unordered_set<std::string> of_text(texts.begin(), texts.end());
    for (const auto& name : from.empty) {
        std::vector<bool> valid(from.rows, false);
        if (of_text.contains(name)) {
            table.add(name, std::vector<std::string>(from.rows), std::move(valid));
        } else {
            table.add(name, std::vector<std::int32_t>(from.rows), std::move(valid));
        }
    }
    return table;
}

}  // namespace quadmill::detail::input
