// The job that this program is a rank of: by MPI, where mpirun has started several; otherwise alone.
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

// Whether a launcher says that several ranks of this program were started; asks the environment alone.
[[nodiscard]] bool has_ranks();

// Has the verbs that know no ranks, of a build without MPI all that work, refuse to do the same work several times.
// Call when all verbs are there.
void refuse_ranks(CLI::App& app);
// Where ranks were started, gives mpirun the time to read what this one wrote: of one that ends with an error, Open
// MPI's was seen to drop the last words.
void leave_last_words();

class Ranks {
  public:
    Ranks();
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t rank() const;
    [[nodiscard]] bool is_first() const { return rank() == 0; }
    [[nodiscard]] bool are_several() const { return size() > 1; }
    // Over all ranks, which all ask.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    // The largest of all ranks'.
    [[nodiscard]] int worst(int status) const;
    // As given, or a rank's share of its machine.
    [[nodiscard]] int device(int given) const;
    [[nodiscard]] unsigned threads(unsigned given) const;

    // This rank's share of the files, of records of that many bytes, or lines where that is 0: files in turn where they
    // are as many as ranks, otherwise a part of each; what is no file, whole. Throws IoError.
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
