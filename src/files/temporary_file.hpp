// Files that are gone when the program is, however it ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace quadmill::detail::files {

// Makes and locks a new file next to `target`, under a name that tells whose it is; -1, and errno, if it cannot.
// `permissions` lack what the process or the folder takes from new files.
[[nodiscard]] std::pair<int, std::string> create_locked(const std::string& target, mode_t permissions = 0600);

// Makes and locks a file in the folder of `target` that has no name, so that nothing is left of it if the process is
// killed; -1, and errno, if it cannot.
[[nodiscard]] int create_nameless(const std::string& target, mode_t permissions);
// Whether errno says that the system has no such files, or lets nobody name them later.
[[nodiscard]] bool needs_name();
// Names it, as create_locked() does. An empty name, and errno, if it cannot.
[[nodiscard]] std::string name_nameless(int file, const std::string& target);

// TMPDIR, or /tmp where that is not set. It need not be there.
[[nodiscard]] std::string temporary_folder();

// Whether an open file still has that name: between its opening and its lock, another may have taken it away.
[[nodiscard]] bool has_name(int file, const std::string& path);

// Removes what runs that were killed have left next to `target`. A run that is still at work has locked its own file.
void remove_leftovers(const std::string& target);

// A file for reading and writing in a folder, without a name where the file system can do that; otherwise its name is
// taken away at once, and the next one made there removes the name where a program was killed in between.
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
