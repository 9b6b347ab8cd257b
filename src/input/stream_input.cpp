#include "input/stream_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "input/csv_rows.hpp"
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

void refuse_other_forms(const Look& look, Form form, const std::string& name, const std::string& what) {
    if (look.kind == Look::Kind::Format) {
        const auto& [format, to_values, to_text] = look.format;
        const std::string advice = to_values.empty() ? "" : "; " + std::string(to_values);
        if (form == Form::Text)
            throw InvalidArgument(fmt::format("{} looks like {}, not like lines of numbers{}", name, format, advice));
        throw InvalidArgument(
            fmt::format("{} looks like {}, not like raw {}s{}; --raw reads it as it is", name, format, what, advice));
    }
    if (look.kind == Look::Kind::Text && form != Form::Text)
        throw InvalidArgument(
            fmt::format("{} looks like text, not like raw {}s; should it be --text? (--raw reads it as it is)", name,
                        what));
}

void refuse_other_forms(StreamInput& input, Form form, const std::string& what) {
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
    refuse_other_forms(look, form, input.file().name(), what);
}

std::optional<std::uint64_t> take_npy_header(StreamInput& input, KeyType type, std::size_t values) {
    if (!is_npy(input.text())) return {};
    while (input.text().size() < max_npy_header && input.more()) continue;
    const auto name = input.file().name();
    const auto header = *npy_header(input.text().substr(0, max_npy_header), name);
    if (header.type != type)
        throw InvalidArgument(fmt::format("{} has {} values; say --type {}", name, word_for(type_words, header.type),
                                          word_for(type_words, header.type)));
    if (values > 1 && (header.shape.size() != 2 || header.shape.back() != values))
        throw InvalidArgument(
            fmt::format("{} does not have {} columns, and each record needs {} values", name, values, values));
    input.drop(header.bytes);
    return header.values() / values;
}

void check_npy_records(const StreamInput& input, std::uint64_t promised, std::uint64_t found) {
    if (promised == found || !input.is_rest_of_file()) return;
    throw BadInput(fmt::format("{} has {} values, but its header says {}", input.file().name(), found, promised));
}

namespace {

// The rows of CSV, of which one column is read.
class ColumnRows {
  public:
    ColumnRows(const std::string& path, const Column& column, const LineOptions& options, Skipped& skipped,
               const ParseField& parse)
        : path_(path), column_(column), options_(options), skipped_(skipped), parse_(parse) {
        if (options.header == 0) find_columns();
    }

    void field(std::optional<std::string_view> field) {
        const auto word = without_blanks(field.value_or(""));
        if (headers_ < options_.header) {
            if (headers_ + 1 == options_.header) names_.emplace_back(word);
        } else {
            if (field_ == index_) value_ = word;
            if (field_ == by_) group_ = field.value_or("");
        }
        if (field) lines_.pass(*field);
        ++field_;
    }
    void line_end() {
        if (headers_ < options_.header) {
            if (++headers_ == options_.header) find_columns();
        } else if (field_ == 0) {
            if (blank_ == 0) blank_ = line();
        } else {
            take_row();
        }
        lines_.pass_end();
        field_ = 0;
        value_.clear();
    }
    [[nodiscard]] std::uint64_t line() const { return lines_.line(); }
    [[nodiscard]] std::string about(std::uint64_t line, std::string_view word, const char* what) const {
        return line_of(path_, line) + (word.empty() ? "" : in_quotes(word) + " ") + what;
    }

  private:
    // Blank lines are only allowed at the end.
    void take_row() {
        if (blank_ > 0) refuse(std::exchange(blank_, 0), {}, "is blank");
        if (field_ <= std::max(index_, by_.value_or(0))) {
            refuse(line(), {}, "has fewer fields than the column's number");
        } else if (value_.empty()) {
            ++skipped_.empty;
        } else if (const auto fault = parse_(value_, group_)) {
            refuse(line(), value_, fault);
        }
    }
    void refuse(std::uint64_t line, std::string_view word, Fault why) {
        if (options_.bad == LineOptions::Bad::Refuse) throw BadInput(about(line, word, why), why);
        if (skipped_.lines++ == 0) skipped_.first = about(line, word, why);
    }
    void find_columns() {
        index_ = index_of(column_.which);
        if (!column_.by.empty()) by_ = index_of(column_.by);
    }
    [[nodiscard]] std::size_t index_of(const std::string& which) const {
        const auto named = std::ranges::find(names_, which);
        std::uint64_t number = 0;
        if (named != names_.end()) {
            if (std::find(named + 1, names_.end(), which) != names_.end())
                throw InvalidArgument(fmt::format("several columns are called {}; give its number", in_quotes(which)));
            return static_cast<std::size_t>(named - names_.begin());
        }
        if (parse_number(which, number) == nullptr && number > 0 && (options_.header == 0 || number <= names_.size()))
            return static_cast<std::size_t>(number - 1);
        if (options_.header == 0)
            throw InvalidArgument(
                fmt::format("there is no column {}: without a header, columns are called by their number from 1",
                            in_quotes(which)));
        std::string all;
        for (const auto& name : names_) all += (all.empty() ? "" : ", ") + in_quotes(name);
        throw InvalidArgument(fmt::format("there is no column {}; line {} has {}", in_quotes(which), options_.header,
                                          all.empty() ? "none" : all));
    }

    std::string path_;
    const Column& column_;
    LineOptions options_;
    Skipped& skipped_;
    const ParseField& parse_;
    CsvLines lines_;
    std::vector<std::string> names_;
    std::uint64_t headers_ = 0, blank_ = 0;  // blank_: the first blank line since the last row
    std::size_t field_ = 0, index_ = 0;
    std::optional<std::size_t> by_;
    std::string value_, group_;
};

}  // namespace

void read_column(StreamInput& input, const Column& column, const LineOptions& options, Skipped& skipped,
                 const ParseField& parse, const std::function<void()>& deliver) {
    refuse_other_forms(input, Form::Text, "value");
    const auto& path = input.file().path();
    ColumnRows rows(path, column, options, skipped, parse);
    CsvParser<ColumnRows> parser(rows, column.delimiter, CsvParser<ColumnRows>::Blanks::None);
    bool begins = true;
    // The values before a fault are delivered.
    const auto guarded = [&](const auto& work) {
        try {
            work();
        } catch (const CsvFault& fault) {
            deliver();
            throw BadInput(rows.about(fault.line, {}, fault.what.c_str()));
        } catch (const BadInput&) {
            deliver();
            throw;
        }
        deliver();
    };
    read_texts(input, [&](const TextPart& part) {
        constexpr std::string_view mark = "\xef\xbb\xbf";  // of the byte order, in UTF-8
        auto text = part.text;
        if (begins && !part.is_last && !part.full && text.size() < mark.size() && mark.starts_with(text))
            return std::size_t{0};
        if (std::exchange(begins, false) && text.starts_with(mark)) text.remove_prefix(mark.size());
        guarded([&] {
            parser.parse(text);
            if (part.is_last) parser.finish();
        });
        return part.text.size();
    });
}

void refuse_rest(const StreamInput& input, std::size_t value_bytes, const std::string& what) {
    throw BadInput(fmt::format("{} ends with {} of the {} bytes of a {}; is --type right, or should it be --text?",
                               input.file().name(), input.bytes().size(), value_bytes, what));
}

void refuse_record(const StreamInput& input, std::uint64_t number, Fault why) {
    throw BadInput(fmt::format("{}, pair {}: {}", input.file().name(), number, why));
}

}  // namespace quadmill::detail::input
