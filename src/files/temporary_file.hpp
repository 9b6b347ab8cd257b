// Files that disappear with the program, however it ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace quadmill::detail::files {

// Makes and locks a new file next to `target`, under a name derived from it. Returns -1, with errno, on failure. The
// umask and the folder's default list reduce `permissions`.
[[nodiscard]] std::pair<int, std::string> create_locked(const std::string& target, mode_t permissions = 0600);

// Makes and locks a file without a name in the folder of `target`, so that nothing is left if the process is killed.
// Returns -1, with errno, on failure.
[[nodiscard]] int create_nameless(const std::string& target, mode_t permissions);
// Whether errno means that the system has no nameless files, or cannot name them later.
[[nodiscard]] bool needs_name();
// Gives it a name like create_locked(). Returns an empty name, with errno, on failure.
[[nodiscard]] std::string name_nameless(int file, const std::string& target);

// TMPDIR, or /tmp if that is not set. The folder may not exist.
[[nodiscard]] std::string temporary_folder();

// Whether an open file still has that name. Between opening and locking it, another process may have removed it.
[[nodiscard]] bool has_name(int file, const std::string& path);

// Removes files next to `target` that killed runs have left. Files of running programs are locked.
void remove_leftovers(const std::string& target);

// A file for reading and writing in a folder, without a name if the file system can do that. Otherwise the name is
// removed immediately. If a program is killed before that, the next file made there removes it.
class TemporaryFile {
  public:
    // Throws IoError.
    explicit TemporaryFile(std::string folder);
    TemporaryFile(TemporaryFile&& other) noexcept
        : folder_(std::move(other.folder_)), file_(std::exchange(other.file_, -1)) {}
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    [[nodiscard]] int descriptor() const { return file_; }
    // For messages.
    [[nodiscard]] const std::string& folder() const { return folder_; }

  private:
    std::string folder_;
    int file_ = -1;
};

}  // namespace quadmill::detail::files
