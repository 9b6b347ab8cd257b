// Files of the command: read whole, and written so that an output appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace quadmill::cli {

// The whole of a file, or of standard input for "-". Throws IoError.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

// An output: "-" is standard output; a device or pipe is written as it is; any other file is written beside its place
// and renamed by commit(). Without commit() nothing is left, also after SIGINT, SIGTERM or SIGHUP.
class OutputFile {
  public:
    // Throws IoError when the file cannot be made there.
    explicit OutputFile(std::string path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    [[nodiscard]] bool is_terminal() const;
    void write(std::span<const std::byte> bytes);
    void commit();

  private:
    [[noreturn]] void fail(const std::string& what) const;

    std::string path_, target_, temporary_;
    int file_ = -1;
    std::size_t written_ = 0;
};

}  // namespace quadmill::cli
