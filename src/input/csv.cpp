#include "input/csv.hpp"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "files/files.hpp"
#include "input/csv_scan.hpp"
#include "input/csv_table.hpp"
#include "input/text.hpp"
#include "input/unpack.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

using cpu::Workers;

std::uint64_t lines_in(std::string_view text) {
    const auto feeds = std::count(text.begin(), text.end(), '\n');
    return static_cast<std::uint64_t>(feeds > 0 ? feeds : 1);
}

// The end of the line that begins there.
std::size_t line_end(std::string_view text, std::size_t begin) {
    const auto end = text.find('\n', begin);
    return end == std::string_view::npos ? text.size() : end + 1;
}

std::optional<std::size_t> comment_end(std::string_view text, std::size_t begin, const std::string& comment) {
    if (comment.empty() || !text.substr(begin).starts_with(comment)) return {};
    return line_end(text, begin);
}

// Where a row ends, after its line end, also if it is bad: only a quote at the beginning of a field hides line ends.
std::size_t row_end(std::string_view text, std::size_t begin, char delimiter) {
    bool begins = true, inside = false;
    for (auto at = begin; at < text.size(); ++at) {
        const char c = text[at];
        if (inside) {
            inside = c != '"';
        } else if (c == '\n' || c == '\r') {
            return at + (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1);
        } else if (c == '"' && (begins || text[at - 1] == '"')) {
            inside = true;
        }
        begins = !inside && c == delimiter;
    }
    return text.size();
}

// Where a line feed ends the last whole row of a text that begins with a row, or npos. It is outside of quotes if the
// number of quotes before it is even. If quotes are wrong, the parser stops before that matters.
std::size_t last_row_end(std::string_view text) {
    bool inside = std::count(text.begin(), text.end(), '"') % 2 != 0;
    for (auto at = text.size(); at-- > 0;) {
        inside ^= text[at] == '"';
        if (text[at] == '\n' && !inside) return at + 1;
    }
    return std::string_view::npos;
}

}  // namespace

// One of the files.
class CsvFile::Piece {
  public:
    explicit Piece(const std::string& path) : path_(path) {
        std::vector<char> memory;
        if (path != "-" && files::is_regular(path)) {
            file_.emplace(path);
            if (!is_packed(text(0, packed_head, memory))) return;
            file_.reset();
        }
        bytes_ = read_unpacked(path);
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    // At most `size` bytes; fewer at the end. `memory` holds them if they are not in memory.
    [[nodiscard]] std::string_view text(std::uint64_t offset, std::size_t size, std::vector<char>& memory) const {
        if (!file_) {
            const std::string_view all(bytes_.as<const char>().data(), bytes_.size());
            return all.substr(std::min<std::uint64_t>(offset, all.size()), size);
        }
        const auto known = file_->size().value_or(0);  // 0 also for a file that the system makes while it is read
        memory.resize(known == 0 ? size : std::min<std::uint64_t>(size, known - std::min(known, offset)));
        const auto got = files::read_at(file_->descriptor(), std::as_writable_bytes(std::span(memory)), offset);
        if (got.error != 0)
            throw IoError(file_->name() + " cannot be read: " + files::reason_of(got.error), path_, offset + got.bytes);
        return {memory.data(), got.bytes};
    }

    std::uint64_t data = 0;  // offset of the first row
    std::uint64_t line = 1;  // its line

  private:
    static constexpr std::size_t packed_head = 64;
    std::string path_;
    std::optional<files::InputFile> file_;  // read in blocks
    files::Bytes bytes_;
};

namespace {

using Piece = CsvFile::Piece;

// A part of a file, of whole rows.
struct Block {
    const Piece* piece = nullptr;
    std::uint64_t offset = 0;
    std::size_t size = 0;
};

// Columns of a block.
class BlockReader {
  public:
    BlockReader(const std::vector<std::string>& names, const CsvForm& form, const Block& block)
        : names_(names), form_(form), block_(block) {}

