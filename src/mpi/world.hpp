// MPI for a program that mpirun has started: initialized for as long as this lives.
#pragma once

namespace quadmill::detail::mpi {

// If it ends with an exception, which usually all ranks throw, it waits a moment for them; otherwise it does not
// finalize MPI, so that the end of this program ends the job.
class World {
  public:
    World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World();
};

}  // namespace quadmill::detail::mpi
