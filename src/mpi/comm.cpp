#include "mpi/comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <thread>

#include "quadmill/error.hpp"

namespace quadmill::detail::mpi {

std::string words_of(int status) {
    std::array<char, MPI_MAX_ERROR_STRING> words{};
    int length = 0;
    MPI_Error_string(status, words.data(), &length);
    return words.data();
}

void check(int status, const char* call) {
    if (status != MPI_SUCCESS) throw Error(std::string(call) + ": " + words_of(status));
}

namespace {

// Kinds of errors that are sent to other ranks.
enum class Kind : int { Other, InvalidArgument, IoError, OutOfMemory };

struct Failure {
    Kind kind = Kind::Other;
    std::string words;
};

Failure failure_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const InvalidArgument& error) {
        return {Kind::InvalidArgument, error.what()};
    } catch (const IoError& error) {
        return {Kind::IoError, error.what()};
    } catch (const std::bad_alloc&) {
        return {Kind::OutOfMemory, "out of memory"};
    } catch (const std::exception& error) {
        return {Kind::Other, error.what()};
    } catch (...) {
        return {Kind::Other, "an error that is not a std::exception"};
    }
}

[[noreturn]] void throw_as(Kind kind, const std::string& words) {
    switch (kind) {
        case Kind::InvalidArgument:
            throw InvalidArgument(words);
        case Kind::IoError:
            throw IoError(words, {}, 0);
        case Kind::OutOfMemory:
        case Kind::Other:
            break;
    }
    throw Error(words);
}

}  // namespace

Comm::Comm(const char* function, MPI_Comm of) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0)
        throw InvalidArgument(std::string(function) + ": MPI is not initialized; call MPI_Init first");
    if (of == MPI_COMM_NULL) throw InvalidArgument(std::string(function) + ": the communicator is MPI_COMM_NULL");
    int is_between_groups = 0;
    check(MPI_Comm_test_inter(of, &is_between_groups), "MPI_Comm_test_inter");
    if (is_between_groups != 0)
        throw InvalidArgument(std::string(function) + ": this is an intercommunicator; give an intracommunicator");
    check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Comm::~Comm() {
    MPI_Comm_free(&comm_);
}

namespace {

std::uint64_t of_all(const Comm& comm, std::uint64_t value, MPI_Op op) {
    std::uint64_t all = 0;
    check(MPI_Allreduce(&value, &all, 1, MPI_UINT64_T, op, comm.get()), "MPI_Allreduce");
    return all;
}

}  // namespace

std::uint64_t Comm::sum(std::uint64_t value) const {
    return of_all(*this, value, MPI_SUM);
}

std::uint64_t Comm::max(std::uint64_t value) const {
    return of_all(*this, value, MPI_MAX);
}

std::uint64_t Comm::min(std::uint64_t value) const {
    return of_all(*this, value, MPI_MIN);
}

void Comm::sum(std::span<std::uint64_t> values) const {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM, comm_),
          "MPI_Allreduce");
}

void Comm::sum_before(std::span<std::uint64_t> values) const {
    check(MPI_Exscan(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM, comm_),
          "MPI_Exscan");
    if (rank_ == 0) std::ranges::fill(values, 0);  // MPI leaves them undefined
}

std::vector<std::uint64_t> Comm::transposed(std::span<const std::uint64_t> values) const {
    std::vector<std::uint64_t> come(ranks());
    check(MPI_Alltoall(values.data(), 1, MPI_UINT64_T, come.data(), 1, MPI_UINT64_T, comm_), "MPI_Alltoall");
    return come;
}

void Comm::agree(const std::exception_ptr& failure) const {
    const int mine = failure ? rank_ : size_;
    int first = size_;
    check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
    if (first == size_) return;
    Failure said;
    if (rank_ == first) said = failure_of(failure);
    std::array<int, 2> head{static_cast<int>(said.kind), static_cast<int>(said.words.size())};
    check(MPI_Bcast(head.data(), 2, MPI_INT, first, comm_), "MPI_Bcast");
    said.words.resize(static_cast<std::size_t>(head[1]));
    check(MPI_Bcast(said.words.data(), head[1], MPI_CHAR, first, comm_), "MPI_Bcast");
    if (failure) std::rethrow_exception(failure);
    throw_as(static_cast<Kind>(head[0]), "rank " + std::to_string(first) + ": " + said.words);
}

void exchange(const Comm& comm, std::span<const std::byte> out, std::span<const std::uint64_t> sent,
              std::span<std::byte> in, std::span<const std::uint64_t> come, std::size_t message) {
    std::vector<MPI_Request> requests;
    const auto in_messages = [&](std::uint64_t begin, std::uint64_t end, const auto& start) {
        for (auto at = begin; at < end; at += message)
            start(at, static_cast<int>(std::min<std::uint64_t>(message, end - at)), &requests.emplace_back());
    };
    const auto me = static_cast<std::size_t>(comm.rank()), ranks = comm.ranks();
    for (std::size_t step = 1; step < ranks; ++step) {
        const auto from = (me + ranks - step) % ranks;
        in_messages(come[from], come[from + 1], [&](std::uint64_t at, int bytes, MPI_Request* request) {
            check(MPI_Irecv(in.data() + at, bytes, MPI_BYTE, static_cast<int>(from), 0, comm.get(), request),
                  "MPI_Irecv");
        });
    }
    for (std::size_t step = 1; step < ranks; ++step) {
        const auto to = (me + step) % ranks;
        in_messages(sent[to], sent[to + 1], [&](std::uint64_t at, int bytes, MPI_Request* request) {
            check(MPI_Isend(out.data() + at, bytes, MPI_BYTE, static_cast<int>(to), 0, comm.get(), request),
                  "MPI_Isend");
        });
    }
    if (const auto own = sent[me + 1] - sent[me]; own > 0)
        std::memcpy(in.data() + come[me], out.data() + sent[me], own);
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

unsigned threads_of(const quadmill::mpi::LocalRank& local, unsigned wanted) {
    if (wanted > 0) return wanted;
    return std::max(1U, std::thread::hardware_concurrency() / static_cast<unsigned>(local.size));
}

}  // namespace quadmill::detail::mpi

namespace quadmill::mpi {

LocalRank local_rank(MPI_Comm comm) {
    const quadmill::detail::mpi::Comm all("mpi::local_rank", comm);
    MPI_Comm here = MPI_COMM_NULL;
    quadmill::detail::mpi::check(MPI_Comm_split_type(all.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
                                 "MPI_Comm_split_type");
    LocalRank local;
    MPI_Comm_rank(here, &local.rank);
    MPI_Comm_size(here, &local.size);
    MPI_Comm_free(&here);
    return local;
}

}  // namespace quadmill::mpi