    // `ends`: whether the text ends with the file. Otherwise its last rows may be left to the next block.
    void read(const CsvColumns& columns, std::vector<Cells> cells, std::string_view text, bool ends) {
        rows_.emplace(parsed(columns, std::move(cells), text, ends));
    }
    // The cells of columns that have turned out to be text. Pre: read() found no fault.
    [[nodiscard]] std::vector<Cells> texts(const CsvColumns& positions, std::vector<Cells> cells) {
        std::vector<char> memory;
        auto rows = parsed(positions, std::move(cells), block_.piece->text(block_.offset, block_.size, memory), true);
        if (rows.rows() != rows_->rows() || fault_)
            throw IoError(files::input_name(block_.piece->path()) + " changed while it was read", block_.piece->path(),
                          block_.offset);
        return std::move(rows.cells());
    }
    [[nodiscard]] CsvRows& rows() { return *rows_; }
    [[nodiscard]] const std::optional<CsvFault>& fault() const { return fault_; }
    [[nodiscard]] const Block& block() const { return block_; }
    [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
    [[nodiscard]] const std::optional<CsvFault>& first_skipped() const { return first_skipped_; }

  private:
    CsvRows parsed(const CsvColumns& positions, const std::vector<Cells>& cells, std::string_view text, bool ends) {
        const auto fresh = [&] {
            CsvRows rows(names_, positions, cells, form_.null);
            if (form_.is_ragged) rows.be_ragged();
            return rows;
        };
        auto rows = fresh();
        try {
            if (form_.is_careful()) {
                one_by_one(rows, text, ends);
            } else if (!CsvScanner(rows, text, form_.delimiter).run()) {
                rows = fresh();
                parse(rows, text);
            }
        } catch (const CsvFault& fault) {
            fault_ = fault;
        }
        return rows;
    }
    template <class Sink>
    void parse(Sink& sink, std::string_view text) const {
        CsvParser<Sink> parser(sink, form_.delimiter);
        parser.parse(text);
        parser.finish();
    }
    // What reaches the end of the text may be longer, unless the file ends there: it is left to the next block.
    void one_by_one(CsvRows& rows, std::string_view text, bool ends) {
        skipped_ = 0;
        std::uint64_t line = 1;
        std::size_t begin = 0, feed = 0;
        // Searches each byte once, also if lines end with CR.
        const auto end_of_line = [&] { return feed = feed > begin ? feed : line_end(text, begin); };
        for (auto end = begin; begin < text.size(); begin = end) {
            rows.at_line(line);
            const bool is_comment = !form_.comment.empty() && text.substr(begin).starts_with(form_.comment);
            end = is_comment ? end_of_line() : row_end(text, begin, form_.delimiter);
            if (!ends && std::max(end, end_of_line()) == text.size()) break;
            if (!is_comment && !take_row(rows, text.substr(begin, end - begin))) end = end_of_line();
            line += lines_in(text.substr(begin, end - begin));
        }
        rows.at_line(line);
        block_.size = begin;
    }
    // False if quotes were wrong, so that the row may end elsewhere.
    [[nodiscard]] bool take_row(CsvRows& rows, std::string_view text) {
        bool parsed = false;
        try {
            CsvRow row{rows.line()};
            parse(row, text);
            parsed = true;
            if (row.fields > 0 || form_.skips_bad) rows.check_fields(row.fields);  // before anything is kept
            parse(rows, text);
        } catch (const CsvFault& fault) {
            if (!form_.skips_bad) throw;
            rows.drop_unfinished();
            if (skipped_++ == 0) first_skipped_ = fault;
        }
        return parsed;
    }

    const std::vector<std::string>& names_;
    const CsvForm& form_;
    Block block_;
    std::optional<CsvRows> rows_;
    std::optional<CsvFault> fault_, first_skipped_;
    std::uint64_t skipped_ = 0;
};

// Cuts files into blocks of whole rows, for several threads.
class Blocks {
  public:
    Blocks(const std::deque<Piece>& pieces, bool careful)
        : pieces_(pieces), careful_(careful), next_(pieces.front().data) {}

    struct Next {
        Block block{};
        std::string_view text{};
        bool ends = false;  // whether it is the last one of its file
    };
    // The next block of about that size, or nothing at the end. A file without rows has an empty one. If blocks are
    // careful, it may end within a row.
    std::optional<Next> next(std::vector<char>& memory, std::size_t size = std::size_t{1} << 21U) const {
        if (piece_ == pieces_.size()) return {};
        const auto& piece = pieces_[piece_];
        for (;; size *= 2) {
            const auto text = piece.text(next_, size, memory);
            const bool ends = text.size() < size;
            const auto end = ends || careful_ ? text.size() : last_row_end(text);
            if (end != std::string_view::npos) return Next{{&piece, next_, end}, text.substr(0, end), ends};
        }
    }
    // Goes on after a block.
    void pass(const Block& block, bool ends) {
        next_ += block.size;
        if (ends && ++piece_ < pieces_.size()) next_ = pieces_[piece_].data;
    }

