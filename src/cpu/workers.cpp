#include "cpu/workers.hpp"

#include <algorithm>
#include <exception>
#include <system_error>

namespace quadmill::detail::cpu {

struct Workers::Job {
    const Work* work;
    std::size_t count;
    std::size_t released;  // items that may begin
    std::size_t claimed = 0, running = 0;
    std::vector<char> done;
    std::exception_ptr error;

    [[nodiscard]] bool has_work() const { return !error && claimed < released; }
};

Workers::Workers(unsigned threads) {
    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
    try {
        for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this] { loop(); });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
        // The machine has no more threads to give; those that there are will do.
    }
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void Workers::loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [this] { return stop_ || (job_ && job_->has_work()); });
        if (stop_) return;
        take_one(lock);
    }
}

bool Workers::take_one(std::unique_lock<std::mutex>& lock) {
    auto* job = job_;
    if (!job || !job->has_work()) return false;
    const auto index = job->claimed++;
    ++job->running;
    lock.unlock();
    std::exception_ptr error;
    try {
        (*job->work)(index);
    } catch (...) {
        error = std::current_exception();
    }
    lock.lock();
    --job->running;
    job->done[index] = 1;
    if (error && !job->error) job->error = error;
    done_.notify_all();
    return true;
}

void Workers::run(Job& job, const Work& first, const Work& then) {
    job.done.resize(job.count);
    std::unique_lock lock(mutex_);
    job_ = &job;
    work_.notify_all();
    const auto on_this_thread = [&](const Work& work, std::size_t i) {
        if (!work || job.error) return;
        lock.unlock();
        std::exception_ptr error;
        try {
            work(i);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (error && !job.error) job.error = error;
    };
    for (std::size_t i = 0; i < job.count && !job.error; ++i) {
        on_this_thread(first, i);
        if (first) {
            job.released = i + 1;
            work_.notify_one();
            continue;
        }
        while (!job.done[i] && !job.error) {
            if (!take_one(lock)) done_.wait(lock);
        }
        on_this_thread(then, i);
    }
    while (job.running > 0 || job.has_work()) {
        if (!take_one(lock)) done_.wait(lock);
    }
    job_ = nullptr;
    if (job.error) std::rethrow_exception(job.error);
}

void Workers::for_each(std::size_t count, const Work& work) {
    then_in_order(count, work, {});
}

void Workers::then_in_order(std::size_t count, const Work& work, const Work& then) {
    Job job{.work = &work, .count = count, .released = count, .done = {}, .error = {}};
    run(job, {}, then);
}

void Workers::after_in_order(std::size_t count, const Work& first, const Work& work) {
    Job job{.work = &work, .count = count, .released = 0, .done = {}, .error = {}};
    run(job, first, {});
}

}  // namespace quadmill::detail::cpu
