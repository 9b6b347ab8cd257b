// Reads and writes in flight at the same time, by each method.
#include "files/block_io.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "files/fault.hpp"
#include "files/temporary_file.hpp"
#include "quadmill/error.hpp"

using namespace quadmill::detail::files;
using namespace std::chrono_literals;

namespace {

std::string folder() {
    return std::filesystem::temp_directory_path();
}

std::vector<BlockIo::Method> methods() {
    std::vector methods{BlockIo::Method::Threads};
    try {
        const BlockIo io(BlockIo::Method::Uring);
        if (std::string(io.name()) == "io_uring") methods.push_back(BlockIo::Method::Uring);
    } catch (const std::exception& error) {
        MESSAGE("no io_uring here: " << error.what());
    }
    return methods;
}

BlockIo::Done wait(BlockIo& io) {
    const auto done = io.next(20s);
    REQUIRE(done);
    return *done;
}

// The descriptor of the only ring of this process; -1 if there is none.
int ring_descriptor() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone) == "anon_inode:[io_uring]")
            return std::stoi(entry.path().filename().string());
    }
    return -1;
}

std::byte pattern(std::size_t i) {
    return static_cast<std::byte>(i * 2654435761U >> 13U);
}

// Sets the hook for the length of a scope.
struct Faults {
    explicit Faults(FaultHook hook) { fault_hook = hook; }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
    ~Faults() { fault_hook = nullptr; }
};

}  // namespace

TEST_CASE("blocks are read as they were written, in any order") {
    constexpr std::size_t block = 3 * page, blocks = 100;  // more than a ring holds
    for (const auto method : methods()) {
        for (const bool direct : {false, true}) {
            const TemporaryFile file(folder());
            if (direct) make_direct(file.descriptor());
            const Memory written(blocks * block), read(blocks * block);
            for (std::size_t i = 0; i < written.size(); ++i) written.data()[i] = pattern(i);
            BlockIo io(method);
            for (std::size_t i = blocks; i-- > 0;)
                io.write(file.descriptor(), {written.data() + i * block, block}, i * block, i);
            CHECK(io.in_flight() == blocks);
            std::map<std::uint64_t, int> seen;
            for (std::size_t i = 0; i < blocks; ++i) {
                const auto done = wait(io);
                CHECK(done.error == 0);
                CHECK(done.bytes == block);
                ++seen[done.tag];
            }
            CHECK(seen.size() == blocks);
            CHECK(io.in_flight() == 0);
            for (std::size_t i = 0; i < blocks; ++i)
                io.read(file.descriptor(), {read.data() + i * block, block}, i * block, i);
            while (io.in_flight() > 0) CHECK(wait(io).bytes == block);
            CHECK(std::equal(written.data(), written.data() + written.size(), read.data()));
        }
    }
}

TEST_CASE("short and failed transfers are reported") {
    for (const auto method : methods()) {
        const TemporaryFile file(folder());
        REQUIRE(pwrite(file.descriptor(), "hello", 5, 0) == 5);
        const Memory memory(2 * page);
        BlockIo io(method);
        for (const bool direct : {false, true}) {
            if (direct) make_direct(file.descriptor());
            io.read(file.descriptor(), {memory.data(), page}, 0, 7);
            auto done = wait(io);
            CHECK(done.tag == 7);
            CHECK(done.error == 0);
            CHECK(done.bytes == 5);
            io.read(file.descriptor(), {memory.data(), page}, page, 8);
            done = wait(io);
            CHECK(done.error == 0);
            CHECK(done.bytes == 0);
        }
        io.read(-1, {memory.data(), page}, 0, 9);
        CHECK(wait(io).error == EBADF);
        const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        io.write(full, {memory.data(), page}, 0, 10);
        CHECK(wait(io).error == ENOSPC);
        close(full);
    }
}

TEST_CASE("a transfer of which the system did a part continues, even with a direct file") {
    const Faults faults([](Call call) {
        Fault fault;
        if (call == Call::Read || call == Call::Write) fault.max = 1000;
        return fault;
    });
    for (const auto method : methods()) {
        const TemporaryFile file(folder());
        make_direct(file.descriptor());
        const Memory written(2 * page), read(2 * page);
        for (std::size_t i = 0; i < written.size(); ++i) written.data()[i] = pattern(i);
        BlockIo io(method);
        io.write(file.descriptor(), {written.data(), written.size()}, 0, 0);
        CHECK(wait(io).bytes == written.size());
        io.read(file.descriptor(), {read.data(), read.size()}, 0, 0);
        CHECK(wait(io).bytes == read.size());
        CHECK(std::equal(written.data(), written.data() + written.size(), read.data()));
    }
}

