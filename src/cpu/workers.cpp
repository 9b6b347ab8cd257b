#include "cpu/workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "cpu/fork.hpp"

namespace quadmill::detail::cpu {

// Each thread helps the first job that has work. A caller works only for its own job and waits only for items of it
// that others have begun, so nested jobs always end.
class ThreadPool {
  public:
    struct Job {
        const Workers::Work* work;
        std::size_t count;
        std::size_t released;  // number of items that may begin
        unsigned max_helpers;
        std::size_t claimed = 0, running = 0;
        unsigned helpers = 0;  // threads of the pool that work on it
        std::vector<char> done{};
        std::exception_ptr error{};
        std::condition_variable changed{};  // signalled when an item is done

        [[nodiscard]] bool has_work() const { return !error && claimed < released; }
        [[nodiscard]] bool wants_help() const { return has_work() && helpers < max_helpers; }
        // Number of threads to wake for the items that may begin now. The caller takes one item itself.
        [[nodiscard]] std::size_t wanted() const {
            return released > 0 ? std::min<std::size_t>(max_helpers, released - 1) : 0;
        }
    };

    // The process's pool, made on first use.
    static std::shared_ptr<ThreadPool> shared();
    ~ThreadPool();

    // Grows to that many threads, or as many as the machine can start. Returns their number.
    unsigned grow_to(unsigned threads);
    void run(Job& job, const Workers::Work& first, const Workers::Work& then);

  private:
    void loop();
    static bool take_one(Job& job, std::unique_lock<std::mutex>& lock);
    static void run_alone(const Job& job, const Workers::Work& first, const Workers::Work& then);

    std::mutex mutex_;
    std::condition_variable work_;
    std::list<Job*> jobs_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

namespace {
struct Shared {
    std::mutex mutex{};
    std::weak_ptr<ThreadPool> pool{};
    std::shared_ptr<ThreadPool> kept{};  // in a child process, which may still have Workers of the parent
    Birthplace process{};
};
}  // namespace

std::shared_ptr<ThreadPool> ThreadPool::shared() {
    static Shared shared;
    if (!shared.process.is_here()) replace_after_fork(shared);  // a child process begins with one thread
    const std::lock_guard lock(shared.mutex);
    auto there = shared.pool.lock();
    if (there) return there;
    there.reset(new ThreadPool, [process = Birthplace()](ThreadPool* pool) {
        if (process.is_here()) delete pool;  // a parent's threads do not exist here and cannot be joined
    });
    shared.pool = there;
    if (forks() > 0) shared.kept = there;
    return there;
}

std::shared_ptr<ThreadPool> Workers::pool() const {
    if (process_.is_here()) return pool_;
    auto here = ThreadPool::shared();
    here->grow_to(threads_ - 1);
    return here;
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
}

unsigned ThreadPool::grow_to(unsigned threads) {
    const std::lock_guard lock(mutex_);
    try {
        while (threads_.size() < threads) threads_.emplace_back([this] { loop(); });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
        // The machine cannot start more threads; those that run are enough.
    }
    return static_cast<unsigned>(threads_.size());
}

void ThreadPool::loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        auto job = jobs_.end();
        work_.wait(lock, [&] {
            job = std::ranges::find_if(jobs_, [](const Job* some) { return some->wants_help(); });
            return stop_ || job != jobs_.end();
        });
        if (stop_) return;
        auto& helped = **job;
        ++helped.helpers;
        while (take_one(helped, lock)) {
        }
        --helped.helpers;
        helped.changed.notify_all();
    }
}

// Runs an item without holding the lock, if there is an item.
bool ThreadPool::take_one(Job& job, std::unique_lock<std::mutex>& lock) {
    if (!job.has_work()) return false;
    const auto index = job.claimed++;
    ++job.running;
    lock.unlock();
    std::exception_ptr error;
    try {
        (*job.work)(index);
    } catch (...) {
        error = std::current_exception();
    }
    lock.lock();
    --job.running;
    job.done[index] = 1;
    if (error && !job.error) job.error = error;
    job.changed.notify_all();
    return true;
}

void ThreadPool::run_alone(const Job& job, const Workers::Work& first, const Workers::Work& then) {
    for (std::size_t i = 0; i < job.count; ++i) {
        for (const auto* work : {&first, job.work, &then}) {
            if (*work) (*work)(i);
        }
    }
}

void ThreadPool::run(Job& job, const Workers::Work& first, const Workers::Work& then) {
    if (job.max_helpers == 0 || job.count < 2) return run_alone(job, first, then);
    std::list<Job*> own;
    try {
        job.done.resize(job.count);
        own.push_back(&job);
    } catch (const std::bad_alloc&) {  // no memory to share it: the caller does all the work, so that it is complete
        return run_alone(job, first, then);
    }
    std::unique_lock lock(mutex_);
    const auto position = own.begin();
    jobs_.splice(jobs_.end(), own);
    for (auto wake = job.wanted(); wake > 0; --wake) work_.notify_one();
    const auto on_this_thread = [&](const Workers::Work& work, std::size_t i) {
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
            if (job.wants_help()) work_.notify_one();
            continue;
        }
        while (!job.done[i] && !job.error) {
            if (!take_one(job, lock)) job.changed.wait(lock);
        }
        on_this_thread(then, i);
    }
    while (job.running > 0 || job.helpers > 0 || job.has_work()) {
        if (!take_one(job, lock)) job.changed.wait(lock);
    }
    jobs_.erase(position);
    if (job.error) std::rethrow_exception(job.error);
}

unsigned threads_or_all(unsigned threads) {
    static const unsigned all = std::max(1U, std::thread::hardware_concurrency());  // a slow call
    return threads > 0 ? threads : all;
}

Workers::Workers(unsigned threads) : pool_(ThreadPool::shared()) {
    threads = threads_or_all(threads);
    threads_ = std::min(threads, pool_->grow_to(threads - 1) + 1);
}

void Workers::for_each(std::size_t count, const Work& work) const {
    then_in_order(count, work, {});
}

void Workers::then_in_order(std::size_t count, const Work& work, const Work& then) const {
    ThreadPool::Job job{.work = &work, .count = count, .released = count, .max_helpers = threads_ - 1};
    pool()->run(job, {}, then);
}

void Workers::after_in_order(std::size_t count, const Work& first, const Work& work) const {
    ThreadPool::Job job{.work = &work, .count = count, .released = 0, .max_helpers = threads_ - 1};
    pool()->run(job, first, {});
}

}  // namespace quadmill::detail::cpu
