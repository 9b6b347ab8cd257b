#include "input/stream_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cpu/keys.hpp"
#include "input/csv_table.hpp"
#include "input/enum_words.hpp"
#include "input/npy.hpp"
#include "input/unpack.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

StreamInput::StreamInput(const Share& share)
    : file_(share.path), begin_(share.begin), left_(share.end - share.begin), to_end_(share.end == Share{}.end) {
    if (share.begin > 0 && lseek(file_.descriptor(), static_cast<off_t>(share.begin), SEEK_SET) < 0)
        throw IoError("cannot read " + file_.name() + " from byte " + std::to_string(share.begin) + " on", share.path,
                      share.begin);
    // Makes the pipe as large as a read, which is twice as fast. For anything but a pipe this fails, which is harmless.
    static_cast<void>(fcntl(file_.descriptor(), F_SETPIPE_SZ, static_cast<int>(capacity)));
}

bool StreamInput::more() {
    if (ended_) return false;
    while (!interrupt_.wait_for(file_.descriptor(), while_waiting_())) continue;
    if (interrupt_.came()) return false;
    try {
        const auto got = file_.read({memory_.get() + size_, std::min<std::uint64_t>(capacity - size_, left_)});
        size_ += got;
        left_ -= got;
        ended_ = got == 0;
    } catch (const IoError& error) {
        throw BadInput(error.what());
    }
    return !ended_;
}

void StreamInput::drop(std::size_t used) {
    std::copy(memory_.get() + used, memory_.get() + size_, memory_.get());
    size_ -= used;
}

void refuse_other_forms(const Look& look, Form form, const std::string& name, const std::string& what,
                        const std::string& for_text) {
    if (look.kind == Look::Kind::Format) {
        const auto& [format, to_values, to_text] = look.format;
        const std::string advice = to_values.empty() ? "" : "; " + std::string(to_values);
        if (form == Form::Text)
            throw InvalidArgument(fmt::format("{} looks like {}, not like lines of numbers{}", name, format, advice));
        throw InvalidArgument(
            fmt::format("{} looks like {}, not like raw {}s{}; --raw reads it as it is", name, format, what, advice));
    }
    if (look.kind == Look::Kind::Text && form != Form::Text)
        throw InvalidArgument(fmt::format(
            "{} looks like text, not like raw {}s; should it be {}? (--raw reads it as it is)", name, what, for_text));
}

void refuse_other_forms(StreamInput& input, Form form, const std::string& what, const char* csv_option) {
    if (form == Form::Raw) return;
    // Text is read line by line and must not wait until there is enough of it to be recognized as text.
    const auto look_at_head = form == Form::Text ? look_for_format : look_at;
    auto look = look_at_head(input.text(), Head::AndMore);
    while (look.kind == Look::Kind::Unsure) {
        const auto head = input.more() ? Head::AndMore : Head::IsAll;
        look = look_at_head(input.text(), head);
    }
    if (form == Form::Unsaid && is_npy(input.text())) return;
    if (form == Form::Text && !input.is_part() && is_packed(input.text())) return;
    const auto line = input.text().substr(0, input.text().find_first_of("\r\n"));
    const bool is_csv = csv_option != nullptr && line.find_first_of(",;\t|") != std::string_view::npos;
    const auto for_text = is_csv ? std::string(csv_option) + " for CSV, or --text" : "--text";
    refuse_other_forms(look, form, input.file().name(), what, for_text);
}

namespace {

// What comes before the rows of CSV: a byte order mark, lines to skip, and the line of names.
class ColumnHead {
  public:
    ColumnHead(const std::string& path, char delimiter, std::uint64_t header)
        : path_(path), delimiter_(delimiter), header_(header) {}

