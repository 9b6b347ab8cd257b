// Values from a file or pipe, raw or text, passed on as soon as they arrive.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/files.hpp"
#include "input/interrupt.hpp"
#include "input/looks_like.hpp"
#include "input/reading.hpp"
#include "input/text.hpp"
#include "quadmill/keys.hpp"

namespace quadmill::detail::input {

// The part of a file to read: all, or a range of bytes.
struct Share {
    std::string path;
    std::uint64_t begin = 0, end = std::numeric_limits<std::uint64_t>::max();
};

// Bytes of a stream. A reader leaves bytes that it cannot use yet.
class StreamInput {
  public:
    explicit StreamInput(const std::string& path) : StreamInput(Share{.path = path}) {}
    // Throws IoError if the share cannot be read.
    explicit StreamInput(const Share& share);

    [[nodiscard]] const files::InputFile& file() const { return file_; }
    // Waits for more bytes and appends them to the rest. False at the end of the stream and after Ctrl-C. Throws
    // BadInput.
    [[nodiscard]] bool more();
    // From then on more() calls `work` before it waits, and again each time the milliseconds that it returned have
    // passed (-1: not again).
    void while_waiting(std::function<int()> work) { while_waiting_ = std::move(work); }
    [[nodiscard]] bool interrupted() { return interrupt_.came(); }
    // Where the share begins in the file.
    [[nodiscard]] std::uint64_t begin() const { return begin_; }
    [[nodiscard]] bool is_part() const { return begin_ > 0 || !to_end_; }
    // Turns Ctrl-C (and SIGTERM, SIGHUP) into a request to stop.
    [[nodiscard]] Interrupt& interrupt() { return interrupt_; }
    // Requests a stop from any thread: more() then stops waiting.
    void stop() { interrupt_.stop(); }
    // From then on Ctrl-C ends the program again.
    void release_interrupt() { interrupt_.release(); }
    // The unread bytes, aligned for any value.
    [[nodiscard]] std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }
    [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(memory_.get()), size_}; }
    // Drops the first `used` bytes.
    void drop(std::size_t used);
    // Whether nothing of the file comes after it.
    [[nodiscard]] bool is_rest_of_file() const { return to_end_; }
    // Whether the buffer is full.
    [[nodiscard]] bool full() const { return size_ == capacity; }

  private:
    static constexpr std::size_t capacity = std::size_t{1} << 20;

    files::InputFile file_;  // first member: Ctrl-C must end the wait for a writer of a named pipe
    Interrupt interrupt_;
    std::unique_ptr<std::byte[]> memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity);
    std::size_t size_ = 0;
    std::uint64_t begin_;
    std::uint64_t left_;  // bytes of the share that have not arrived
    bool to_end_;
    bool ended_ = false;
    std::function<int()> while_waiting_ = [] { return -1; };
};

// Throws InvalidArgument if the input clearly has another form. `what` names a raw value, `for_text` the options for
// text.
void refuse_other_forms(const Look& look, Form form, const std::string& name, const std::string& what,
                        const std::string& for_text = "--text");
// Reads as much as the check needs, usually once. `csv_option` is as in Reading.
void refuse_other_forms(StreamInput& input, Form form, const std::string& what, const char* csv_option = nullptr);

// Drops the header of NumPy's file and returns the number of its records; nothing if the file is not NumPy's. `type` is
// that of the values, `values` the number of them in a record. Throws InvalidArgument if the header says otherwise.
[[nodiscard]] std::optional<std::uint64_t> take_npy_header(StreamInput& input, KeyType type, std::size_t values);
// Throws BadInput if a file has more or fewer records than its header says.
void check_npy_records(const StreamInput& input, std::uint64_t promised, std::uint64_t found);

// The values of a raw record: one, or several in an array.
template <class Record>
struct RecordOf {
    static constexpr std::size_t values = 1;
    static KeyType type() { return Keys(std::span<Record>()).type(); }
};
template <class Key, std::size_t n>
struct RecordOf<std::array<Key, n>> {
    static constexpr std::size_t values = n;
    static KeyType type() { return RecordOf<Key>::type(); }
};

// Text that has arrived.
struct TextPart {
    std::string_view text;
    bool full;     // no more fits: some must be taken
    bool is_last;  // it is all that is left
};
// Passes on the text of a stream, unpacked if gzip or zstd has packed it. `take` returns how many bytes it has taken;
// the others come again.
void read_texts(StreamInput& input, const std::function<std::size_t(const TextPart&)>& take);

// One column of CSV.
struct Column {
    std::string which{};    // its name in the header's last line, or its number from 1
    std::string by{};       // a second column, whose field is the group of the first one's value
    char delimiter = '\0';  // '\0': as CsvForm's
    bool is_text = false;   // whether blanks around a field belong to it
};
// Whether something is wrong with a field, or with that of the second column.
struct FieldFault {
    Fault why = nullptr;
    bool of_second = false;
};
// Reads the column of each row, by the rules of `query`. `parse` gets a field and its group, and keeps it if it is a
// value; an empty field is none. `deliver` is called often: what was kept so far is then taken.
using ParseField = std::function<FieldFault(std::string_view field, std::string_view group)>;
void read_column(StreamInput& input, const Column& column, const LineOptions& options, Skipped& skipped,
                 const ParseField& parse, const std::function<void()>& deliver);

