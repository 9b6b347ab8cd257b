#include "files/block_io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#ifdef QUADMILL_URING
#include <liburing.h>
#endif

#include "files/fault.hpp"

namespace quadmill::detail::files {

bool fails(Call call) {
    const int error = fault_at(call).error;
    if (error != 0) errno = error;
    return error != 0;
}

Memory::Memory(std::size_t bytes) {
    grow(std::max<std::size_t>(bytes, 1));
}

void Memory::grow(std::size_t bytes) {
    const auto size = page_up(bytes);
    if (size <= size_) return;
    void* memory = data_ ? mremap(data_, size_, size, MREMAP_MAYMOVE)
                         : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(memory);
    size_ = size;
    madvise(memory, size_, MADV_HUGEPAGE);  // if it fails, pages are small
}

Memory::~Memory() {
    if (data_) munmap(data_, size_);
}

void make_direct(int file) {
    const int flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags | O_DIRECT);  // if it fails, the cache is used
}

namespace {

void make_cached(int file) {
    const int flags = fcntl(file, F_GETFL);
    if (flags >= 0) fcntl(file, F_SETFL, flags & ~O_DIRECT);
}

}  // namespace

struct BlockIo::Transfer {
    enum class Kind { Read, Write } kind = Kind::Read;
    int file = -1;
    std::byte* memory = nullptr;
    std::size_t size = 0;
    std::uint64_t offset = 0, tag = 0;
    std::size_t done = 0;
    int error = 0;
    bool was_cached = false;  // whether it was tried through the cache, though the file may be direct

    [[nodiscard]] std::byte* begin() const { return memory + done; }
    [[nodiscard]] std::size_t left() const { return size - done; }
    [[nodiscard]] std::uint64_t position() const { return offset + done; }
    [[nodiscard]] Fault fault() const { return fault_at(kind == Kind::Read ? Call::Read : Call::Write); }

    // Takes the system's answer: bytes, or a negative errno. Returns whether the transfer has ended.
    bool take(std::int64_t answer) {
        if (answer == -EINTR || answer == -EAGAIN) return false;
        // This file system requires other multiples, or the end of the file is not one. Each transfer tries again by
        // itself: another one may have made the file cached since this one began.
        if (answer == -EINVAL && !was_cached) {
            was_cached = true;
            make_cached(file);
            return false;
        }
        if (answer < 0) error = static_cast<int>(-answer);
        if (answer == 0 && kind == Kind::Write) error = EIO;
        if (answer <= 0) return true;
        done += static_cast<std::size_t>(answer);
        return done == size;
    }
    [[nodiscard]] Done result() const { return {tag, done, error}; }
};

class BlockIo::Engine {
  public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;
    virtual void begin(Transfer transfer) = 0;
    virtual std::optional<Done> next(std::chrono::milliseconds wait) = 0;
    [[nodiscard]] virtual const char* name() const = 0;
};