    // Takes it from the text. Returns whether rows begin there; otherwise the rest must come again, with more.
    [[nodiscard]] bool take(std::string_view& text, const TextPart& part) {
        const bool is_all = part.full || part.is_last;
        constexpr std::size_t longest_mark = 3;
        if (begins_ && text.size() < longest_mark && !is_all) return false;
        if (std::exchange(begins_, false)) text.remove_prefix(length_of_mark(path_, text));
        for (; line_ < header_ && !text.empty(); ++line_) {
            const auto end = text.find('\n');
            if (end == std::string_view::npos && !part.is_last) {
                if (is_all) text = {};
                return false;
            }
            text.remove_prefix(std::min(end, text.size() - 1) + 1);
        }
        if (delimiter_ == '\0' && text.find_first_of("\r\n") == std::string_view::npos && !is_all) return false;
        if (delimiter_ == '\0') delimiter_ = delimiter_of(text);
        return header_ > 0 ? take_names(text, part) : count_columns(text, part);
    }
    [[nodiscard]] char delimiter() const { return delimiter_; }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] std::uint64_t line() const { return line_; }
    // Drops the line feed after a carriage return that ended the line of names.
    void drop_line_feed(std::string_view& text) {
        if (text.empty() || !std::exchange(ends_with_cr_, false)) return;
        if (text.front() == '\n') text.remove_prefix(1);
    }

  private:
    bool take_names(std::string_view& text, const TextPart& part) {
        if (!reader_) reader_.emplace(path_, delimiter_, line_);
        text.remove_prefix(reader_->read(text));
        if (!reader_->complete() && !part.is_last) return false;
        names_ = reader_->names();
        line_ += reader_->next_line() - 1;
        ends_with_cr_ = reader_->ends_with_cr();
        return true;
    }
    bool count_columns(std::string_view text, const TextPart& part) {
        HeaderReader first(path_, delimiter_);
        static_cast<void>(first.read(text));
        if (text.empty() || (!first.complete() && !part.is_last && !part.full)) return false;
        if (!first.complete() && part.full) throw BadInput(line_of(path_, 1) + "is too long");
        names_ = numbered(first.names().size());
        return true;
    }

    std::string path_;
    char delimiter_;
    std::uint64_t header_, line_ = 1;
    bool begins_ = true, ends_with_cr_ = false;
    std::optional<HeaderReader> reader_;
    std::vector<std::string> names_;
};

// The rows of CSV, of which one column is read, or two. The rules are those of CsvRows.
class ColumnRows {
  public:
    ColumnRows(const std::string& path, const Column& column, const LineOptions& options, Skipped& skipped,
               const ParseField& parse)
        : path_(path), column_(column), options_(options), skipped_(skipped), parse_(parse) {}

    void begin(const ColumnHead& head) {
        names_ = head.names();
        lines_.go_to(head.line());
        row_line_ = line();
        index_ = index_of(column_.which);
        if (!column_.by.empty()) by_ = index_of(column_.by);
    }
    void field(std::optional<std::string_view> field) {
        plain_field(field.value_or(""));
        if (field) lines_.pass(*field);
    }
    void plain_field(std::string_view field) {
        if (field_ == index_) value_ = field;
        if (field_ == by_) group_ = field;
        ++field_;
    }
    void line_end() {
        if (field_ == 0 && names_.size() > 1) {
            if (blank_ == 0) blank_ = row_line_;
        } else {
            take_row();
        }
        lines_.pass_end();
        row_line_ = line();
        field_ = 0;
        value_.clear();
        group_.clear();
    }
    [[nodiscard]] std::uint64_t line() const { return lines_.line(); }