// Names of raw values.
template <class Record>
struct RawRecords {
    std::string what;                         // "f32 value"
    Fault (*check)(const Record&) = nullptr;  // returns what is wrong with a record, if anything can be
};

// Throws BadInput if bytes are left at the end.
[[noreturn]] void refuse_rest(const StreamInput& input, std::size_t value_bytes, const std::string& what);
[[noreturn]] void refuse_record(const StreamInput& input, std::uint64_t number, Fault why);

// Passes all records of the stream to `take`, in spans, as they are in memory.
template <class Record, class Take>
void read_raw(StreamInput& input, const RawRecords<Record>& raw, const Take& take) {
    std::uint64_t before = input.begin() / sizeof(Record);
    do {
        const auto bytes = input.bytes();
        const std::span records(reinterpret_cast<const Record*>(bytes.data()), bytes.size() / sizeof(Record));
        const auto good = static_cast<std::size_t>(
            raw.check ? std::ranges::find_if(records, raw.check) - records.begin() : std::ssize(records));
        take(records.first(good));
        if (good < records.size()) refuse_record(input, before + good + 1, raw.check(records[good]));
        before += records.size();
        input.drop(records.size_bytes());
    } while (input.more());
    if (!input.interrupted() && !input.bytes().empty()) refuse_rest(input, sizeof(Record), raw.what);
}

// Lines of records. By default, blank lines are only allowed at the end of the stream.
template <class Record>
class RecordLines {
  public:
    // `begin` is the byte of the file at which the lines begin.
    RecordLines(const std::string& path, ParseLine<Record> parse, const LineOptions& options, Skipped& skipped,
                std::uint64_t begin = 0)
        : lines_(path, begin), parse_(parse), options_(options), skipped_(skipped) {}

    // Takes lines from the text up to one that is not a record, so that the records before a bad line are delivered. If
    // the first line is bad, it throws BadInput.
    [[nodiscard]] std::span<const Record> next(std::string_view& text) {
        records_.clear();
        for (auto rest = text; !text.empty(); text = rest) {
            const auto word = without_mark(lines_.next(rest));
            if (lines_.number() <= options_.header || !must_wait(word)) continue;
            lines_.undo();
            break;
        }
        return records_;
    }
    // Handles a line that is too long for the buffer, up to its end.
    void take_long(std::string_view text) {
        const auto word = lines_.next(text);
        if (lines_.number() <= options_.header) return;
        refuse(lines_.number(), word, "is too long for a line of numbers");
    }
    // Skips the rest of a line whose beginning was skipped.
    void skip_rest_of_line(std::string_view& text) {
        static_cast<void>(lines_.next(text));
        lines_.undo();
    }

  private:
    // A UTF-8 byte order mark is skipped.
    std::string_view without_mark(std::string_view word) const {
        constexpr std::string_view mark = "\xef\xbb\xbf";
        return lines_.number() == 1 && lines_.begin_the_file() && word.starts_with(mark) ? word.substr(mark.size())
                                                                                         : word;
    }
    // Takes the line. Returns true if it is bad and must wait until the records before it are taken.
    bool must_wait(std::string_view word) {
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
        Record record{};
        const auto fault = parse_(word, record);
        if (!fault) {
            records_.push_back(record);
        } else if (!may_refuse()) {
            return true;
        } else {
            refuse(lines_.number(), word, fault);
        }
        return false;
    }
    [[nodiscard]] bool may_refuse() const { return options_.bad == LineOptions::Bad::Skip || records_.empty(); }
    void refuse(std::uint64_t line, std::string_view word, Fault why, std::uint64_t count = 1) {
        if (options_.bad == LineOptions::Bad::Refuse) throw BadInput(lines_.about(line, word, why), why);
        if (skipped_.lines == 0) skipped_.first = lines_.about(line, word, why);
        skipped_.lines += count;
    }

    Lines lines_;
    ParseLine<Record> parse_;
    LineOptions options_;
    Skipped& skipped_;
    std::vector<Record> records_;
    std::uint64_t blanks_ = 0, blank_ = 0;  // number of blank lines since the last record, and the first of them
};

template <class Record, class Take>
void read_text(StreamInput& input, ParseLine<Record> parse, const LineOptions& options, Skipped& skipped,
               const Take& take) {
    RecordLines<Record> lines(input.file().path(), parse, options, skipped, input.begin());
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

// Reads a whole stream in its form.
template <class Raw, class Text, class Take>
void read_stream(StreamInput& input, const Reading& reading, const RawRecords<Raw>& raw, ParseLine<Text> parse,
                 Skipped& skipped, const Take& take) {
    refuse_other_forms(input, reading.form, raw.what, reading.csv_option);
    if (reading.form == Form::Text) {
        read_text<Text>(input, parse, reading.lines, skipped, take);
        return;
    }
    std::optional<std::uint64_t> promised;
    if (reading.form == Form::Unsaid) promised = take_npy_header(input, RecordOf<Raw>::type(), RecordOf<Raw>::values);
    std::uint64_t found = 0;
    read_raw<Raw>(input, raw, [&](std::span<const Raw> records) {
        found += records.size();
        take(records);
    });
    if (promised) check_npy_records(input, *promised, found);
}

}  // namespace quadmill::detail::input
