// Threads for the CPU's share of the work: filling staging memory, copying out of it, merging.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quadmill::detail::cpu {

// A few threads that wait for work; the calling thread works too. One caller at a time. An exception of the work stops
// what has not begun and is thrown again to the caller.
class Workers {
  public:
    using Work = std::function<void(std::size_t index)>;

    // `threads` counts the caller; 0 takes as many as the machine has. Goes on with fewer when there are no more.
    explicit Workers(unsigned threads = 0);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers();

    [[nodiscard]] unsigned threads() const noexcept { return static_cast<unsigned>(threads_.size()) + 1; }

    // Runs work(0) .. work(count - 1), in any order and at the same time.
    void for_each(std::size_t count, const Work& work);
    // The same, and calls `then(i)` on this thread, in order of i, once work(i) is done.
    void then_in_order(std::size_t count, const Work& work, const Work& then);
    // Calls `first(i)` on this thread in order of i; work(i) may begin once first(i) is done.
    void after_in_order(std::size_t count, const Work& first, const Work& work);

  private:
    struct Job;
    void loop();
    bool take_one(std::unique_lock<std::mutex>& lock);
    void run(Job& job, const Work& first, const Work& then);

    std::mutex mutex_;
    std::condition_variable work_, done_;
    Job* job_ = nullptr;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace quadmill::detail::cpu
