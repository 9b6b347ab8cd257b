#include <algorithm>
#include <exception>
#include <utility>

#include "cpu/sort.hpp"
#include "cpu/stopwatch.hpp"
#include "cpu/window_sorter.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

std::unique_ptr<WindowSorter> cpu_window_sorter(unsigned threads) {
    return std::make_unique<detail::cpu::CpuWindowSorter>(threads);
}

}  // namespace quadmill

namespace quadmill::detail::cpu {

CpuWindowSorter::CpuWindowSorter(unsigned threads, std::size_t depth) : depth_(depth), workers_(threads) {
    threads = threads_or_all(threads);
    if (threads > 1) start(threads);
}

void CpuWindowSorter::start(std::size_t threads) {
    try {
        for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
        // The machine cannot start more threads; those that run are enough.
    }
}

void CpuWindowSorter::forget_threads() {
    process_.move_here();
    replace_after_fork(mutex_);
    replace_after_fork(work_);
    replace_after_fork(done_);
    replace_after_fork(threads_);
}

void CpuWindowSorter::move_here() {
    if (!process_.is_here()) {
        const auto threads = threads_.size();
        forget_threads();
        lost_ = std::ranges::any_of(batches_, [](const Batch& batch) { return batch.done < batch.windows; });
        if (threads > 0 && !lost_) start(threads);
    }
    if (lost_) {
        throw InvalidArgument(
            "WindowSorter: threads were sorting keys when this process was forked, and a child process has no threads "
            "of its parent; finish() each batch before the fork (of a summary: ask it, which waits for its threads)");
    }
}

CpuWindowSorter::~CpuWindowSorter() {
    if (!process_.is_here()) forget_threads();
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
}

// Several windows per thread, so that all threads end at about the same time.
std::size_t CpuWindowSorter::batch_bytes() const {
    return (std::size_t{1} << 19U) * threads();
}

WindowSorter::Times CpuWindowSorter::times() const {
    const std::lock_guard lock(mutex_);
    return {.upload = 0, .sort = sort_ms_ / threads(), .readback = 0};
}

// Takes several short windows per lock.
std::size_t CpuWindowSorter::at_once(std::size_t window) {
    constexpr std::size_t keys = std::size_t{1} << 13U;
    return std::max<std::size_t>(keys / window, 1);
}

void CpuWindowSorter::sort_window(const Batch& batch, std::size_t i) {
    const auto first = i * batch.window;
    sort_keys(part(batch.keys, first, std::min(batch.window, batch.keys.size() - first)), Order::Ascending);
}

void CpuWindowSorter::share(std::size_t count, const std::function<void(std::size_t)>& work) {
    workers_.for_each(count, work);
}

void CpuWindowSorter::begin(Keys keys, std::size_t window) {
    window = checked_window(begin_name, keys, window);
    move_here();
    {
        const std::lock_guard lock(mutex_);
        check_in_flight(begin_name, batches_.size(), depth());
    }
    Batch batch{.keys = keys, .window = window, .windows = (keys.size() + window - 1) / window, .error = {}};
    if (threads_.empty()) {
        const Stopwatch time;
        for (std::size_t i = 0; i < batch.windows; ++i) sort_window(batch, i);
        batch.taken = batch.done = batch.windows;
        sort_ms_ += time.ms();
    }
    const auto shares = (batch.windows + at_once(window) - 1) / at_once(window);
    {
        const std::lock_guard lock(mutex_);
        batches_.push_back(std::move(batch));
    }
    for (auto wake = std::min(shares, threads_.size()); wake > 0; --wake) work_.notify_one();
}

void CpuWindowSorter::loop() {
    std::unique_lock lock(mutex_);
    const auto next = [this] {
        return std::find_if(batches_.begin(), batches_.end(), [](const Batch& b) { return b.taken < b.windows; });
    };
    while (true) {
        work_.wait(lock, [&] { return stop_ || next() != batches_.end(); });
        if (stop_) return;
        auto& batch = *next();  // the reference stays valid: until the batch is done, it is in the list
        const auto first = batch.taken, end = std::min(first + at_once(batch.window), batch.windows);
        batch.taken = end;
        lock.unlock();
        const Stopwatch time;
        std::exception_ptr error;
        try {
            for (auto i = first; i < end; ++i) sort_window(batch, i);
        } catch (...) {
            error = std::current_exception();
        }
        const double ms = time.ms();
        lock.lock();
        sort_ms_ += ms;
        if (error) batch.error = error;
        batch.done += end - first;
        if (batch.done == batch.windows) done_.notify_all();
    }
}

bool CpuWindowSorter::is_done() {
    move_here();
    const std::lock_guard lock(mutex_);
    return batches_.front().done == batches_.front().windows;
}

void CpuWindowSorter::finish() {
    move_here();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return batches_.front().done == batches_.front().windows; });
    const auto error = batches_.front().error;
    batches_.pop_front();
    if (error) std::rethrow_exception(error);
}

std::size_t CpuWindowSorter::window(double eps) const {
    return window_of(eps, 64, 0x1p20);
}

}  // namespace quadmill::detail::cpu