  private:
    // Blank lines are only allowed at the end.
    void take_row() {
        if (blank_ > 0) refuse(line_of(path_, std::exchange(blank_, 0)) + "is blank");
        if (field_ != names_.size() && field_ > 0)
            return refuse(line_of(path_, row_line_) + wrong_fields(row_line_, field_, names_).what);
        const auto word = without_blanks(value_);
        if (word.empty()) {
            ++skipped_.empty;
        } else if (const auto [why, of_second] = parse_(column_.is_text ? value_ : word, group_); why) {
            refuse(line_of(path_, row_line_) + in_quotes(of_second ? group_ : word) + " " + why, why);
        }
    }
    void refuse(const std::string& fault, Fault why = nullptr) {
        if (options_.bad == LineOptions::Bad::Refuse) throw BadInput(fault, why);
        if (skipped_.lines++ == 0) skipped_.first = fault;
    }
    // A name with the same case goes before one with another case.
    [[nodiscard]] std::size_t index_of(const std::string& which) const {
        std::vector<std::size_t> exact, all;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (names_[i] == which) exact.push_back(i);
            if (query::same_but_for_case(names_[i], which)) all.push_back(i);
        }
        const auto& found = exact.empty() ? all : exact;
        const auto name = files::input_name(path_);
        if (found.size() > 1)
            throw InvalidArgument(
                fmt::format("{}: several columns are called {}; give its number", name, in_quotes(which)));
        if (found.size() == 1) return found.front();
        std::uint64_t number = 0;
        if (parse_number(which, number) == nullptr && number > 0 && number <= names_.size())
            return static_cast<std::size_t>(number - 1);
        if (options_.header == 0)
            throw InvalidArgument(
                fmt::format("{}: there is no column {}: without a header, columns are called by their number, 1 to {}",
                            name, in_quotes(which), names_.size()));
        std::string list;
        for (const auto& one : names_) list += (list.empty() ? "" : ", ") + in_quotes(one);
        throw InvalidArgument(
            fmt::format("{}: there is no column {}; line {} has {}", name, in_quotes(which), options_.header, list));
    }

    std::string path_;
    const Column& column_;
    LineOptions options_;
    Skipped& skipped_;
    const ParseField& parse_;
    CsvLines lines_;
    std::vector<std::string> names_;
    std::uint64_t row_line_ = 1, blank_ = 0;  // blank_: the first blank line since the last row
    std::size_t field_ = 0, index_ = 0;
    std::optional<std::size_t> by_;
    std::string value_, group_;
};

}  // namespace

void read_column(StreamInput& input, const Column& column, const LineOptions& options, Skipped& skipped,
                 const ParseField& parse, const std::function<void()>& deliver) {
    refuse_other_forms(input, Form::Text, "value");
    const auto& path = input.file().path();
    ColumnHead head(path, column.delimiter, options.header);
    ColumnRows rows(path, column, options, skipped, parse);
    std::optional<CsvParser<ColumnRows>> parser;
    // The values before a fault are delivered.
    const auto guarded = [&](const auto& work) {
        try {
            work();
        } catch (const CsvFault& fault) {
            deliver();
            throw BadInput(line_of(path, fault.line) + fault.what);
        } catch (const BadInput&) {
            deliver();
            throw;
        }
        deliver();
    };
    read_texts(input, [&](const TextPart& part) {
        auto text = part.text;
        if (!parser) {
            if (!head.take(text, part)) return part.text.size() - text.size();
            rows.begin(head);
            parser.emplace(rows, head.delimiter());
        }
        head.drop_line_feed(text);
        guarded([&] {
            parser->parse(text);
            if (part.is_last) parser->finish();
        });
        return part.text.size();
    });
}

void RecordBuffer::grow() {
    memory_.resize(2 * memory_.size() + bytes_);
}

std::string_view RecordLines::without_mark(std::string_view word) const {
    constexpr std::string_view mark = "\xef\xbb\xbf";  // UTF-8's byte order mark
    return lines_.number() == 1 && lines_.begin_the_file() && word.starts_with(mark) ? word.substr(mark.size()) : word;
}

void RecordLines::take_long(std::string_view text) {
    const auto word = lines_.next(text);
    if (lines_.number() <= options_.header) return;
    refuse(lines_.number(), word, "is too long for a line of numbers");
}

void RecordLines::skip_rest_of_line(std::string_view& text) {
    static_cast<void>(lines_.next(text));
    lines_.undo();
}

// Takes the line. Returns true if it is bad and must wait until the records before it are taken.
inline bool RecordLines::must_wait(std::string_view word) {
    if (word.empty()) {
        if (options_.blank == LineOptions::Blank::Empty) {
            ++skipped_.empty;
        } else if (blanks_++ == 0) {
            blank_ = lines_.number();
        }
        return false;
    }
    if (blanks_ > 0) {
        if (!may_refuse()) return true;
        refuse(blank_, {}, "is blank; --skip-bad skips blank lines", blanks_);
        blanks_ = 0;
    }
    const auto fault = parser_.parse(word, records_.next());
    if (!fault) {
        records_.keep();
    } else if (!may_refuse()) {
        return true;
    } else {
        refuse(lines_.number(), word, fault);
    }
    return false;
}

