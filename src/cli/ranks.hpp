// The job of this rank: with MPI if mpirun has started several ranks, otherwise a single one.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/stream_input.hpp"
#if defined(QUADMILL_HAS_MPI)
#include "mpi/comm.hpp"
#include "mpi/world.hpp"
#include "quadmill/mpi.hpp"
#endif

namespace quadmill::detail::cli {

// Whether a launcher has started several ranks of this program, according to the environment.
[[nodiscard]] bool has_ranks();

// Makes verbs without support for ranks (in a build without MPI all) refuse to do the same work several times. Call
// after all verbs are added.
void refuse_ranks(CLI::App& app);
// Under mpirun, gives it time to read this rank's output: Open MPI's mpirun was seen to drop the last words of a rank
// that fails.
void leave_last_words();

// To be called before an error is printed. Where ranks fail alike, only the first is to say so: the others wait until
// mpirun, which ends a job of which one rank has failed, ends them. A rank that fails alone speaks after this wait.
void let_first_rank_speak();
// To be called by a rank that ends because another one has failed, which then speaks.
void let_failed_rank_speak();

class Ranks {
  public:
    Ranks();
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t rank() const;
    [[nodiscard]] bool is_first() const { return rank() == 0; }
    [[nodiscard]] bool are_several() const { return size() > 1; }
    // Sum over all ranks; collective.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    // The largest of all ranks'.
    [[nodiscard]] int worst(int status) const;
    // The given number, or a rank's share of its machine.
    [[nodiscard]] int device(int given) const;
    [[nodiscard]] unsigned threads(unsigned given) const;

    // This rank's share of the files, of records of that many bytes, or lines where that is 0: whole files in turn if
    // there are at least as many as ranks, otherwise a part of each; pipes as a whole. Throws IoError.
    [[nodiscard]] std::vector<input::Share> shares_of(const std::vector<std::string>& files,
                                                      std::size_t record_bytes) const;

    // The summaries of all ranks as one, on the first; nothing elsewhere.
    template <class Summary, class Load>
    [[nodiscard]] std::optional<Summary> merged(Summary mine, [[maybe_unused]] const Load& load) const {
#if defined(QUADMILL_HAS_MPI)
        if (are_several()) return quadmill::mpi::reduce(job_->comm.get(), std::move(mine), load);
#endif
        return std::optional<Summary>(std::move(mine));
    }

  private:
#if defined(QUADMILL_HAS_MPI)
    struct Job {
        mpi::World world;
        mpi::Comm comm{"quadmill", MPI_COMM_WORLD};
        quadmill::mpi::LocalRank local = quadmill::mpi::local_rank(comm.get());
    };
    std::unique_ptr<Job> job_;
#endif
};

}  // namespace quadmill::detail::cli
