#include "feed.hpp"

#include <algorithm>
#include <utility>

namespace demo {

std::span<const float> MadeUp::take(std::size_t max, Wait /*wait*/) {
    values_.resize(max);
    drift_.make(values_);
    return values_;
}

// The thread is started last, when signals are blocked.
Reader::Reader(const std::string& path, const Reading& reading)
    : reading_(reading), input_(path), thread_([this] { read(); }) {}

Reader::~Reader() {
    {
        const std::scoped_lock lock(mutex_);
        state_ = State::Closed;
    }
    less_.notify_all();
    input_.stop();
    thread_.join();
    quadmill::detail::input::note_skipped("stream_monitor", skipped_);
}

void Reader::read() {
    std::exception_ptr failure;
    try {
        using namespace quadmill::detail::input;  // NOLINT(google-build-using-namespace): of this function
        read_stream(input_, reading_, {"32-bit float", quadmill::KeyType::F32}, parser_of<float, parse_exact>, skipped_,
                    [this](const Records& values) { put(values.as<float>()); });
    } catch (...) {
        failure = std::current_exception();
    }
    {
        const std::scoped_lock lock(mutex_);
        failure_ = failure;
        if (state_ == State::Reading) state_ = State::Ended;
    }
    more_.notify_all();
}

void Reader::put(std::span<const float> values) {
    while (!values.empty()) {
        std::unique_lock lock(mutex_);
        less_.wait(lock, [this] { return waiting_.size() < room || state_ == State::Closed; });
        if (state_ == State::Closed) return;
        const auto part = values.first(std::min(values.size(), room - waiting_.size()));
        waiting_.insert(waiting_.end(), part.begin(), part.end());
        values = values.subspan(part.size());
        lock.unlock();
        more_.notify_all();
    }
}

std::span<const float> Reader::take(std::size_t max, Wait wait) {
    std::unique_lock lock(mutex_);
    taken_.clear();
    for (;;) {
        if (wait == Wait::Yes) more_.wait(lock, [this] { return !waiting_.empty() || state_ != State::Reading; });
        const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), max - taken_.size()));
        taken_.insert(taken_.end(), waiting_.begin(), waiting_.begin() + count);
        waiting_.erase(waiting_.begin(), waiting_.begin() + count);
        less_.notify_all();
        if (wait == Wait::No || taken_.size() == max || (state_ != State::Reading && waiting_.empty())) break;
    }
    // So that ended() is deterministic.
    if (wait == Wait::Yes) more_.wait(lock, [this] { return !waiting_.empty() || state_ != State::Reading; });
    if (taken_.empty() && waiting_.empty() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return taken_;
}

bool Reader::ended() {
    const std::scoped_lock lock(mutex_);
    return state_ != State::Reading && waiting_.empty() && !failure_;
}

}  // namespace demo
