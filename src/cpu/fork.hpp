// A forked process has a single thread, the one that called fork(). Other threads, and locks that they held, are gone.
#pragma once

#include <memory>

namespace quadmill::detail::cpu {

// Number of forks between the process that loaded the library and this one.
[[nodiscard]] unsigned forks() noexcept;

// Remembers the process in which an object was made.
class Birthplace {
  public:
    [[nodiscard]] bool is_here() const noexcept { return forks_ == forks(); }
    void move_here() noexcept { forks_ = forks(); }

  private:
    unsigned forks_ = forks();
};

// Replaces a thread, a lock, or their owner by a new one in a child process. The old one is not destroyed: its
// destructor would wait for threads that do not exist there.
template <class Object>
void replace_after_fork(Object& object) {
    std::construct_at(std::addressof(object));
}

}  // namespace quadmill::detail::cpu