  private:
    const std::deque<Piece>& pieces_;
    bool careful_;
    std::size_t piece_ = 0;
    std::uint64_t next_;
};

// Counts the lines of parts that follow each other.
class LineCount {
  public:
    // The number of lines before each of the next parts. Throws their first fault, if there is one.
    std::vector<std::uint64_t> checked(std::deque<BlockReader>& parts) {
        std::vector<std::uint64_t> lines;
        for (auto& part : parts) {
            if (std::exchange(piece_, part.block().piece) != part.block().piece) {
                line_ = piece_->line;
                blank_.reset();
            }
            const auto& path = piece_->path();
            lines.push_back(line_ - 1);
            const auto& rows = part.rows();
            if (blank_ && (rows.rows() > 0 || part.fault())) refuse(path, *blank_, {1, "is blank"});
            if (part.fault()) refuse(path, line_, *part.fault());
            if (rows.blank() && !blank_) blank_ = line_ - 1 + *rows.blank();
            line_ += rows.line() - 1;
        }
        return lines;
    }

  private:
    const Piece* piece_ = nullptr;
    std::uint64_t line_ = 1;
    std::optional<std::uint64_t> blank_{};  // the line of the first blank one at the end so far
};

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
    std::vector<std::string> all;
    for (const auto& one : paths_of(path)) {
        auto names = open(pieces_.emplace_back(one));
        if (pieces_.size() > 1 && names != all)
            throw InvalidArgument(in_quotes(one) + " has other columns than " + in_quotes(pieces_[0].path()));
        all = std::move(names);
    }
    in_file_ = all;
    if (is_pattern(path)) all.emplace_back("file");
    names_ = with_unique(std::move(all));
}

CsvFile::~CsvFile() = default;

std::vector<std::string> CsvFile::open(Piece& piece) {
    std::vector<char> memory;
    const auto given = form_.delimiter;
    for (std::size_t size = std::size_t{1} << 16U;; size *= 4) {
        const auto text = piece.text(0, size, memory);
        const auto mark = length_of_mark(piece.path(), text);
        require_text(piece.path(), text);
        auto begin = mark;
        piece.line = 1;
        while (const auto end = comment_end(text, begin, form_.comment)) {
            begin = *end;
            ++piece.line;
        }
        if (form_.delimiter == '\0') form_.delimiter = delimiter_of(text.substr(begin));
        HeaderReader header(piece.path(), form_.delimiter);
        piece.data = begin + header.read(text.substr(begin));
        if (text.size() == size && piece.data + 1 >= size) {
            form_.delimiter = given;
            continue;
        }
        if (header.ends_with_cr() && text.substr(piece.data).starts_with('\n')) ++piece.data;
        auto names = header.names();
        if (form_.has_names) {
            piece.line += header.next_line() - 1;
            return names;
        }
        piece.data = begin;
        return numbered(names.size());
    }
}

// Columns of all rows, or of some blocks of them.
class CsvFile::Columns {
  public:
    // Cells begin with these kinds.
    Columns(const CsvFile& file, const CsvColumns& columns, unsigned threads, const std::set<std::size_t>& printed,
            CsvKinds& kinds)
        : file_(file), columns_(columns), workers_(threads), printed_(printed), kinds_(kinds), wanted_(columns) {
        // The column with the file's path is not in the file.
        if (!wanted_.empty() && wanted_.back() == file.in_file_.size()) wanted_.pop_back();
        for (std::size_t i = 0; i < file.in_file_.size() && file.form_.skips_bad; ++i) {
            if (file.form_.types.contains(file.names_.unique[i]) && std::ranges::find(wanted_, i) == wanted_.end())
                checked_.push_back(i);
        }
    }

    [[nodiscard]] CsvTable table(Blocks& blocks) {
        read(blocks, std::numeric_limits<std::size_t>::max());
        auto cells = cells_of_parts();
        if (const auto& before = file_.form_.before_bytes)
            before(shared_->size() * query::SharedTexts::dictionary_bytes);
        return table(cells, seen_in(cells), Widths::Narrow);
    }
    // As CsvFile::parts().
    [[nodiscard]] bool parts(Blocks& blocks, const std::function<bool(const CsvTable&)>& take);

  private:
    enum class Values { Kept, Dropped };

