// MPI for a program that mpirun has started: initialized for as long as this lives.
#pragma once

namespace quadmill::detail::mpi {

// When it ends with an exception, which is mostly thrown on all ranks, it waits a moment for them; where they do not
// come, it leaves MPI as it is, so that the end of this program ends the job.
class World {
  public:
    World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World();
};

}  // namespace quadmill::detail::mpi
