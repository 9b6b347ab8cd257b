// Shared by the threads of a pipeline: queues between them, and an orderly end of all threads if one fails.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace quadmill::detail::external {

// Thrown in a thread if another one has failed. It never leaves this directory's code.
struct Abandoned {};

class Gate {
  public:
    // Keeps the first error and wakes all waiting threads.
    void fail(std::exception_ptr error) {
        {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::move(error);
            failed_ = true;
        }
        changed_.notify_all();
    }
    [[nodiscard]] bool failed() {
        const std::lock_guard lock(mutex_);
        return failed_;
    }
    // Does a thread's work. An error is kept.
    template <class Work>
    void run(const Work& work) {
        try {
            work();
        } catch (const Abandoned&) {  // NOLINT(bugprone-empty-catch)
            // Another thread has reported the reason.
        } catch (...) {
            fail(std::current_exception());
        }
    }
    // Rethrows the first error if there is one.
    void check() {
        const std::lock_guard lock(mutex_);
        if (error_) std::rethrow_exception(error_);
    }

  private:
    template <class T>
    friend class Queue;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::exception_ptr error_;
    bool failed_ = false;
};

// A queue between two stages. The number of elements in the pipeline is fixed, so it needs no bound.
template <class T>
class Queue {
  public:
    explicit Queue(Gate& gate) : gate_(gate) {}
    void push(T element) {
        {
            const std::lock_guard lock(gate_.mutex_);
            elements_.push_back(std::move(element));
        }
        gate_.changed_.notify_all();
    }
    // Announces that no more elements will come.
    void close() {
        {
            const std::lock_guard lock(gate_.mutex_);
            closed_ = true;
        }
        gate_.changed_.notify_all();
    }
    // The first element; nothing if the queue is empty and closed. Throws Abandoned.
    std::optional<T> pop() {
        std::unique_lock lock(gate_.mutex_);
        gate_.changed_.wait(lock, [this] { return ready(); });
        return take();
    }
    // The same, with a time limit: nothing after that time, either.
    std::optional<T> pop(std::chrono::milliseconds wait) {
        std::unique_lock lock(gate_.mutex_);
        if (!gate_.changed_.wait_for(lock, wait, [this] { return ready(); })) return {};
        return take();
    }

  private:
    [[nodiscard]] bool ready() const { return gate_.failed_ || closed_ || !elements_.empty(); }
    std::optional<T> take() {
        if (gate_.failed_) throw Abandoned{};
        if (elements_.empty()) return {};
        auto first = std::move(elements_.front());
        elements_.pop_front();
        return first;
    }
    Gate& gate_;
    std::deque<T> elements_;
    bool closed_ = false;
};

// Called while waiting, at least ten times a second. It may throw to end the wait.
using Tick = std::function<void()>;
inline constexpr std::chrono::milliseconds tick_time(50);

// The first element of a queue that other threads fill. Rethrows their error.
template <class T>
T wait_for(Queue<T>& queue, Gate& gate, const Tick& tick) {
    try {
        for (;;) {
            if (auto found = queue.pop(tick_time)) return *found;
            if (tick) tick();
        }
    } catch (const Abandoned&) {
        gate.check();
        throw;
    }
}

}  // namespace quadmill::detail::external