    // Reads at most that many blocks. Returns whether there was one.
    bool read(Blocks& blocks, std::size_t most) {
        parts_.clear();
        shared_.emplace();
        workers_.for_each(workers_.threads(), [&](std::size_t /*thread*/) { read_blocks(blocks, most); });
        lines_ = count_.checked(parts_);
        return !parts_.empty();
    }
    // Makes a table of what was read, and consumes it.
    [[nodiscard]] CsvTable table(std::vector<std::vector<Cells>>& cells, const std::vector<Cells::Seen>& seen,
                                 Widths widths);
    [[nodiscard]] bool widen_kinds(const std::vector<Cells::Seen>& seen);
    void read_blocks(Blocks& blocks, std::size_t most);
    void add_checked(CsvColumns& columns, std::vector<Cells>& cells, const CsvColumns& of) const;
    [[nodiscard]] Cells cells_of(std::size_t column, Cells::Kind kind) const;
    [[nodiscard]] std::vector<std::vector<Cells>> cells_of_parts();
    [[nodiscard]] std::vector<Cells::Seen> seen_in(const std::vector<std::vector<Cells>>& cells);
    void read_texts_again(std::vector<std::vector<Cells>>& cells, const std::vector<std::vector<std::size_t>>& again);
    void count_skipped(CsvTable& table) const;

    const CsvFile& file_;
    const CsvColumns& columns_;
    Workers workers_;
    const std::set<std::size_t>& printed_;
    CsvKinds& kinds_;
    CsvColumns wanted_, checked_;  // checked: further ones, whose values decide which rows are bad
    Values values_ = Values::Kept;
    std::deque<BlockReader> parts_;
    LineCount count_;
    std::vector<std::uint64_t> lines_{};  // before each part
    std::mutex mutex_;
    std::atomic<bool> faulty_ = false;
    std::atomic<std::size_t> expected_ = 0;  // rows of a block
    std::optional<query::SharedTexts> shared_;
};

Cells CsvFile::Columns::cells_of(std::size_t column, Cells::Kind kind) const {
    const auto& name = file_.names_.unique[column];
    const auto& types = file_.form_.types;
    const auto type = types.find(name);
    if (type != types.end() && kind == Cells::Kind::Nothing) kind = type->second;
    Cells cells(kind, printed_.contains(column) ? Cells::Texts::Printed : Cells::Texts::Numbered);
    cells.expect(expected_);
    if (type != types.end()) cells.be_given();
    const auto known = kinds_.find(name);
    if (known != kinds_.end() && kind == Cells::Kind::Nothing) cells.begin_as(known->second.kind);
    return cells;
}

// Adds those of the columns with given types that decide which rows are bad.
void CsvFile::Columns::add_checked(CsvColumns& columns, std::vector<Cells>& cells, const CsvColumns& of) const {
    for (const auto column : of) {
        const bool is_given = file_.form_.skips_bad && file_.form_.types.contains(file_.names_.unique[column]);
        if (!is_given || std::ranges::find(columns, column) != columns.end()) continue;
        columns.push_back(column);
        cells.push_back(cells_of(column, Cells::Kind::Nothing));
    }
}

void CsvFile::Columns::read_blocks(Blocks& blocks, std::size_t most) {
    std::vector<char> memory;
    while (!faulty_) {
        std::unique_lock lock(mutex_);
        if (parts_.size() >= most) return;
        auto next = blocks.next(memory);
        if (!next) return;
        auto& reader = parts_.emplace_back(file_.in_file_, file_.form_, next->block);
        const auto read = [&] {
            std::vector<Cells> cells;
            auto columns = wanted_;
            for (const auto column : wanted_) cells.push_back(cells_of(column, Cells::Kind::Nothing));
            add_checked(columns, cells, checked_);
            reader.read(columns, std::move(cells), next->text, next->ends);
            reader.rows().cells().resize(wanted_.size());
        };
        // Only reading finds where a careful block ends.
        const bool careful = file_.form_.is_careful();
        if (careful) read();
        for (; reader.block().size == 0 && !next->ends; read()) next = blocks.next(memory, 2 * next->text.size());
        blocks.pass(reader.block(), next->ends);
        lock.unlock();
        if (!careful) read();
        for (auto& one : reader.rows().cells()) values_ == Values::Kept ? one.pack(*shared_) : one.drop_values();
        if (reader.fault()) faulty_ = true;
        if (values_ == Values::Kept && file_.form_.before_bytes) file_.form_.before_bytes(0);
        expected_ = std::max<std::size_t>(expected_, reader.rows().rows() + reader.rows().rows() / 16);
    }
}

// The cells of all parts, for each column.
std::vector<std::vector<Cells>> CsvFile::Columns::cells_of_parts() {
    const auto path_cells = [&](BlockReader& part, std::size_t column) {
        auto paths = cells_of(column, Cells::Kind::Texts);
        for (std::uint64_t i = 0; i < part.rows().rows() && values_ == Values::Kept; ++i)
            static_cast<void>(paths.add(part.block().piece->path(), 0));
        return paths;
    };
    std::vector<std::vector<Cells>> cells(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        for (auto& part : parts_)
            cells[i].push_back(i < wanted_.size() ? std::move(part.rows().cells()[i]) : path_cells(part, columns_[i]));
    }
    return cells;
}

// What is known of each column: of these cells, and of what was read before.
std::vector<Cells::Seen> CsvFile::Columns::seen_in(const std::vector<std::vector<Cells>>& cells) {
    std::vector<Cells::Seen> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        auto& known = all.emplace_back(kinds_[file_.names_.unique[columns_[i]]]);
        for (std::size_t k = 0; k < cells[i].size(); ++k) known.add(cells[i][k].seen(), lines_[k]);
    }
    return all;
}

void CsvFile::Columns::read_texts_again(std::vector<std::vector<Cells>>& cells,
                                        const std::vector<std::vector<std::size_t>>& again) {
    workers_.for_each(parts_.size(), [&](std::size_t k) {
        if (again[k].empty()) return;
        CsvColumns positions;
        std::vector<Cells> fresh;
        for (const auto i : again[k]) {
            positions.push_back(columns_[i]);
            fresh.push_back(cells_of(columns_[i], Cells::Kind::Texts));
        }
        add_checked(positions, fresh, wanted_);
        add_checked(positions, fresh, checked_);
        auto texts = parts_[k].texts(positions, std::move(fresh));
        for (std::size_t j = 0; j < again[k].size(); ++j) {
            auto& old = cells[again[k][j]][k];
            texts[j].keep(old.seen());
            texts[j].pack(*shared_);
            old = std::move(texts[j]);
        }
    });
}

void CsvFile::Columns::count_skipped(CsvTable& table) const {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        if (const auto& first = parts_[k].first_skipped(); table.skipped == 0 && first)
            table.first_skipped = line_of(parts_[k].block().piece->path(), lines_[k] + first->line) + first->what;
        table.skipped += parts_[k].skipped();
    }
}

