// Files of sorted records on a rank's disk, under names that the next start of the same job finds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "external/blocks.hpp"

namespace quadmill::detail::mpi {

// Where a rank's files are, and what begins their names.
struct RunNames {
    std::string folder;
    std::string output;  // of all files of jobs with that output
    std::string rank;    // of this rank's: input, format and ranks are in it, so another job's are not match
    [[nodiscard]] std::string path(const char* what) const { return folder + "/" + output + rank + what; }
};

// A file that is locked while it is used and, unless it is to be kept, gone when this ends.
class RunFile {
  public:
    // Throws IoError.
    [[nodiscard]] static std::unique_ptr<RunFile> create(const std::string& path);
    // One that was whole, with that many bytes; null if there is none.
    [[nodiscard]] static std::unique_ptr<RunFile> find(const std::string& path, std::uint64_t bytes);
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;
    ~RunFile();

    [[nodiscard]] int descriptor() const { return file_; }
    [[nodiscard]] external::FilePlace place(std::uint64_t offset = 0) const {
        return {file_, offset, "'" + path_ + "'", path_};
    }
    // All is written, `bytes` in all: from here on find() finds it.
    void is_whole(std::uint64_t bytes);
    void keep() { is_kept_ = true; }

    // All bytes, or IoError.
    void read(std::span<std::byte> memory, std::uint64_t offset) const;
    void write(std::span<const std::byte> memory, std::uint64_t offset) const;

  private:
    RunFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
    [[noreturn]] void fail(const char* what, std::uint64_t at) const;

    std::string path_, target_;
    int file_;
    bool is_kept_ = false;
};

// Removes files of jobs with that output that nobody has locked.
void remove_runs(const RunNames& names);

}  // namespace quadmill::detail::mpi
