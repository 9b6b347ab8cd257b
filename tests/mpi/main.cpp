// All ranks run all cases, in the same order; ctest starts 1 to 4 of them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "quadmill/mpi.hpp"

int main(int argc, char** argv) {
    int has = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &has);
    const int failed = doctest::Context(argc, argv).run();
    // If only one rank has failed, the others would wait for it.
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, failed);
    MPI_Finalize();
    return failed;
}