CsvTable CsvFile::Columns::table(std::vector<std::vector<Cells>>& cells, const std::vector<Cells::Seen>& seen,
                                 Widths widths) {
    std::vector<std::vector<std::size_t>> again(parts_.size());  // indices of these columns
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            if (seen[i].column() == Cells::Kind::Texts && cells[i][k].forgets_texts()) again[k].push_back(i);
        }
    }
    read_texts_again(cells, again);
    auto made = table_of(file_.names_, columns_, cells, seen, widths, *shared_, workers_);
    count_skipped(made);
    return made;
}

// Keeps what is known. False if columns of earlier parts had another kind.
bool CsvFile::Columns::widen_kinds(const std::vector<Cells::Seen>& seen) {
    bool same = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto before = std::exchange(kinds_[file_.names_.unique[columns_[i]]], seen[i]).column();
        same = same && (before == Cells::Kind::Nothing || before == seen[i].column());
    }
    return same;
}

bool CsvFile::Columns::parts(Blocks& blocks, const std::function<bool(const CsvTable&)>& take) {
    bool same = true;
    std::exception_ptr fault;
    while (read(blocks, workers_.threads())) {
        auto cells = cells_of_parts();
        const auto seen = seen_in(cells);
        same = widen_kinds(seen) && same;
        if (!same) values_ = Values::Dropped;
        if (values_ == Values::Dropped) continue;
        const auto some = table(cells, seen, Widths::Wide);
        parts_.clear();
        try {
            if (!take(some)) return true;
        } catch (const std::exception&) {
            fault = std::current_exception();
            values_ = Values::Dropped;  // the rest is read for its kinds
        }
    }
    if (same && fault) std::rethrow_exception(fault);
    return same;
}

CsvTable CsvFile::table(const CsvColumns& columns, unsigned threads, const std::set<std::size_t>& printed) const {
    Blocks blocks(pieces_, form_.is_careful());
    CsvKinds kinds;
    return Columns(*this, columns, threads, printed, kinds).table(blocks);
}

bool CsvFile::parts(const CsvColumns& columns, unsigned threads, const std::set<std::size_t>& printed, CsvKinds& kinds,
                    const std::function<bool(const CsvTable&)>& take) const {
    Blocks blocks(pieces_, form_.is_careful());
    return Columns(*this, columns, threads, printed, kinds).parts(blocks, take);
}

}  // namespace quadmill::detail::input
