// Facts about the job that the cases need.
#pragma once

#include <vector>

#include "quadmill/mpi.hpp"

inline int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int ranks() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

// The elements of all ranks, one rank after the other, on every rank.
template <class T>
std::vector<T> all_of(const std::vector<T>& mine) {
    int bytes = static_cast<int>(mine.size() * sizeof(T));
    std::vector<int> each(static_cast<std::size_t>(ranks())), begin(each.size());
    MPI_Allgather(&bytes, 1, MPI_INT, each.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int total = 0;
    for (std::size_t r = 0; r < each.size(); ++r) {
        begin[r] = total;
        total += each[r];
    }
    std::vector<T> all(static_cast<std::size_t>(total) / sizeof(T));
    MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), each.data(), begin.data(), MPI_BYTE, MPI_COMM_WORLD);
    return all;
}