namespace {

// Each thread does one transfer at a time. A stream has only one thread.
class Threads final : public BlockIo::Engine {
  public:
    enum class Access { Anywhere, Stream };
    explicit Threads(Access access) : access_(access) {
        if (access == Access::Stream) stop_event_ = eventfd(0, EFD_CLOEXEC);
        const std::size_t count = access == Access::Stream ? 1 : 4;
        try {
            for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { loop(); });
        } catch (const std::system_error&) {
            if (threads_.empty()) throw;
        }
    }
    ~Threads() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
            waiting_.clear();
        }
        if (stop_event_ >= 0) static_cast<void>(eventfd_write(stop_event_, 1));
        work_.notify_all();
        for (auto& thread : threads_) thread.join();
        if (stop_event_ >= 0) close(stop_event_);
    }
    void begin(BlockIo::Transfer transfer) override {
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(transfer);
        }
        work_.notify_one();
    }
    std::optional<BlockIo::Done> next(std::chrono::milliseconds wait) override {
        std::unique_lock lock(mutex_);
        if (!ended_.wait_for(lock, wait, [this] { return !done_.empty(); })) return {};
        const auto first = done_.front();
        done_.pop_front();
        return first;
    }
    [[nodiscard]] const char* name() const override { return access_ == Access::Stream ? "stream" : "threads"; }

  private:
    void loop() {
        std::unique_lock lock(mutex_);
        for (;;) {
            work_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
            if (stop_) return;
            auto transfer = waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            while (!transfer.take(access_ == Access::Stream ? once_in_order(transfer) : once(transfer))) {
            }
            lock.lock();
            done_.push_back(transfer.result());
            ended_.notify_one();
        }
    }
    static std::int64_t answer(ssize_t bytes) { return bytes < 0 ? -errno : bytes; }
    static std::int64_t once(const BlockIo::Transfer& t) {
        const auto fault = t.fault();
        if (fault.error != 0) return -fault.error;
        const auto size = std::min(t.left(), fault.max);
        const auto position = static_cast<off_t>(t.position());
        return answer(t.kind == BlockIo::Transfer::Kind::Read ? pread(t.file, t.begin(), size, position)
                                                              : pwrite(t.file, t.begin(), size, position));
    }
    // Waits until the stream is ready, so that the wait can be interrupted: maybe nobody ever writes to a pipe.
    std::int64_t once_in_order(const BlockIo::Transfer& t) const {
        const auto fault = t.fault();
        if (fault.error != 0) return -fault.error;
        const bool reads = t.kind == BlockIo::Transfer::Kind::Read;
        std::array<pollfd, 2> ready{pollfd{t.file, static_cast<short>(reads ? POLLIN : POLLOUT), 0},
                                    pollfd{stop_event_, POLLIN, 0}};
        if (poll(ready.data(), ready.size(), -1) < 0) return -errno;
        if (ready[1].revents != 0) return -ECANCELED;
        // A pipe that is ready takes this many bytes without waiting.
        const auto size = std::min(t.left(), reads ? fault.max : std::min<std::size_t>(fault.max, page));
        return answer(reads ? ::read(t.file, t.begin(), size) : ::write(t.file, t.begin(), size));
    }

    Access access_;
    int stop_event_ = -1;
    std::mutex mutex_;
    std::condition_variable work_, ended_;
    std::deque<BlockIo::Transfer> waiting_;
    std::deque<BlockIo::Done> done_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

#ifdef QUADMILL_URING

