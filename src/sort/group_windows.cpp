#include "sort/group_windows.hpp"

#include <algorithm>
#include <utility>

#include "cpu/sort.hpp"
#include "cpu/window_sorter.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::sort {

namespace {

std::string words_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& failure) {
        return failure.what();
    }
}

}  // namespace

bool is_failure_of_device(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const GlError&) {
        return true;
    } catch (const ContextError&) {
        return true;
    } catch (...) {
        return false;
    }
}

GroupUse::GroupUse(std::shared_ptr<GroupState> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->mutex);
    for (std::size_t i = 0; i < state_->shares.size(); ++i) {
        if (state_->shares[i].failure.empty()) devices_.push_back(i);
    }
    if (devices_.empty()) throw GlError("each device of the group has failed; DeviceGroup::shares() says why");
    if (std::exchange(state_->in_use, true))
        throw InvalidArgument("the group has a sorter already, whose threads own its contexts; destroy it first");
}

GroupUse::~GroupUse() {
    const std::lock_guard lock(state_->mutex);
    state_->in_use = false;
}

void GroupUse::has_sorted(std::size_t device, std::uint64_t keys) const {
    const std::lock_guard lock(state_->mutex);
    auto& share = state_->shares[device];
    ++share.batches;
    share.keys += keys;
}

void GroupUse::has_failed(std::size_t device, const std::exception_ptr& why) const {
    const std::lock_guard lock(state_->mutex);
    state_->shares[device].failure = words_of(why);
}

GroupWindows::GroupWindows(std::shared_ptr<GroupState> state, std::vector<Make> make, unsigned threads)
    : workers_(threads), times_(make.size()) {
    use_.emplace(std::move(state));
    const auto& devices = use_->devices();
    starting_ = alive_ = devices.size();
    try {
        for (const auto i : devices) threads_.emplace_back([this, i, to_make = make[i]] { work(i, to_make); });
    } catch (...) {
        stop();
        throw;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return starting_ == 0; });
    if (!last_failure_ || (alive_ > 0 && is_failure_of_device(last_failure_))) return;
    lock.unlock();
    stop();
    std::rethrow_exception(last_failure_);
}

GroupWindows::~GroupWindows() {
    stop();
}

void GroupWindows::require_here() const {
    if (process_.is_here()) return;
    throw ContextError(
        "WindowSorter: the device group belongs to the process that this one was forked from, and drivers do not work "
        "across a fork; make a sorter on the CPU here (cpu_window_sorter), or start the process by exec()");
}

void GroupWindows::stop() noexcept {
    if (!process_.is_here()) {  // the threads and what they hold belong to the parent process
        cpu::replace_after_fork(changed_);
        cpu::replace_after_fork(mutex_);
        cpu::replace_after_fork(threads_);
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    use_.reset();
}

void GroupWindows::work(std::size_t device, const Make& make) {
    Made made;
    try {
        made = make();
    } catch (...) {
        leave_out(device, {}, std::current_exception());
    }
    {
        const std::lock_guard lock(mutex_);
        --starting_;
        if (made.sorter) {
            depth_ += made.sorter->depth();
            batch_bytes_ = std::max(batch_bytes_, made.sorter->batch_bytes());
            batch_windows_ = std::max(batch_windows_, made.sorter->batch_windows());
            name_ = made.sorter->name();
            can_sample_ = can_sample_ && made.sorter->can_sample();
        }
    }
    changed_.notify_all();
    if (!made.sorter) return;
    Begun begun;
    try {
        begun.reserve(made.sorter->depth());  // reserved now, so that adding a batch cannot fail and lose it
        serve(device, *made.sorter, begun);
    } catch (...) {
        const auto why = std::current_exception();
        made.sorter.reset();  // before another device takes the batches: this device writes nothing from here on
        leave_out(device, begun, why);
    }
}

void GroupWindows::serve(std::size_t device, WindowSorter& sorter, Begun& begun) {
    for (;;) {
        if (const auto batch = next(begun.size(), sorter.depth())) {
            begun.push_back(batch);
            try {
                if (batch->step > 0) {
                    sorter.begin_sample(batch->keys, batch->window, batch->step);
                } else {
                    sorter.begin(batch->keys, batch->window);
                }
            } catch (...) {
                if (is_failure_of_device(std::current_exception())) throw;
                begun.pop_back();
                done(batch, std::current_exception());
            }
            continue;
        }
        if (begun.empty()) return;
        std::exception_ptr error;
        try {
            sorter.finish();
        } catch (...) {
            error = std::current_exception();
            if (is_failure_of_device(error)) throw;
        }
        const auto batch = begun.front();
        begun.erase(begun.begin());
        use_->has_sorted(device, batch->keys.size());
        {
            const std::lock_guard lock(mutex_);
            times_[device] = sorter.times();
        }
        done(batch, error);
    }
}

GroupWindows::BatchPointer GroupWindows::next(std::size_t begun, std::size_t depth) {
    if (begun == depth) return nullptr;
    std::unique_lock lock(mutex_);
    if (begun == 0) changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return nullptr;
    auto batch = waiting_.front();
    waiting_.pop_front();
    return batch;
}

void GroupWindows::done(const BatchPointer& batch, std::exception_ptr error) {
    {
        const std::lock_guard lock(mutex_);
        batch->done = true;
        batch->error = std::move(error);
    }
    changed_.notify_all();
}

void GroupWindows::leave_out(std::size_t device, const Begun& begun, const std::exception_ptr& why) {
    if (is_failure_of_device(why)) use_->has_failed(device, why);
    {
        const std::lock_guard lock(mutex_);
        --alive_;
        last_failure_ = why;
        waiting_.insert(waiting_.begin(), begun.begin(), begun.end());
        if (alive_ == 0) {
            for (const auto& batch : std::exchange(waiting_, {})) {
                batch->done = true;
                batch->error = why;
            }
        }
    }
    changed_.notify_all();
}

void GroupWindows::begin(Keys keys, std::size_t window) {
    begin_batch(keys, cpu::checked_window(cpu::begin_name, keys, window), 0);
}

void GroupWindows::begin_sample(Keys keys, std::size_t window, std::size_t step) {
    if (!can_sample_) return WindowSorter::begin_sample(keys, window, step);
    cpu::WindowSample::check(keys, window, step);
    begin_batch(keys, window, step);
}

void GroupWindows::begin_batch(Keys keys, std::size_t window, std::size_t step) {
    require_here();
    const std::lock_guard lock(mutex_);
    cpu::check_in_flight(cpu::begin_name, in_flight_.size(), depth_);
    auto batch = std::make_shared<Batch>(Batch{keys, window, step});
    in_flight_.push_back(batch);
    if (alive_ > 0) {
        try {
            waiting_.push_back(std::move(batch));
        } catch (...) {
            in_flight_.pop_back();
            throw;
        }
    } else {
        batch->done = true;
        batch->error = last_failure_;
    }
    changed_.notify_all();
}

void GroupWindows::finish() {
    require_here();
    std::unique_lock lock(mutex_);
    const auto batch = in_flight_.front();
    changed_.wait(lock, [&] { return batch->done; });
    in_flight_.pop_front();
    if (batch->error) std::rethrow_exception(batch->error);
}

WindowSorter::Times GroupWindows::times() const {
    const std::lock_guard lock(mutex_);
    Times all;
    for (const auto& of_device : times_) {
        all.upload += of_device.upload;
        all.sort += of_device.sort;
        all.readback += of_device.readback;
    }
    return all;
}

}  // namespace quadmill::detail::sort
