// Decompresses text from gzip and zstd, and recognizes input that is not text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "files/files.hpp"
#include "input/stream_input.hpp"

namespace quadmill::detail::input {

// A whole file or all of standard input, decompressed if it is compressed. Throws IoError if it is truncated or
// damaged, or does not fit into memory.
[[nodiscard]] files::Bytes read_unpacked(const std::string& path);

// Throws InvalidArgument if input with this beginning is not text; the message says what it looks like. `path` is for
// messages.
void require_text(const std::string& path, std::string_view begin);

// Whether text with this beginning is packed by gzip or zstd.
[[nodiscard]] bool is_packed(std::string_view begin);

class Unpacker;

// A stream of text like StreamInput, decompressed if it is compressed.
class TextStream {
  public:
    explicit TextStream(const std::string& path);
    explicit TextStream(StreamInput& input);  // reads on from there
    TextStream(const TextStream&) = delete;
    TextStream& operator=(const TextStream&) = delete;
    ~TextStream();

    [[nodiscard]] const std::string& path() const { return input_.file().path(); }
    // Waits for more bytes and appends them to the rest. False at the end and after Ctrl-C. Text before a fault is
    // delivered before the error, which is the same as for read_unpacked().
    [[nodiscard]] bool more();
    [[nodiscard]] bool interrupted() { return input_.interrupted(); }
    [[nodiscard]] Interrupt& interrupt() { return input_.interrupt(); }
    [[nodiscard]] std::string_view text() const;
    // Drops the first `used` bytes.
    void drop(std::size_t used);
    // Whether the buffer is full.
    [[nodiscard]] bool full() const { return unpacker_ ? size_ == capacity : input_.full(); }

  private:
    static constexpr std::size_t capacity = std::size_t{1} << 20U;
    std::unique_ptr<StreamInput> own_;
    StreamInput& input_;
    bool known_ = false;                  // whether it is known if the input is compressed
    std::unique_ptr<Unpacker> unpacker_;  // if it is compressed: the unpacker and its output
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_ = 0;
};

}  // namespace quadmill::detail::input
