// Sorts windows on its own CPU threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cpu/fork.hpp"
#include "cpu/workers.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill::detail::cpu {

// `factor` values per value of a sample, or 16 if that is more than `enough`. A power of two from 2^12 to 2^24.
[[nodiscard]] std::size_t window_of(double eps, double factor, double enough);

inline constexpr const char* begin_name = "WindowSorter::begin";
// Throws InvalidArgument if the max number of batches is in flight.
void check_in_flight(const char* function, std::size_t batches, std::size_t depth);

// The sample of WindowSorter::begin_sample(), taken from sorted windows.
struct WindowSample {
    static constexpr const char* begin_name = "WindowSorter::begin_sample";
    static void check(Keys keys, std::size_t window, std::size_t step);  // throws InvalidArgument
    // Number of keys in the sample of a window. Pre: step < window.
    [[nodiscard]] static std::size_t each(std::size_t window, std::size_t step) {
        return (window + step - 2) / step + 1;
    }
    void take() const;

    Keys keys;
    std::size_t window, step;
};

class CpuWindowSorter : public WindowSorter {
  public:
    // At most `depth` batches in flight.
    explicit CpuWindowSorter(unsigned threads, std::size_t depth = 2);
    CpuWindowSorter(const CpuWindowSorter&) = delete;
    CpuWindowSorter& operator=(const CpuWindowSorter&) = delete;
    ~CpuWindowSorter() override;

    void begin(Keys keys, std::size_t window) override;
    void finish() override;
    [[nodiscard]] std::size_t depth() const override { return depth_; }
    [[nodiscard]] std::size_t batch_bytes() const override;
    [[nodiscard]] std::size_t batch_windows() const override { return threads(); }
    [[nodiscard]] std::size_t bytes() const override {
        return sizeof *this + threads_.capacity() * sizeof(std::thread);
    }
    // Shorter than for other sorters, because threads share windows.
    [[nodiscard]] std::size_t window(double eps) const override;
    // Uses the process's pool of threads while its own threads sort.
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override;
    [[nodiscard]] Times times() const override;
    [[nodiscard]] std::string name() const override { return "cpu"; }
    // Whether the oldest batch is sorted.
    [[nodiscard]] bool is_done();
    [[nodiscard]] unsigned threads() const { return std::max(1U, static_cast<unsigned>(threads_.size())); }

  private:
    struct Batch {
        Keys keys;
        std::size_t window, windows, taken = 0, done = 0;
        std::exception_ptr error;
    };
    void start(std::size_t threads);
    void forget_threads();  // of a parent process
    // Starts the threads again in a child process. Throws InvalidArgument if the parent's threads were sorting.
    void move_here();
    void loop();
    static std::size_t at_once(std::size_t window);
    void sort_window(const Batch& batch, std::size_t i);

    mutable std::mutex mutex_;
    std::condition_variable work_, done_;
    std::list<Batch> batches_;  // an empty list has no memory
    std::size_t depth_;
    std::vector<std::thread> threads_;
    Workers workers_;
    double sort_ms_ = 0;
    bool stop_ = false;
    Birthplace process_;
    bool lost_ = false;  // whether the parent's threads were sorting keys
};

}  // namespace quadmill::detail::cpu
