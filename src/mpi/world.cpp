#include "mpi/world.hpp"

#include <chrono>
#include <exception>
#include <thread>

#include "mpi/comm.hpp"

namespace quadmill::detail::mpi {

World::World() {
    int has = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &has), "MPI_Init_thread");
    comm_ = MPI_COMM_WORLD;
}

World::~World() {
    if (std::uncaught_exceptions() > 0) {
        using namespace std::chrono;
        constexpr auto patience = seconds(5);
        MPI_Request all_are_here = MPI_REQUEST_NULL;
        MPI_Ibarrier(comm_, &all_are_here);
        int done = 0;
        for (const auto begin = steady_clock::now(); done == 0; std::this_thread::sleep_for(milliseconds(1))) {
            MPI_Test(&all_are_here, &done, MPI_STATUS_IGNORE);
            if (done == 0 && steady_clock::now() - begin > patience) return;
        }
    }
    MPI_Finalize();
}

}  // namespace quadmill::detail::mpi
