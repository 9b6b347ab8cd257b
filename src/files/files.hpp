// Files of the command: read completely, and written so that an output appears under its name only when it is complete.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "files/memory.hpp"

namespace quadmill::detail::files {

// Bytes whose number changes. Growing copies nothing, and memory that was never written is not used.
class Bytes {
  public:
    void resize(std::size_t size);
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<std::byte> span() const { return {memory_.data(), size_}; }
    // The bytes as values of a plain type. Pre: the size is a multiple of T's.
    template <class T>
    [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(memory_.data()), size_ / sizeof(T)};
    }

  private:
    Memory memory_;
    std::size_t size_ = 0;
};

// The text for an errno.
[[nodiscard]] std::string reason_of(int error);

// Receives sentences for the user about a committed output. Null in programs that do not set it.
using NoteHook = void (*)(const std::string& note);
inline std::atomic<NoteHook> note_hook{nullptr};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// The name of an input in messages; "-" is standard input.
[[nodiscard]] std::string input_name(const std::string& path);

// Bytes of memory that this machine has.
[[nodiscard]] std::uint64_t machine_memory();

// The result of a read: fewer bytes than requested at the end of the file, or with an error (errno).
struct Got {
    std::size_t bytes = 0;
    int error = 0;
};
// Reads until the memory is full.
[[nodiscard]] Got read_at(int file, std::span<std::byte> memory, std::uint64_t offset);

// A file open for reading; "-" is standard input. All functions throw IoError.
class InputFile {
  public:
    explicit InputFile(std::string path);
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    [[nodiscard]] int descriptor() const { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string name() const { return input_name(path_); }
    // Size of a regular file; nothing for others.
    [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }
    // Waits for input and reads what is available. Returns 0 at the end.
    [[nodiscard]] std::size_t read(std::span<std::byte> memory);

  private:
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_;
    int file_;
    std::optional<std::uint64_t> size_;
    std::size_t offset_ = 0;
};

// Whether it is a file with a size that can be read at any offset. Does not throw.
[[nodiscard]] bool is_regular(const std::string& path);

// Whether an input and an output are the same regular file, by device and inode; "-" is standard input or output. A
// standard output that appends counts as a different file, since it overwrites nothing. Does not throw.
[[nodiscard]] bool same_file(const std::string& input, const std::string& output);

// The whole content of a file, or of standard input for "-". Throws IoError.
[[nodiscard]] Bytes read_file(const std::string& path);

// An output. "-" is standard output; a device or pipe is written directly. Any other file is written without a name in
// the same folder, if the file system can do that, and gets its name in commit(). Without commit() nothing is left. On
// other file systems the unfinished file has a temporary name; after SIGKILL it stays until an OutputFile for the same
// path is made. If a file is replaced, the new one keeps its owner, group, permissions, access list and extended
// attributes; otherwise replacing fails. Other hard links to the old file keep the old content, which note_hook
// reports.
class OutputFile {
  public:
    // Whether signal handlers remove a file with a temporary name. A library does not install handlers.
    enum class OnSignal { Remove, LeaveAlone };
    enum class Named { Later, Now };  // Now: for other processes that write it, too
    // Throws IoError if the file cannot be made there.
    explicit OutputFile(std::string path, OnSignal on_signal = OnSignal::Remove, Named named = Named::Later);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    // Throws IoError if standard output is closed.
    void must_be_open() const;
    [[nodiscard]] bool is_terminal() const;
    // Whether commit() would replace a file that is not empty.
    [[nodiscard]] bool would_replace() const;
    // Whether both are the same file.
    [[nodiscard]] bool same_as(const OutputFile& other) const;
    void write(std::span<const std::byte> bytes);
    // The file descriptor, for other ways of writing. The file is regular if commit() will rename it.
    [[nodiscard]] int descriptor() const { return file_; }
    [[nodiscard]] bool is_regular() const { return is_regular_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    // For messages.
    [[nodiscard]] std::string name() const;
    // Its temporary name. Pre: the file is regular and has a name.
    [[nodiscard]] const std::string& temporary() const { return temporary_; }
    // Waits until everything written is on the disk.
    void sync();
    // Adds `suffix` to the name under which the file appears.
    void commit(const std::string& suffix = "");

  private:
    void create(Named named, mode_t permissions);
    void give_name();
    void discard();
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_, target_, temporary_;
    int file_ = -1;
    OnSignal on_signal_ = OnSignal::Remove;
    bool is_regular_ = false, is_committed_ = false;
    std::size_t names_ = 0;  // number of links of the file that is replaced
    std::size_t written_ = 0;
};

}  // namespace quadmill::detail::files