class Uring final : public BlockIo::Engine {
  public:
    Uring() : slots_(depth) {
        const int error = io_uring_queue_init(depth, &ring_, 0);
        if (error != 0) throw std::system_error(-error, std::generic_category(), "io_uring");
        for (unsigned i = 0; i < depth; ++i) free_.push_back(i);
    }
    ~Uring() override {
        waiting_.clear();
        try {
            while (free_.size() < depth) reap(std::chrono::hours(1));
        } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
            // The kernel accepts no more requests. Closing the ring ends the transfers.
        }
        io_uring_queue_exit(&ring_);
    }
    void begin(BlockIo::Transfer transfer) override {
        waiting_.push_back(transfer);
        fill();
    }
    std::optional<BlockIo::Done> next(std::chrono::milliseconds wait) override {
        while (done_.empty()) {
            if (!reap(wait)) return {};
        }
        const auto first = done_.front();
        done_.pop_front();
        return first;
    }
    [[nodiscard]] const char* name() const override { return "io_uring"; }

  private:
    static constexpr unsigned depth = 32;

    // Submits waiting transfers to the kernel while there is room.
    void fill() {
        while (!waiting_.empty() && !free_.empty()) {
            const auto slot = free_.back();
            auto transfer = waiting_.front();
            waiting_.pop_front();
            if (!submit(slot, transfer)) continue;
            free_.pop_back();
        }
    }
    // False if it has ended already because the kernel did not accept it.
    bool submit(unsigned slot, BlockIo::Transfer& transfer) {
        const auto fault = transfer.fault();
        if (fault.error != 0) return ended(transfer, fault.error);
        constexpr std::size_t max = std::size_t{1} << 30;  // a length of 32 bits
        const auto size = static_cast<unsigned>(std::min({transfer.left(), fault.max, max}));
        auto* entry = io_uring_get_sqe(&ring_);
        if (!entry) {  // the ring is full of requests that the kernel did not accept
            if (const int error = hand_over(); error != 0) return ended(transfer, error);
            entry = io_uring_get_sqe(&ring_);
        }
        if (transfer.kind == BlockIo::Transfer::Kind::Read) {
            io_uring_prep_read(entry, transfer.file, transfer.begin(), size, transfer.position());
        } else {
            io_uring_prep_write(entry, transfer.file, transfer.begin(), size, transfer.position());
        }
        io_uring_sqe_set_data(entry, &slots_[slot]);
        slots_[slot] = transfer;
        const int error = hand_over();
        if (error == 0) return true;
        // The entry stays in the ring and goes with the next submission, so it must not use the memory any more.
        io_uring_prep_nop(entry);
        io_uring_sqe_set_data(entry, nullptr);
        return ended(transfer, error);
    }
    bool ended(BlockIo::Transfer& transfer, int error) {
        transfer.error = error;
        done_.push_back(transfer.result());
        return false;
    }
    // Submits everything in the ring. Otherwise returns errno.
    int hand_over() {
        while (io_uring_sq_ready(&ring_) > 0) {
            const int taken = io_uring_submit(&ring_);
            if (taken == -EINTR || taken == -EAGAIN) continue;
            if (taken <= 0) return taken < 0 ? -taken : EIO;
        }
        return 0;
    }
    bool reap(std::chrono::milliseconds wait) {
        __kernel_timespec time{.tv_sec = wait.count() / 1000, .tv_nsec = wait.count() % 1000 * 1000000};
        io_uring_cqe* entry = nullptr;
        const int error = io_uring_wait_cqe_timeout(&ring_, &entry, &time);
        if (error == -ETIME || error == -EINTR || error == -EAGAIN) return false;
        if (error != 0) throw std::system_error(-error, std::generic_category(), "io_uring");
        auto* transfer = static_cast<BlockIo::Transfer*>(io_uring_cqe_get_data(entry));
        if (!transfer) {  // of a request that was not accepted
            io_uring_cqe_seen(&ring_, entry);
            return true;
        }
        const bool has_ended = transfer->take(entry->res);
        io_uring_cqe_seen(&ring_, entry);
        const auto slot = static_cast<unsigned>(transfer - slots_.data());
        if (has_ended) done_.push_back(transfer->result());
        auto again = *transfer;
        if (has_ended || !submit(slot, again)) free_.push_back(slot);
        fill();
        return true;
    }

    io_uring ring_{};
    std::vector<BlockIo::Transfer> slots_;
    std::vector<unsigned> free_;
    std::deque<BlockIo::Transfer> waiting_;
    std::deque<BlockIo::Done> done_;
};

#endif

std::unique_ptr<BlockIo::Engine> make_engine(BlockIo::Method method) {
    if (method == BlockIo::Method::Stream) return std::make_unique<Threads>(Threads::Access::Stream);
#ifdef QUADMILL_URING
    if (method != BlockIo::Method::Threads) {
        try {
            return std::make_unique<Uring>();
        } catch (const std::system_error&) {
            if (method == BlockIo::Method::Uring) throw;  // otherwise not an error: containers often forbid it
        }
    }
#endif
    return std::make_unique<Threads>(Threads::Access::Anywhere);
}

}  // namespace

BlockIo::BlockIo(Method method) : engine_(make_engine(method)) {}

BlockIo::~BlockIo() = default;

void BlockIo::begin(Transfer transfer) {
    engine_->begin(transfer);
    ++in_flight_;
}

void BlockIo::read(int file, std::span<std::byte> memory, std::uint64_t offset, std::uint64_t tag) {
    begin({Transfer::Kind::Read, file, memory.data(), memory.size(), offset, tag});
}

void BlockIo::write(int file, std::span<const std::byte> memory, std::uint64_t offset, std::uint64_t tag) {
    // The system calls for reading and writing take the same kind of pointer.
    auto* data = const_cast<std::byte*>(memory.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    begin({Transfer::Kind::Write, file, data, memory.size(), offset, tag});
}

std::optional<BlockIo::Done> BlockIo::next(std::chrono::milliseconds wait) {
    auto done = engine_->next(wait);
    if (done) --in_flight_;
    return done;
}

const char* BlockIo::name() const {
    return engine_->name();
}

}  // namespace quadmill::detail::files
