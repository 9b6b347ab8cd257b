#include "mpi/terasort.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "external/merger.hpp"
#include "external/sorting.hpp"
#include "files/files.hpp"
#include "mpi/cuts.hpp"
#include "mpi/run_file.hpp"

namespace quadmill::detail::mpi {

namespace {

namespace fs = std::filesystem;
using external::FilePlace;

// XXH3 of everything that defines a job.
class Fingerprint {
  public:
    Fingerprint& add(std::string_view word) {
        words_.append(word).push_back('\0');
        return *this;
    }
    Fingerprint& add(std::integral auto number) { return add(std::to_string(number)); }
    [[nodiscard]] std::string text() const {
        std::array<char, 17> text{};
        const unsigned long long hash = XXH3_64bits(words_.data(), words_.size());
        std::snprintf(text.data(), text.size(), "%016llx", hash);
        return text.data();
    }

  private:
    std::string words_;
};

// A rank's number among all, as in OUT-00002-of-00004.
std::string rank_of_ranks(const Comm& comm) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "-%05d-of-%05d", comm.rank(), comm.size());
    return text.data();
}

// The target of the sorted records. Made, written, and destroyed by all ranks together.
class Output {
  public:
    Output(const Comm& comm, const std::string& path, Parts parts) : comm_(comm), parts_(parts) {
        comm.together([&] {
            if (parts == Parts::Apart || comm.rank() == 0)
                file_.emplace(parts == Parts::Apart ? path + rank_of_ranks(comm) : path,
                              files::OutputFile::OnSignal::LeaveAlone,
                              parts == Parts::Apart ? files::OutputFile::Named::Later : files::OutputFile::Named::Now);
            if (file_ && !file_->is_regular())
                throw InvalidArgument("terasort: '" + path +
                                      "' is not a file; ranks write to their own offsets of one file, or to --parts");
        });
        if (parts == Parts::Together) open_shared();
    }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() {
        if (shared_ != MPI_FILE_NULL) MPI_File_close(&shared_);
    }

    // Writes all bytes of a stream at this rank's position. Ranks call it independently.
    void write_all(external::Stream& stream, std::uint64_t offset, std::span<std::byte> block, const auto& tick) {
        for (;;) {
            const auto bytes = stream.fill(block);
            if (bytes > 0) write(block.first(bytes), offset);
            if (bytes < block.size()) return;
            offset += bytes;
            tick();
        }
    }

    // When all ranks have written everything, the output appears under its name.
    void commit() {
        if (shared_ != MPI_FILE_NULL) {
            const int synced = MPI_File_sync(shared_), closed = MPI_File_close(&shared_);
            comm_.together([&] {
                if (synced != MPI_SUCCESS || closed != MPI_SUCCESS)
                    throw IoError("cannot write '" + name_ + "': " + words_of(synced != MPI_SUCCESS ? synced : closed),
                                  name_, 0);
            });
        }
        comm_.together([&] {
            if (file_) file_->sync();
        });
        comm_.together([&] {
            if (file_) file_->commit();
        });
    }

  private:
    // Rank 0 has made the file in the output's folder. The others open it by its name.
    void open_shared() {
        name_ = comm_.rank() == 0 ? file_->temporary() : "";
        int length = static_cast<int>(name_.size());
        check(MPI_Bcast(&length, 1, MPI_INT, 0, comm_.get()), "MPI_Bcast");
        name_.resize(static_cast<std::size_t>(length));
        check(MPI_Bcast(name_.data(), length, MPI_CHAR, 0, comm_.get()), "MPI_Bcast");
        comm_.together([&] {
            const int file = open(name_.c_str(), O_WRONLY | O_CLOEXEC);
            if (file < 0)
                throw IoError("cannot open '" + name_ + "', which rank 0 has made: " + std::strerror(errno) +
                                  "; the output must be on a file system that all ranks see, or be written by --parts",
                              name_, 0);
            close(file);
        });
        const int opened = MPI_File_open(comm_.get(), name_.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &shared_);
        comm_.together([&] {
            if (opened != MPI_SUCCESS) throw IoError("cannot open '" + name_ + "': " + words_of(opened), name_, 0);
        });
    }

