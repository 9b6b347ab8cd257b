// Values as they come from a file or pipe: raw or text, handed on as soon as they are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files.hpp"
#include "cli/interrupt.hpp"
#include "cli/text.hpp"

namespace quadmill::cli {

// Bytes of a stream, of which a reader leaves what it cannot use yet.
class StreamInput {
  public:
    explicit StreamInput(const std::string& path);

    [[nodiscard]] const InputFile& file() const { return file_; }
    // Waits for more, behind what is left. False at the end of the stream and after Ctrl-C.
    [[nodiscard]] bool more();
    [[nodiscard]] bool interrupted() { return interrupt_.came(); }
    // The same from any thread: more() waits no longer.
    void stop() { interrupt_.stop(); }
    // Ctrl-C stops the program again.
    void release_interrupt() { interrupt_.release(); }
    // What has come and is left; aligned as any value.
    [[nodiscard]] std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }
    [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(memory_.get()), size_}; }
    // Leaves all but the first `used` bytes.
    void drop(std::size_t used);
    // No more fits behind what is left.
    [[nodiscard]] bool full() const { return size_ == room; }

  private:
    static constexpr std::size_t room = std::size_t{1} << 20;

    Interrupt interrupt_;
    InputFile file_;
    std::unique_ptr<std::byte[]> memory_ = std::make_unique_for_overwrite<std::byte[]>(room);
    std::size_t size_ = 0;
};

// Throws InvalidArgument for bytes that are left at the end; `what` says what a value is.
[[noreturn]] void refuse_rest(const StreamInput& input, std::size_t value_bytes, const std::string& what);

// Hands all records of the stream to `take`, as spans of them. Records are as they lie in memory.
template <class Record, class Take>
void read_raw(StreamInput& input, const std::string& what, const Take& take) {
    while (input.more()) {
        const auto bytes = input.bytes();
        const std::span records(reinterpret_cast<const Record*>(bytes.data()), bytes.size() / sizeof(Record));
        take(records);
        input.drop(records.size_bytes());
    }
    if (!input.interrupted() && !input.bytes().empty()) refuse_rest(input, sizeof(Record), what);
}

template <class Record>
using ParseLine = Fault (*)(std::string_view, Record&);

// Lines of records. Blank ones are allowed at the end of the stream only.
template <class Record>
class RecordLines {
  public:
    RecordLines(const std::string& path, ParseLine<Record> parse) : lines_(path), parse_(parse) {}

    // Takes lines off the text up to one that is no record; refuses that when it is the first. So the records before it
    // get to where they are wanted.
    [[nodiscard]] std::span<const Record> next(std::string_view& text) {
        records_.clear();
        Record record{};
        for (auto rest = text; !text.empty(); text = rest) {
            auto word = lines_.next(rest);
            if (word.empty()) {
                if (!blank_) blank_ = lines_.number();
                continue;
            }
            if (blank_) word = {};
            const auto fault = parse_(word, record);
            if (!fault) {
                records_.push_back(record);
                continue;
            }
            if (records_.empty()) lines_.refuse(blank_.value_or(lines_.number()), word, fault);
            lines_.undo();
            break;
        }
        return records_;
    }
    [[noreturn]] void refuse_long(std::string_view text) {
        const auto word = lines_.next(text);
        lines_.refuse(lines_.number(), word, "is too long for a line of numbers");
    }

  private:
    Lines lines_;
    ParseLine<Record> parse_;
    std::vector<Record> records_;
    std::optional<std::uint64_t> blank_;
};

template <class Record, class Take>
void read_text(StreamInput& input, ParseLine<Record> parse, const Take& take) {
    RecordLines<Record> lines(input.file().path(), parse);
    const auto hand_on = [&](std::string_view text) {
        while (!text.empty()) take(lines.next(text));
    };
    while (input.more()) {
        const auto text = input.text();
        const auto whole = text.rfind('\n') + 1;  // 0 when there is none
        if (whole == 0 && input.full()) lines.refuse_long(text);
        hand_on(text.substr(0, whole));
        input.drop(whole);
    }
    if (!input.interrupted()) hand_on(input.text());
}

}  // namespace quadmill::cli
