// This rank's part of the job: with MPI if mpirun has started several ranks, otherwise a single rank.
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

// The command is not linked to MPI's libraries, which took a fifth of the time of each start. In a rank, it starts
// again with them. Throws Error if they are not there.
void start_with_mpi(char** argv);

// Verbs without support for ranks (in a build without MPI, all verbs) report an error instead of doing the same work
// several times. Call it after all verbs are added.
void refuse_ranks(CLI::App& app);
// Under mpirun, waits until it has read this rank's output: Open MPI's mpirun was seen to drop the last words of a rank
// that fails.
void leave_last_words();

// Call it before an error is printed. If all ranks fail in the same way, only the first one should print: the others
// wait, and mpirun ends them, because it ends a job if one rank fails. A rank that fails alone prints after the wait.
void let_first_rank_speak();
// Call it in a rank that ends because another one has failed; the other one prints the error.
void let_failed_rank_speak();

class Ranks {
  public:
    Ranks();
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t rank() const;
    [[nodiscard]] bool is_first() const { return rank() == 0; }
    [[nodiscard]] bool are_several() const { return size() > 1; }
    // The sum over all ranks. All ranks must call it.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    // The max over all ranks.
    [[nodiscard]] int worst(int status) const;
    // The given number or, without one, the device for this rank on its machine.
    [[nodiscard]] int device(int given) const;
    [[nodiscard]] unsigned threads(unsigned given) const;

    // This rank's share of the files, which have records of that many bytes, or lines if that is 0. If there are at
    // least as many files as ranks, ranks take whole files in turn; otherwise each rank takes a part of each file.
    // Pipes are not divided. Throws IoError.
    [[nodiscard]] std::vector<input::Share> shares_of(const std::vector<std::string>& files,
                                                      std::size_t record_bytes) const;

    // On the first rank, the merged summary of all ranks; nothing on the others.
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
        mpi::Comm comm{"quadmill", world.comm()};
        quadmill::mpi::LocalRank local = quadmill::mpi::local_rank(comm.get());
    };
    std::unique_ptr<Job> job_;
#endif
};

}  // namespace quadmill::detail::cli