    void write(std::span<const std::byte> bytes, std::uint64_t offset) {
        if (parts_ == Parts::Apart) return file_->write(bytes);
        MPI_Status status;
        const int wrote = MPI_File_write_at(shared_, static_cast<MPI_Offset>(offset), bytes.data(),
                                            static_cast<int>(bytes.size()), MPI_BYTE, &status);
        int count = 0;
        if (wrote == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
        if (count == static_cast<int>(bytes.size())) return;
        throw IoError("cannot write '" + name_ + "' at byte " + std::to_string(offset) + ": " +
                          (wrote == MPI_SUCCESS ? "there is no room" : words_of(wrote)),
                      name_, offset);
    }

    const Comm& comm_;
    Parts parts_;
    std::optional<files::OutputFile> file_;
    std::string name_;
    MPI_File shared_ = MPI_FILE_NULL;
};

class Terasort {
  public:
    Terasort(const Comm& comm, const std::string& input, const std::string& output, const TerasortOptions& options,
             const std::optional<Context>& context)
        : comm_(comm), options_(options), context_(context), output_(output), input_(open_input(input)) {
        comm.together([&] { prepare(); });
    }

    TerasortStats run() {
        const cpu::Stopwatch total;
        find_runs();
        Output out(comm_, output_, options_.parts);
        timed(stats_.sort_seconds, [&] { sort_share(); });
        timed(stats_.cut_seconds, [&] { cut(); });
        timed(stats_.exchange_seconds, [&] { exchange(); });
        timed(stats_.merge_seconds, [&] {
            comm_.together([&] { merge(out); });
            out.commit();
        });
        if (run_) forget();
        return stats(total.ms() / 1e3);
    }

  private:
    void timed(double& seconds, const auto& work) {
        const cpu::Stopwatch time;
        work();
        seconds = time.ms() / 1e3;
    }

    std::unique_ptr<files::InputFile> open_input(const std::string& path) const {
        std::unique_ptr<files::InputFile> file;
        comm_.together([&] {
            if (path == "-" || output_ == "-")
                throw InvalidArgument(
                    "terasort: ranks read and write files at their places; give names of files, not -");
            file = std::make_unique<files::InputFile>(path);
            if (!file->size()) throw InvalidArgument("terasort: " + file->name() + " is not a file, which ranks need");
        });
        const auto size = *file->size();
        const auto min = comm_.min(size), max = comm_.max(size);
        if (min == max) return file;
        throw InvalidArgument("terasort: " + file->name() + " has " + std::to_string(min) + " bytes for one rank and " +
                              std::to_string(max) + " for another; all must see the same file");
    }

    // Examines the existing files and the options.
    void prepare() {
        const auto& format = options_.sort.format;
        if (format.kind != RecordFormat::Kind::Fixed)
            throw InvalidArgument("terasort: ranks sort records of one length; sort lines without mpirun");
        keys_.emplace("terasort", format);
        const auto size = *input_->size();
        record_ = format.bytes;
        all_ = size / record_;
        external::check_end(input_place(), all_ * record_, size, record_);
        const auto output = options_.parts == Parts::Apart ? output_ + rank_of_ranks(comm_) : output_;
        if (files::same_file(input_->path(), output))
            throw InvalidArgument("terasort: the output '" + output + "' is the input; give it another name");
        const auto me = static_cast<std::size_t>(comm_.rank());
        begin_ = part_begin(all_, me, comm_.ranks());
        mine_ = part_begin(all_, me + 1, comm_.ranks()) - begin_;
        name_runs();
    }

    void name_runs() {
        struct stat facts {};
        if (fstat(input_->descriptor(), &facts) != 0) external::fail_io("look at", input_place(), 0, errno);
        const auto target = fs::absolute(fs::path(output_)).lexically_normal();
        auto& temp = options_.sort.temp;
        if (temp.empty()) temp.push_back(target.parent_path().string());
        Fingerprint job;
        job.add(fs::absolute(fs::path(input_->path())).lexically_normal().string()).add(*input_->size());
        job.add(facts.st_mtim.tv_sec).add(facts.st_mtim.tv_nsec).add(record_);
        for (const auto& field : options_.sort.format.key)
            job.add(field.offset).add(field.bytes).add(static_cast<int>(field.type)).add(static_cast<int>(field.order));
        names_ = {temp[me() % temp.size()],
                  target.filename().string() + ".quadmill-run-" + Fingerprint().add(target.string()).text() + "-",
                  job.text() + rank_of_ranks(comm_)};
    }

    // Takes over the run of an earlier start, and removes its other files.
    void find_runs() {
        comm_.together([&] {
            if (options_.earlier == Earlier::Resume) run_ = RunFile::find(names_.path(""), mine_ * record_);
        });
        stats_.resumed = comm_.sum(run_ ? 1 : 0);
        // Done before a rank makes a new file, which others might take for a leftover.
        comm_.together([&] {
            for (const auto& folder : options_.sort.temp) remove_runs({folder, names_.output, {}});
        });
    }

