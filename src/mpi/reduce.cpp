// Merges with a binomial tree, like MPI_Reduce, for data that are not numbers.
#include <algorithm>
#include <utility>

#include "mpi/comm.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::mpi {

namespace {

using Bytes = std::vector<std::byte>;

// Sends bytes: their number, whether there is memory for them, and the bytes in messages.
void send(const Comm& comm, int to, const Bytes& bytes) {
    const std::uint64_t size = bytes.size();
    int wanted = 0;
    check(MPI_Send(&size, 1, MPI_UINT64_T, to, 0, comm.get()), "MPI_Send");
    check(MPI_Recv(&wanted, 1, MPI_INT, to, 0, comm.get(), MPI_STATUS_IGNORE), "MPI_Recv");
    for (std::size_t at = 0; wanted != 0 && at < bytes.size(); at += max_message) {
        const auto part = static_cast<int>(std::min(max_message, bytes.size() - at));
        check(MPI_Send(bytes.data() + at, part, MPI_BYTE, to, 0, comm.get()), "MPI_Send");
    }
}

Bytes receive(const Comm& comm, int from) {
    std::uint64_t size = 0;
    check(MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, comm.get(), MPI_STATUS_IGNORE), "MPI_Recv");
    Bytes bytes;
    const auto answer = [&](int wanted) { check(MPI_Send(&wanted, 1, MPI_INT, from, 0, comm.get()), "MPI_Send"); };
    try {
        bytes.resize(size);
    } catch (...) {
        answer(0);
        throw;
    }
    answer(1);
    for (std::size_t at = 0; at < bytes.size(); at += max_message) {
        const auto part = static_cast<int>(std::min(max_message, bytes.size() - at));
        check(MPI_Recv(bytes.data() + at, part, MPI_BYTE, from, 0, comm.get(), MPI_STATUS_IGNORE), "MPI_Recv");
    }
    return bytes;
}

}  // namespace

// A rank that has failed sends an empty message, so that the others come to the end, where all throw.
void merge_by_tree(MPI_Comm host, const std::function<Bytes()>& save,
                   const std::function<void(std::span<const std::byte>)>& merge) {
    const Comm comm("mpi::reduce", host);
    FirstFailure first;
    for (int reach = 1; reach < comm.size(); reach *= 2) {
        if ((comm.rank() & reach) != 0) {
            Bytes bytes;
            first.attempt([&] { bytes = save(); });
            send(comm, comm.rank() - reach, bytes);
            break;
        }
        if (comm.rank() + reach >= comm.size()) continue;
        Bytes bytes;
        FirstFailure here;  // receives even after a failure, because the sender waits
        here.attempt([&] { bytes = receive(comm, comm.rank() + reach); });
        first.attempt([&] {
            if (here.failure()) std::rethrow_exception(here.failure());
            if (!bytes.empty()) merge(bytes);
        });
    }
    comm.agree(first.failure());
}

bool is_first(MPI_Comm comm) {
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank == 0;
}

}  // namespace quadmill::detail::mpi