TEST_CASE("transfers of one direct file that the file system refuses at the same time all go through the cache") {
    constexpr std::size_t many = 4;  // as many as there are threads
    for (const auto method : methods()) {
        const TemporaryFile file(folder());
        const Memory written(many * page), read(many * page);
        for (std::size_t i = 0; i < written.size(); ++i) written.data()[i] = pattern(i);
        REQUIRE(pwrite(file.descriptor(), written.data(), written.size(), 0) == static_cast<ssize_t>(written.size()));
        make_direct(file.descriptor());
        static std::atomic<std::size_t> refused;
        refused = 0;
        // Injected faults are answers, and all are refused before any transfer continues. For a ring, odd offsets are
        // used instead, which file systems may refuse.
        const Faults faults([](Call call) {
            if (call != Call::Read || refused >= many) return Fault{};
            for (++refused; refused < many;) std::this_thread::yield();
            return Fault{EINVAL};
        });
        BlockIo io(method);
        const bool by_ring = std::string(io.name()) == "io_uring";
        if (by_ring) fault_hook = nullptr;
        const std::size_t odd = by_ring ? 1 : 0;
        for (std::size_t i = 0; i < many; ++i)
            io.read(file.descriptor(), {read.data() + i * page + odd, page - odd}, i * page + odd, i);
        for (std::size_t i = 0; i < many; ++i) {
            const auto done = wait(io);
            CHECK(done.error == 0);
            CHECK(done.bytes == page - odd);
        }
        for (std::size_t i = 0; i < many; ++i) {
            CHECK(std::equal(read.data() + i * page + odd, read.data() + (i + 1) * page,
                             written.data() + i * page + odd));
        }
    }
}

TEST_CASE("a request that the kernel rejects ends with its error, and leaves the ring unchanged") {
    const TemporaryFile file(folder());
    const Memory written(2 * page), read(2 * page);
    for (std::size_t i = 0; i < written.size(); ++i) written.data()[i] = pattern(i);
    REQUIRE(pwrite(file.descriptor(), written.data(), written.size(), 0) == static_cast<ssize_t>(written.size()));
    for (const auto method : methods()) {
        if (method != BlockIo::Method::Uring) continue;
        BlockIo io(method);
        const int ring = ring_descriptor();
        REQUIRE(ring >= 0);
        const int kept = fcntl(ring, F_DUPFD_CLOEXEC, 0), none = open("/dev/null", O_RDWR | O_CLOEXEC);
        REQUIRE(dup2(none, ring) == ring);
        constexpr std::uint64_t many = 40;  // more than a ring holds
        for (std::uint64_t i = 0; i < many; ++i) io.read(file.descriptor(), {read.data() + page, page}, page, i);
        for (std::uint64_t i = 0; i < many; ++i) {
            const auto done = wait(io);
            CHECK(done.error != 0);
            CHECK(done.bytes == 0);
        }
        REQUIRE(dup2(kept, ring) == ring);
        close(kept);
        close(none);
        // The first transfer finds the ring full, and empties it.
        io.read(file.descriptor(), {read.data(), page}, 0, 1);
        CHECK(wait(io).error == 0);
        CHECK(std::equal(read.data(), read.data() + page, written.data()));
        CHECK(
            std::all_of(read.data() + page, read.data() + 2 * page, [](std::byte one) { return one == std::byte{}; }));
    }
}

TEST_CASE("a stream is read and written in order, and ends without waiting") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const Memory written(40 * page), read(40 * page);
    for (std::size_t i = 0; i < written.size(); ++i) written.data()[i] = pattern(i);
    {
        BlockIo to(BlockIo::Method::Stream), from(BlockIo::Method::Stream);
        for (std::size_t i = 0; i < 4; ++i) to.write(pipe[1], {written.data() + i * 10 * page, 10 * page}, 99, i);
        for (std::size_t i = 0; i < 2; ++i) from.read(pipe[0], {read.data() + i * 20 * page, 20 * page}, 99, i);
        for (std::uint64_t i = 0; i < 4; ++i) CHECK(wait(to).tag == i);
        for (std::uint64_t i = 0; i < 2; ++i) CHECK(wait(from).bytes == 20 * page);
        CHECK(std::equal(written.data(), written.data() + written.size(), read.data()));
        from.read(pipe[0], {read.data(), page}, 0, 5);
        CHECK_FALSE(from.next(20ms));
    }  // nobody will ever write to it
    close(pipe[0]);
    close(pipe[1]);
}

TEST_CASE("a temporary file has no name, even if one is needed to make it") {
    const auto place = std::filesystem::path(folder()) / ("quadmill-test-" + std::to_string(getpid()));
    std::filesystem::create_directory(place);
    {
        const TemporaryFile file(place);
        CHECK(std::filesystem::is_empty(place));
        CHECK(pwrite(file.descriptor(), "x", 1, 0) == 1);
    }
    // What a program that was killed has left, and what a running one holds.
    const auto [at_work, held] = create_locked(place / "runs");
    REQUIRE(at_work >= 0);
    std::ofstream(place / "runs.part-quadmill-abcdef") << "left";
    std::ofstream(place / "runs.part-quadmill-abc") << "not ours";
    static std::atomic<int> calls;
    calls = 0;
    {
        const Faults faults([](Call call) { return Fault{call == Call::Open && calls++ == 0 ? EOPNOTSUPP : 0}; });
        const TemporaryFile file(place);
        CHECK(calls == 2);
        CHECK(pwrite(file.descriptor(), "x", 1, 0) == 1);
    }
    CHECK(std::filesystem::exists(held));
    CHECK_FALSE(std::filesystem::exists(place / "runs.part-quadmill-abcdef"));
    CHECK(std::filesystem::exists(place / "runs.part-quadmill-abc"));
    close(at_work);
    {
        const Faults faults([](Call) { return Fault{EACCES}; });
        CHECK_THROWS_WITH_AS(TemporaryFile(place.string()), doctest::Contains("Permission denied"), quadmill::IoError);
    }
    std::filesystem::remove_all(place);
    CHECK_THROWS_WITH_AS(TemporaryFile(place.string()), doctest::Contains(place.c_str()), quadmill::IoError);
}