    // Sorts this rank's range of bytes with its own memory and disk.
    void sort_share() {
        comm_.together([&] {
            engine_ = options_.sort.engine;
            if (run_) return;
            external::Sorting sorting("terasort", options_.sort, context_, {});
            run_ = RunFile::create(names_.path(""));
            sorting.begin({.input_bytes = mine_ * record_}, input_place());
            std::vector<std::byte> block(std::min<std::uint64_t>(sorting.block(), mine_ * record_));
            for (std::uint64_t at = 0, end = mine_ * record_; at < end;) {
                const auto bytes = std::min<std::uint64_t>(block.size(), end - at);
                read_input({block.data(), bytes}, begin_ * record_ + at);
                sorting.filler().push({block.data(), bytes});
                sorting.tick()();
                at += bytes;
            }
            sorting.finish();
            const auto bytes = sorting.write(run_->place(), files::BlockIo::Method::Auto);
            engine_ = sorting.stats("").engine;
            run_->is_whole(bytes);
        });
        if (options_.earlier == Earlier::Resume) run_->keep();
    }

    void cut() {
        std::optional<SortedKeys> sorted;
        comm_.together([&] { sorted.emplace(*run_, *keys_, mine_); });
        std::vector<std::uint64_t> places;
        for (std::size_t r = 1; r < comm_.ranks(); ++r) places.push_back(part_begin(all_, r, comm_.ranks()));
        cuts_ = cuts_at(comm_, *sorted, places);
        cuts_.insert(cuts_.begin(), 0);
        cuts_.push_back(mine_);
        std::vector<std::uint64_t> counts(comm_.ranks());
        for (std::size_t r = 0; r < counts.size(); ++r) counts[r] = cuts_[r + 1] - cuts_[r];
        come_ = comm_.transposed(counts);
        stats_.moved_bytes = (mine_ - counts[me()]) * record_;
    }

    // Each rank sends its parts to the ranks that they belong to, where each part becomes a run. In step k a rank sends
    // to the k-th next rank.
    void exchange() {
        comm_.together([&] { received_ = RunFile::create(names_.path(".received")); });
        std::uint64_t end = 0;
        for (const auto records : come_) {
            bases_.push_back(end);
            end = files::page_up(end + records * record_);
        }
        constexpr std::size_t max = std::size_t{8} << 20;  // the same on both ends, whatever their memory
        const auto message = std::clamp<std::size_t>(comm_.min(options_.sort.memory) / 16, record_, max);
        std::vector<std::byte> memory;
        comm_.together([&] { memory.resize(4 * message); });
        for (std::size_t step = 0; step < comm_.ranks(); ++step) exchange_step(step, memory, message);
        comm_.together([&] {
            // The last page of a run is read completely.
            if (ftruncate(received_->descriptor(), static_cast<off_t>(end)) != 0)
                external::fail_io("write", received_->place(), end, errno);
        });
    }

