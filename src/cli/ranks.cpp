#include "cli/ranks.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>

#include "files/files.hpp"
#include "gl/egl.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct Launched {
    int ranks = 1;
    const char* variable = "";  // the variable that shows it
    int rank = 0;
};

Launched launched() {
    const auto number = [](const char* name) {
        const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
        return value ? std::atoi(value) : 0;    // NOLINT(cert-err34-c): text that is not a number counts as 0
    };
    struct Names {
        const char *ranks, *rank;
    };
    // Open MPI's mpirun; MPICH's mpirun and Slurm's srun --mpi=pmi2; srun --mpi=pmix.
    for (const auto& [all, rank] : {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}}) {
        if (const int ranks = number(all); ranks > 1) return {ranks, all, number(rank)};
    }
    const bool by_pmix = std::getenv("PMIX_RANK") != nullptr;  // NOLINT(concurrency-mt-unsafe)
    const int steps = by_pmix ? number("SLURM_STEP_NUM_TASKS") : 1;
    return steps > 1 ? Launched{steps, "PMIX_RANK", number("PMIX_RANK")} : Launched{};
}

// The libraries' own names. `info` and the manual page say the same.
#if defined(QUADMILL_HAS_MPI)
constexpr std::array knows_ranks{"terasort", "quantiles", "frequent", "hhh",       "corrsum",
                                 "build",    "info",      "man",      "completion"};
#else
constexpr std::array knows_ranks{"info", "man", "completion"};
#endif

}  // namespace

bool has_ranks() {
    return launched().ranks > 1;
}

#if defined(QUADMILL_MPI_LIBRARY)
void start_with_mpi(char** argv) {
    if (!has_ranks() || dlsym(RTLD_DEFAULT, "MPI_Init_thread")) return;
    // Its own name is found by the system's loader, as mpirun arranges it; otherwise it is where the build found it.
    const char* library = QUADMILL_MPI_NAME;
    if (!dlopen(library, RTLD_LAZY)) library = QUADMILL_MPI_LIBRARY;
    if (!dlopen(library, RTLD_LAZY))
        throw Error(fmt::format("cannot load MPI, with which this program was built: {}", dlerror()));
    constexpr const char* variable = "LD_PRELOAD";
    const char* others = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    const auto value = others ? fmt::format("{}:{}", library, others) : library;
    setenv(variable, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): there is one thread
    execv("/proc/self/exe", argv);
    throw Error(fmt::format("cannot start again with MPI's libraries: {}", std::strerror(errno)));
}
#else
void start_with_mpi(char**) {}
#endif

void refuse_ranks(CLI::App& app) {
    const auto job = launched();
    if (job.ranks == 1) return;
    for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (std::ranges::find(knows_ranks, verb->get_name()) != knows_ranks.end()) continue;
        if (!verb->get_subcommands([](const CLI::App*) { return true; }).empty()) {
            refuse_ranks(*verb);
            continue;
        }
        verb->parse_complete_callback([job] {
            throw CLI::ValidationError(
#if defined(QUADMILL_HAS_MPI)
                fmt::format(
                    "this verb does not share work among ranks, so all {0} would do the same; terasort, quantiles, "
                    "frequent, hhh, corrsum and sketch build do. Start it without mpirun or, if each rank has its "
                    "own work, with env -u {1}",
                    job.ranks, job.variable));
#else
                fmt::format(
                    "this build has no MPI, so all {0} ranks would do the same work; build with -DQUADMILL_MPI=ON, "
                    "start it without mpirun or, if each rank has its own work, with env -u {1}",
                    job.ranks, job.variable));
#endif
        });
    }
}

void leave_last_words() {
    constexpr std::chrono::milliseconds enough{200};
    if (launched().ranks > 1) std::this_thread::sleep_for(enough);
}

// Gives the first rank time to fail, and mpirun time to end the job: on a busy machine, three seconds were too few.
constexpr std::chrono::seconds turn{10};

void let_first_rank_speak() {
    if (launched().rank > 0) std::this_thread::sleep_for(turn);
}

