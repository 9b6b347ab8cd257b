// Files of sorted records on a rank's disk, under names that the next start of the same job finds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "external/blocks.hpp"

namespace quadmill::detail::mpi {

// The folder of a rank's files, and what their names begin with.
struct RunNames {
    std::string folder;
    std::string output;  // common to all files of jobs with that output
    std::string rank;  // depends on this rank's input, format and number of ranks, so another job's file does not match
    [[nodiscard]] std::string path(const char* what) const { return folder + "/" + output + rank + what; }
};

// A file that is locked while in use. It is removed on destruction unless it is kept.
class RunFile {
  public:
    // Throws IoError.
    [[nodiscard]] static std::unique_ptr<RunFile> create(const std::string& path);
    // A complete file with that many bytes; null if there is none.
    [[nodiscard]] static std::unique_ptr<RunFile> find(const std::string& path, std::uint64_t bytes);
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;
    ~RunFile();

    [[nodiscard]] int descriptor() const { return file_; }
    [[nodiscard]] external::FilePlace place(std::uint64_t offset = 0) const {
        return {file_, offset, "'" + path_ + "'", path_};
    }
    // Marks the file as complete, with `bytes` bytes. From then on find() finds it.
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

// Removes unlocked files of jobs with that output.
void remove_runs(const RunNames& names);

}  // namespace quadmill::detail::mpi