    void exchange_step(std::size_t step, std::span<std::byte> memory, std::size_t message) {
        const auto ranks = comm_.ranks(), to = (me() + step) % ranks, from = (me() + ranks - step) % ranks;
        const auto out_begin = cuts_[to] * record_, out_bytes = (cuts_[to + 1] - cuts_[to]) * record_;
        const auto in_bytes = come_[from] * record_;
        const auto part = [&](std::uint64_t bytes, std::size_t i) {
            const auto at = std::min<std::uint64_t>(bytes, i * message);
            return static_cast<std::size_t>(std::min<std::uint64_t>(message, bytes - at));
        };
        const auto block = [&](std::size_t which, std::size_t i) {
            return memory.subspan((2 * which + i % 2) * message);
        };
        // A rank that has failed continues to send messages, so that nobody waits. Then all throw.
        FirstFailure first;
        std::array<std::array<MPI_Request, 2>, 2> requests{};
        const auto start = [&](std::size_t i) {
            requests[i % 2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            if (const auto bytes = part(in_bytes, i); bytes > 0) {
                check(MPI_Irecv(block(0, i).data(), static_cast<int>(bytes), MPI_BYTE, static_cast<int>(from), 0,
                                comm_.get(), requests[i % 2].data()),
                      "MPI_Irecv");
            }
            if (const auto bytes = part(out_bytes, i); bytes > 0) {
                first.attempt([&] { run_->read(block(1, i).first(bytes), out_begin + i * message); });
                check(MPI_Isend(block(1, i).data(), static_cast<int>(bytes), MPI_BYTE, static_cast<int>(to), 0,
                                comm_.get(), &requests[i % 2][1]),
                      "MPI_Isend");
            }
        };
        const auto finish = [&](std::size_t i) {
            check(MPI_Waitall(2, requests[i % 2].data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
            first.attempt([&] {
                received_->write(block(0, i).first(part(in_bytes, i)), bases_[from] + i * message);
                tick();
            });
        };
        const auto messages = static_cast<std::size_t>((std::max(in_bytes, out_bytes) + message - 1) / message);
        for (std::size_t i = 0; i < messages; ++i) {
            start(i);
            if (i > 0) finish(i - 1);
        }
        if (messages > 0) finish(messages - 1);
        comm_.agree(first.failure());
    }

    // Merges the runs in the order of the ranks that they came from, so that equal keys keep the order of the input.
    void merge(Output& out) {
        if (options_.earlier == Earlier::Remove) run_.reset();  // frees its space on the disk
        std::vector<external::Merger::Input> inputs;
        for (std::size_t r = 0; r < come_.size(); ++r) {
            if (come_[r] > 0) inputs.push_back({received_->place(bases_[r]), come_[r] * record_});
        }
        if (inputs.empty()) return;
        const auto plan = external::plan_merge(options_.sort.memory - external::reserve,
                                               std::max<std::size_t>(inputs.size(), 2), record_);
        if (!plan || plan->fan_in < inputs.size()) {
            throw InvalidArgument("terasort: of " + std::to_string(options_.sort.memory) +
                                  " bytes of memory there are too few to merge the parts of " +
                                  std::to_string(inputs.size()) + " ranks; give more");
        }
        const external::Format format("terasort", options_.sort.format);
        external::StageClock reading;
        external::Merger merger(format, inputs, *plan, reading, [this] { tick(); });
        std::vector<std::byte> block(plan->write_block);
        out.write_all(merger, part_begin(all_, me(), comm_.ranks()) * record_, block, [this] { tick(); });
    }

    // The job is done, so nobody will resume it.
    void forget() { unlink(run_->place().path.c_str()); }

    [[nodiscard]] TerasortStats stats(double seconds) {
        auto all = stats_;
        const auto slowest = [&](double mine) {
            return static_cast<double>(comm_.max(static_cast<std::uint64_t>(mine * 1e6))) / 1e6;
        };
        const auto part = std::accumulate(come_.begin(), come_.end(), std::uint64_t{0});
        all.bytes = all_ * record_;
        all.records = all_;
        all.ranks = comm_.ranks();
        all.max_records = comm_.max(part);
        all.min_records = comm_.min(part);
        all.moved_bytes = comm_.sum(stats_.moved_bytes);
        all.peak_bytes = comm_.max(external::peak_resident_bytes());
        all.engine = engine_;
        all.seconds = slowest(seconds);
        all.sort_seconds = slowest(stats_.sort_seconds);
        all.cut_seconds = slowest(stats_.cut_seconds);
        all.exchange_seconds = slowest(stats_.exchange_seconds);
        all.merge_seconds = slowest(stats_.merge_seconds);
        return all;
    }

    void read_input(std::span<std::byte> memory, std::uint64_t offset) const {
        const auto got = files::read_at(input_->descriptor(), memory, offset);
        if (got.bytes == memory.size()) return;
        const auto end = offset + got.bytes;
        if (got.error != 0) external::fail_io("read", input_place(), end, got.error);
        throw IoError(input_->name() + " became shorter while it was read: it ends at byte " + std::to_string(end),
                      input_->path(), end);
    }

    [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(comm_.rank()); }
    [[nodiscard]] FilePlace input_place() const { return {input_->descriptor(), 0, input_->name(), input_->path()}; }
    void tick() const {
        if (options_.sort.progress &&
            options_.sort.progress({.phase = ExternalProgress::Phase::Merge}) == Proceed::Stop)
            throw SortStopped("the sort was stopped");
    }

    const Comm& comm_;
    TerasortOptions options_;
    const std::optional<Context>& context_;
    std::string output_;
    std::unique_ptr<files::InputFile> input_;
    std::optional<external::FixedKeys> keys_;
    RunNames names_;
    std::uint64_t record_ = 0, all_ = 0, begin_ = 0, mine_ = 0;  // all_ to mine_: counts of records
    std::unique_ptr<RunFile> run_, received_;
    std::vector<std::uint64_t> cuts_, come_, bases_;
    Engine engine_ = Engine::Cpu;
    TerasortStats stats_;
};

}  // namespace

TerasortStats terasort(const Comm& comm, const std::string& input, const std::string& output,
                       const TerasortOptions& options, const std::optional<Context>& context) {
    return Terasort(comm, input, output, options, context).run();
}

}  // namespace quadmill::detail::mpi