void let_failed_rank_speak() {
    std::this_thread::sleep_for(turn + turn / 3);
}

#if defined(QUADMILL_HAS_MPI)
Ranks::Ranks() : job_(has_ranks() ? std::make_unique<Job>() : nullptr) {}

std::size_t Ranks::size() const {
    return job_ ? job_->comm.ranks() : 1;
}

std::size_t Ranks::rank() const {
    return job_ ? static_cast<std::size_t>(job_->comm.rank()) : 0;
}

std::uint64_t Ranks::sum(std::uint64_t value) const {
    return job_ ? job_->comm.sum(value) : value;
}

int Ranks::worst(int status) const {
    return job_ ? static_cast<int>(job_->comm.max(static_cast<std::uint64_t>(status))) : status;
}

int Ranks::device(int given) const {
    if (given >= 0 || !job_ || !gl::has_hardware()) return given;
    const auto devices = static_cast<int>(Context::devices().size());
    return devices > 0 ? job_->local.rank % devices : given;
}

unsigned Ranks::threads(unsigned given) const {
    return job_ ? mpi::threads_of(job_->local, given) : given;
}
#else
Ranks::Ranks() = default;
std::size_t Ranks::size() const {
    return 1;
}
std::size_t Ranks::rank() const {
    return 0;
}
std::uint64_t Ranks::sum(std::uint64_t value) const {
    return value;
}
int Ranks::worst(int status) const {
    return status;
}
int Ranks::device(int given) const {
    return given;
}
unsigned Ranks::threads(unsigned given) const {
    return given;
}
#endif

namespace {

// The offset of the first line that begins at or after `at`.
std::uint64_t line_begin(const files::InputFile& file, std::uint64_t at) {
    if (at == 0) return 0;
    std::array<char, 1 << 16> block{};
    for (--at;;) {
        const auto got = files::read_at(file.descriptor(), std::as_writable_bytes(std::span(block)), at);
        const std::string_view come(block.data(), got.bytes);
        if (const auto end = come.find('\n'); end != come.npos) return at + end + 1;
        at += got.bytes;
        if (got.error != 0)
            throw IoError(
                "cannot read " + file.name() + " at byte " + std::to_string(at) + ": " + std::strerror(got.error),
                file.path(), at);
        if (got.bytes < block.size()) return at;
    }
}

// Expands patterns in names, for launchers that run no shell.
std::vector<std::string> expanded(const std::vector<std::string>& names) {
    std::vector<std::string> files;
    for (const auto& name : names) {
        glob_t found{};
        const bool is_pattern = name.find_first_of("*?[") != std::string::npos && access(name.c_str(), F_OK) != 0;
        if (is_pattern && glob(name.c_str(), 0, nullptr, &found) == 0) {
            files.insert(files.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
        } else {
            files.push_back(name);
        }
        globfree(&found);
    }
    return files;
}

}  // namespace

std::vector<input::Share> Ranks::shares_of(const std::vector<std::string>& names, std::size_t record_bytes) const {
    const auto files = expanded(names);
    std::vector<input::Share> shares;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto& path = files[i];
        const auto taker = path == "-" ? 0 : i % size();  // mpirun passes standard input to the first rank
        const bool in_turn = !are_several() || path == "-" || files.size() >= size();
        if (in_turn || !files::is_regular(path)) {
            if (taker == rank()) shares.push_back({.path = path});
            continue;
        }
        const files::InputFile file(path);
        const auto cut = [&](std::size_t part) {
            const auto bytes = *file.size();
            if (part == size()) return bytes;
            const auto unit = std::max<std::size_t>(record_bytes, 1);
            const auto at = bytes / unit / size() * part * unit + bytes / unit % size() * part / size() * unit;
            return record_bytes == 0 ? line_begin(file, at) : at;
        };
        const auto begin = cut(rank()), end = cut(rank() + 1);
        if (begin < end) shares.push_back({.path = path, .begin = begin, .end = end});
    }
    if (shares.empty()) shares.push_back({.path = "/dev/null"});
    return shares;
}

}  // namespace quadmill::detail::cli
