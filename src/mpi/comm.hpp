// The library's own communicator, common messages, and errors that all ranks throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/mpi.hpp"

namespace quadmill::detail::mpi {

// MPI's text for a failed call.
[[nodiscard]] std::string words_of(int status);
// Throws Error if an MPI call has failed.
void check(int status, const char* call);

// Work in several parts. Remembers the first error, and skips the parts after it.
class FirstFailure {
  public:
    template <class Work>
    void attempt(Work&& work) {
        if (failure_) return;
        try {
            std::forward<Work>(work)();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

  private:
    std::exception_ptr failure_;
};

// A duplicate of the application's communicator. Made, used and destroyed by all ranks together.
class Comm {
  public:
    // Throws InvalidArgument if MPI is not initialized or `of` is null; `function` goes into the message.
    Comm(const char* function, MPI_Comm of);
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;
    ~Comm();

    [[nodiscard]] MPI_Comm get() const { return comm_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size_); }

    // The sum over all ranks.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    [[nodiscard]] std::uint64_t max(std::uint64_t value) const;
    [[nodiscard]] std::uint64_t min(std::uint64_t value) const;
    void sum(std::span<std::uint64_t> values) const;
    // Sums over the ranks before this one.
    void sum_before(std::span<std::uint64_t> values) const;
    // Sends values[r] of all ranks to rank r.
    [[nodiscard]] std::vector<std::uint64_t> transposed(std::span<const std::uint64_t> values) const;

    // Throws on all ranks if one has failed: on that rank its own error, on the others an error that names the rank.
    void agree(const std::exception_ptr& failure) const;
    // Work that may fail on a single rank.
    template <class Work>
    void together(Work&& work) const {
        FirstFailure first;
        first.attempt(std::forward<Work>(work));
        agree(first.failure());
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

// Max elements of a message: below 2^31, MPI's limit.
inline constexpr std::size_t max_message = std::size_t{1} << 30;

// Sends out[sent[r], sent[r + 1]) to rank r and receives from rank r into in[come[r], come[r + 1]).
void exchange(const Comm& comm, std::span<const std::byte> out, std::span<const std::uint64_t> sent,
              std::span<std::byte> in, std::span<const std::uint64_t> come, std::size_t message = max_message);

// The beginning of part `part` when n is cut into `parts` parts.
[[nodiscard]] constexpr std::uint64_t part_begin(std::uint64_t n, std::size_t part, std::size_t parts) {
    return n / parts * part + n % parts * part / parts;
}

// CPU threads for a rank if all ranks share the machine.
[[nodiscard]] unsigned threads_of(const quadmill::mpi::LocalRank& local, unsigned wanted);

}  // namespace quadmill::detail::mpi
