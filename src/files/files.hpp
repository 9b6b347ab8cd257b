// Files of the command: read whole, and written so that an output appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace quadmill::detail::files {

// Memory that is not cleared first; grows like a vector.
class Bytes {
  public:
    void resize(std::size_t size);
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<std::byte> span() const { return {memory_.get(), size_}; }
    // The bytes as values of a plain type. Pre: the size is a multiple of T's.
    template <class T>
    [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(memory_.get()), size_ / sizeof(T)};
    }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_ = 0, capacity_ = 0;
};

// What messages call an input, which is standard input for "-".
[[nodiscard]] std::string input_name(const std::string& path);

// Bytes of memory that this machine has.
[[nodiscard]] std::uint64_t machine_memory();

// How far a read came: to fewer bytes than were asked for at the end of the file, or with an error, of errno.
struct Got {
    std::size_t bytes = 0;
    int error = 0;
};
// Reads until the memory is full.
[[nodiscard]] Got read_at(int file, std::span<std::byte> memory, std::uint64_t offset);

// A file that is open for reading, or standard input for "-". Everything throws IoError.
class InputFile {
  public:
    explicit InputFile(std::string path);
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    [[nodiscard]] int descriptor() const { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string name() const { return input_name(path_); }
    // Bytes of a regular file; others do not say.
    [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }
    // Waits until there is something, and reads what there is; 0 bytes at the end.
    [[nodiscard]] std::size_t read(std::span<std::byte> memory);

  private:
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_;
    int file_;
    std::optional<std::uint64_t> size_;
    std::size_t offset_ = 0;
};

// Whether that is a file that has a size and can be read at any place. Throws nothing.
[[nodiscard]] bool is_regular(const std::string& path);

// The whole of a file, or of standard input for "-". Throws IoError.
[[nodiscard]] Bytes read_file(const std::string& path);

// An output: "-" is standard output; a device or pipe is written as it is; any other file is written beside its place
// and renamed by commit(). Without commit() nothing is left, also after the usual signals; after SIGKILL until the
// next one is made for the same file.
class OutputFile {
  public:
    // What the usual signals do: a library leaves its host's handlers alone.
    enum class OnSignal { Remove, LeaveAlone };
    // Throws IoError when the file cannot be made there.
    explicit OutputFile(std::string path, OnSignal on_signal = OnSignal::Remove);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    // Throws IoError when it is a standard output that was closed.
    void must_be_open() const;
    [[nodiscard]] bool is_terminal() const;
    // Whether commit() would replace a file that holds something.
    [[nodiscard]] bool would_replace() const;
    // Whether both end up in one file.
    [[nodiscard]] bool same_as(const OutputFile& other) const;
    void write(std::span<const std::byte> bytes);
    // For who writes it by other means. It is regular where commit() will rename it.
    [[nodiscard]] int descriptor() const { return file_; }
    [[nodiscard]] bool is_regular() const { return !temporary_.empty(); }
    [[nodiscard]] const std::string& path() const { return path_; }
    // For messages.
    [[nodiscard]] std::string name() const;
    // The name that it has until then, where it is regular; for other processes that write it, too.
    [[nodiscard]] const std::string& temporary() const { return temporary_; }
    // Waits until what was written is on the disk.
    void sync();
    // `suffix`: of the name under which it appears.
    void commit(const std::string& suffix = "");

  private:
    void create_temporary(OnSignal on_signal);
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_, target_, temporary_;
    int file_ = -1;
    std::size_t written_ = 0;
};

}  // namespace quadmill::detail::files