Records RecordLines::next(std::string_view& text) {
    records_.clear();
    for (auto rest = text; !text.empty(); text = rest) {
        const auto word = without_mark(lines_.next(rest));
        if (lines_.number() <= options_.header || !must_wait(word)) continue;
        lines_.undo();
        break;
    }
    return records_.records();
}

void RecordLines::refuse(std::uint64_t line, std::string_view word, Fault why, std::uint64_t count) {
    if (options_.bad == LineOptions::Bad::Refuse) throw BadInput(lines_.about(line, word, why), why);
    if (skipped_.lines == 0) skipped_.first = lines_.about(line, word, why);
    skipped_.lines += count;
}

void read_text(StreamInput& input, const Parser& parser, const LineOptions& options, Skipped& skipped,
               const TakeRecords& take) {
    RecordLines lines(input.file().path(), parser, options, skipped, input.begin());
    bool in_long_line = false;
    const auto hand_on = [&](std::string_view text) {
        if (in_long_line && !text.empty()) {
            lines.skip_rest_of_line(text);
            in_long_line = false;
        }
        while (!text.empty()) take(lines.next(text));
    };
    read_texts(input, [&](const TextPart& part) {
        const auto whole = part.is_last ? part.text.size() : part.text.rfind('\n') + 1;  // 0 if there is none
        if (whole == 0 && part.full) {
            if (!in_long_line) lines.take_long(part.text);
            in_long_line = true;
            return part.text.size();
        }
        hand_on(part.text.substr(0, whole));
        return whole;
    });
}

namespace {

// Drops the header of NumPy's file and returns the number of its records; nothing if the file is not NumPy's.
std::optional<std::uint64_t> take_npy_header(StreamInput& input, const RawRecords& raw) {
    if (!is_npy(input.text())) return {};
    while (input.text().size() < max_npy_header && input.more()) continue;
    const auto name = input.file().name();
    const auto header = *npy_header(input.text().substr(0, max_npy_header), name);
    if (header.type != raw.type)
        throw InvalidArgument(fmt::format("{} has {} values; say --type {}", name, word_for(type_words, header.type),
                                          word_for(type_words, header.type)));
    if (raw.values > 1 && (header.shape.size() != 2 || header.shape.back() != raw.values))
        throw InvalidArgument(
            fmt::format("{} does not have {} columns, and each record needs {} values", name, raw.values, raw.values));
    input.drop(header.bytes);
    return header.values() / raw.values;
}

void read_raw(StreamInput& input, const RawRecords& raw, const TakeRecords& take) {
    const auto size = raw.values * cpu::bytes_of(raw.type);
    auto before = input.begin() / size;
    do {
        const Records records(input.bytes().data(), input.bytes().size() / size, size);
        std::size_t good = raw.check ? 0 : records.size();
        while (good < records.size() && !raw.check(records.at(good))) ++good;
        take(records.part(0, good));
        if (good < records.size())
            throw BadInput(
                fmt::format("{}, pair {}: {}", input.file().name(), before + good + 1, raw.check(records.at(good))));
        before += records.size();
        input.drop(records.bytes().size());
    } while (input.more());
    if (!input.interrupted() && !input.bytes().empty())
        throw BadInput(fmt::format("{} ends with {} of the {} bytes of a {}; is --type right, or should it be --text?",
                                   input.file().name(), input.bytes().size(), size, raw.what));
}

}  // namespace

void read_stream(StreamInput& input, const Reading& reading, const RawRecords& raw, const Parser& parser,
                 Skipped& skipped, const TakeRecords& take) {
    refuse_other_forms(input, reading.form, raw.what, reading.csv_option);
    if (reading.form == Form::Text) return read_text(input, parser, reading.lines, skipped, take);
    std::optional<std::uint64_t> promised;
    if (reading.form == Form::Unsaid) promised = take_npy_header(input, raw);
    std::uint64_t found = 0;
    read_raw(input, raw, [&](const Records& records) {
        found += records.size();
        take(records);
    });
    if (promised && *promised != found && input.is_rest_of_file())
        throw BadInput(fmt::format("{} has {} values, but its header says {}", input.file().name(), found, *promised));
}

}  // namespace quadmill::detail::input
