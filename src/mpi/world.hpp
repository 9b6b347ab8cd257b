// MPI for a program that mpirun has started. MPI is initialized for the life of this object.
#pragma once

namespace quadmill::detail::mpi {

// If it is destroyed by an exception, which usually all ranks throw, it waits a moment for the others. If they do not
// come, it does not finalize MPI, so that the end of this program ends the job.
class World {
  public:
    World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World();
};

}  // namespace quadmill::detail::mpi
