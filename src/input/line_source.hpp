// The lines of a file or pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/files.hpp"

namespace quadmill::detail::input {

// What ends a line.
struct LineEnds {
    char end = '\n';
    std::optional<char> csv_separator{};  // CSV: not in quotes
};

class LineSource {
  public:
    // Called before each read with the descriptor. It may wait, or throw to end the work.
    using BeforeRead = std::function<void(int descriptor)>;
    // Memory of the usual buffer.
    static constexpr std::size_t usual_memory = std::size_t{512} << 10U;
    // `longest` limits the bytes of a line.
    LineSource(const std::string& path, LineEnds ends, std::size_t longest, BeforeRead before_read,
               std::size_t memory = usual_memory);

    // The next line with its end, which the last line gets if it is missing; nothing at the end. Valid until the next
    // call. Throws IoError, also for a line that is too long and for quotes that are not closed.
    [[nodiscard]] std::optional<std::string_view> next();
    // Adds lines to `lines`, in all at most about that many bytes, as long as no read is needed for more. The first one
    // may need a read. They are valid until the next call. Returns false at the end, without a line.
    [[nodiscard]] bool next(std::vector<std::string_view>& lines, std::size_t bytes);
    // The lines that are in memory, as one text, if their ends alone tell them apart: in CSV those before the line with
    // the first quote. The first one may need reads. Nothing if there are none, or at the end. Valid until the next
    // call.
    [[nodiscard]] std::optional<std::string_view> next_text();
    // Tells the number of lines in this text, which its user knows. Call it before any other function.
    void count(std::uint64_t lines);
    // The number of the line that was returned last, from 1. A CSV line may have several.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] std::string name() const { return file_.name(); }

  private:
    [[nodiscard]] bool read_more();
    [[nodiscard]] std::optional<std::size_t> find_end() const;
    std::string_view take_line(std::size_t end);

    files::InputFile file_;
    LineEnds ends_;
    std::size_t longest_;
    BeforeRead before_read_;
    std::size_t block_;  // of a read
    std::vector<char> memory_;
    std::size_t at_ = 0, to_ = 0, searched_ = 0;  // searched_: bytes from at_ on without an end
    std::uint64_t number_ = 0, next_number_ = 1, offset_ = 0;
    bool ended_ = false;
};

}  // namespace quadmill::detail::input
