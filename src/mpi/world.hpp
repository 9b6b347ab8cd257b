// MPI for a program that mpirun has started. MPI is initialized for the life of this object.
#pragma once

#include "quadmill/mpi.hpp"

namespace quadmill::detail::mpi {

// If it is destroyed by an exception, which usually all ranks throw, it waits a moment for the others. If they do not
// come, it does not finalize MPI, so that the end of this program ends the job.
class World {
  public:
    World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World();
    // The communicator that has all ranks.
    [[nodiscard]] MPI_Comm comm() const { return comm_; }

  private:
    MPI_Comm comm_{};
};

}  // namespace quadmill::detail::mpi
