// Values from a file or pipe, raw or text, passed on as soon as they arrive.
#pragma once

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

// Records of a type that is known at run time.
class Records {
  public:
    Records() = default;
    // `bytes` is the size of each.
    Records(const void* data, std::size_t size, std::size_t bytes)
        : data_(static_cast<const std::byte*>(data)), size_(size), bytes_(bytes) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const void* at(std::size_t i) const { return data_ + i * bytes_; }
    [[nodiscard]] Records part(std::size_t first, std::size_t count) const { return {at(first), count, bytes_}; }
    [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_ * bytes_}; }
    template <class Record>
    [[nodiscard]] std::span<const Record> as() const {
        return {reinterpret_cast<const Record*>(data_), size_};
    }

  private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0, bytes_ = 0;
};
using TakeRecords = std::function<void(const Records&)>;

// Memory of records, to which they are added one by one.
class RecordBuffer {
  public:
    explicit RecordBuffer(std::size_t bytes) : bytes_(bytes) {}
    // The memory of a new record, which keep() adds.
    [[nodiscard]] void* next() {
        if (memory_.size() - used_ < bytes_) grow();
        return memory_.data() + used_;
    }
    void keep() { used_ += bytes_; }
    void clear() { used_ = 0; }
    [[nodiscard]] bool empty() const { return used_ == 0; }
    [[nodiscard]] Records records() const { return {memory_.data(), used_ / bytes_, bytes_}; }

  private:
    void grow();

    std::vector<std::byte> memory_;
    std::size_t used_ = 0, bytes_;
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

// Raw records.
struct RawRecords {
    std::string what;                              // the name of one: "f32 value"
    KeyType type;                                  // of the numbers in it
    std::size_t values = 1;                        // numbers in it
    Fault (*check)(const void* record) = nullptr;  // returns what is wrong with a record, if anything can be
};

// Lines of records. By default, blank lines are only allowed at the end of the stream.
class RecordLines {
  public:
    // `begin` is the byte of the file at which the lines begin.
    RecordLines(const std::string& path, const Parser& parser, const LineOptions& options, Skipped& skipped,
                std::uint64_t begin = 0)
        : lines_(path, begin), parser_(parser), options_(options), skipped_(skipped), records_(parser.bytes) {}

    // Takes lines from the text up to one that is not a record, so that the records before a bad line are delivered. If
    // the first line is bad, it throws BadInput.
    [[nodiscard]] Records next(std::string_view& text);
    // Handles a line that is too long for the buffer, up to its end.
    void take_long(std::string_view text);
    // Skips the rest of a line whose beginning was skipped.
    void skip_rest_of_line(std::string_view& text);

  private:
    [[nodiscard]] std::string_view without_mark(std::string_view word) const;
    [[nodiscard]] bool must_wait(std::string_view word);
    [[nodiscard]] bool may_refuse() const { return options_.bad == LineOptions::Bad::Skip || records_.empty(); }
    void refuse(std::uint64_t line, std::string_view word, Fault why, std::uint64_t count = 1);

    Lines lines_;
    Parser parser_;
    LineOptions options_;
    Skipped& skipped_;
    RecordBuffer records_;
    std::uint64_t blanks_ = 0, blank_ = 0;  // number of blank lines since the last record, and the first of them
};

// Passes all records of the stream to `take`, as soon as their lines have come.
void read_text(StreamInput& input, const Parser& parser, const LineOptions& options, Skipped& skipped,
               const TakeRecords& take);
// Reads a whole stream in its form: raw records, as they are in memory, or text.
void read_stream(StreamInput& input, const Reading& reading, const RawRecords& raw, const Parser& parser,
                 Skipped& skipped, const TakeRecords& take);

}  // namespace quadmill::detail::input
