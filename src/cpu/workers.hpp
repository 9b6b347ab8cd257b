// Threads for the CPU's part of the work: filling staging memory, copying from it, merging.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cpu/fork.hpp"

namespace quadmill::detail::cpu {

class ThreadPool;

// `threads`, or for 0 as many as the machine has.
[[nodiscard]] unsigned threads_or_all(unsigned threads);

// A share of a single pool of threads, which all Workers of the process use and which ends with the last of them. The
// calling thread works, too. Work may itself use Workers, and several threads may call the same Workers. An exception
// in the work cancels the items that have not begun and is thrown to the caller. In a child process the threads start
// again.
class Workers {
  public:
    using Work = std::function<void(std::size_t index)>;

    // At most `threads` threads work for a call, including the caller; 0: as many as the machine has. If the system
    // cannot start that many, fewer work.
    explicit Workers(unsigned threads = 0);

    [[nodiscard]] unsigned threads() const noexcept { return threads_; }

    // Runs work(0) .. work(count - 1), in any order and at the same time. Wakes only the threads that it can use: none
    // for one item, and none if threads() is 1.
    void for_each(std::size_t count, const Work& work) const;
    // Like for_each(), and calls `then(i)` on this thread, in order of i, when work(i) is done.
    void then_in_order(std::size_t count, const Work& work, const Work& then) const;
    // Calls `first(i)` on this thread in order of i; work(i) may begin once first(i) is done.
    void after_in_order(std::size_t count, const Work& first, const Work& work) const;

  private:
    [[nodiscard]] std::shared_ptr<ThreadPool> pool() const;  // of this process

    std::shared_ptr<ThreadPool> pool_;
    Birthplace process_;
    unsigned threads_;
};

}  // namespace quadmill::detail::cpu
