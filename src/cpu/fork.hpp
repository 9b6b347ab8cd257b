// A process that was forked has one thread, the one that called fork(): threads, and locks that others held, are gone.
#pragma once

#include <memory>

namespace quadmill::detail::cpu {

// How many forks lie between this process and the one that loaded the library.
[[nodiscard]] unsigned forks() noexcept;

// Remembers the process that an object was made in.
class Birthplace {
  public:
    [[nodiscard]] bool is_here() const noexcept { return forks_ == forks(); }
    void move_here() noexcept { forks_ = forks(); }

  private:
    unsigned forks_ = forks();
};

// Makes a thread, a lock, or their owner again in a child process. The old one is not destroyed: its destructor would
// wait for threads that do not exist there.
template <class Object>
void replace_after_fork(Object& object) {
    std::construct_at(std::addressof(object));
}

}  // namespace quadmill::detail::cpu
