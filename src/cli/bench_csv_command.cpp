#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <random>

#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "cpu/stopwatch.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct Statement {
    const char *name, *sql;  // {0} is the table, {1} another one with a tenth of its rows
};
constexpr std::array<Statement, 16> statements{{
    {"count", "SELECT COUNT(*) FROM {0}"},
    {"four aggregates", "SELECT SUM(price), AVG(price), MIN(count), MAX(id) FROM {0}"},
    {"20 groups", "SELECT city, COUNT(*), AVG(price) FROM {0} GROUP BY city"},
    {"20 medians", "SELECT city, SUM(price), MEDIAN(price) FROM {0} GROUP BY city"},
    {"sum and median", "SELECT SUM(price), MEDIAN(count) FROM {0}"},
    {"IN and range", "SELECT COUNT(*) FROM {0} WHERE city IN ('city 1', 'city 7') AND price BETWEEN 100 AND 900"},
    {"numbers out", "SELECT id, price FROM {0} WHERE price > 4000"},
    {"rows out", "SELECT * FROM {0} WHERE city = 'city 3'"},
    {"first 10", "SELECT * FROM {0} LIMIT 10"},
    {"top 100", "SELECT * FROM {0} ORDER BY price LIMIT 100"},
    {"two keys", "SELECT id FROM {0} ORDER BY city, price"},
    {"distinct codes", "SELECT COUNT(DISTINCT code) FROM {0}"},
    {"500,000 groups", "SELECT code, COUNT(*) FROM {0} GROUP BY code"},
    {"texts out", "SELECT note FROM {0} WHERE count < 40"},
    {"join", "SELECT COUNT(*) FROM {0} AS a JOIN {1} AS b ON a.code = b.code"},
    {"all rows", "SELECT * FROM {0}"},
}};

// A process: its CPU time, its time, and its peak of memory.
struct Used {
    double cpu_s = 0, wall_s = 0, peak_mib = 0;
};

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double cpu_seconds(const rusage& used) {
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Runs `work` in a process of its own, whose output goes nowhere. Its exit status is that of `work`.
template <class Work>
Used used_by(const Work& work) {
    const cpu::Stopwatch time;
    const auto child = fork();
    if (child < 0) throw Error("bench csv: no process can be started");
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDOUT_FILENO);
        try {
            _exit(work());
        } catch (const std::exception& error) {
            fmt::print(stderr, "{}\n", error.what());
            _exit(1);
        }
    }
    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child || status != 0) throw Error("bench csv: a statement failed");
    return {cpu_seconds(used), time.ms() / 1000, static_cast<double>(used.ru_maxrss) / 1024};
}

// DuckDB's C interface, from a library that is opened at run time.
class DuckDb {
  public:
    explicit DuckDb(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (!library_) throw InvalidArgument("--duckdb: " + std::string(dlerror()));
        take(open_, "duckdb_open");
        take(connect_, "duckdb_connect");
        take(query_, "duckdb_query");
        if (open_(nullptr, &database_) != 0 || connect_(database_, &connection_) != 0)
            throw Error("bench csv: DuckDB does not open a database");
    }
    [[nodiscard]] bool run(const std::string& sql) {
        std::array<std::uint64_t, 16> result{};  // of 6 words, and nothing of it is read
        return query_(connection_, sql.c_str(), result.data()) == 0;
    }

  private:
    template <class Function>
    void take(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(dlsym(library_, name));
        if (!function) throw InvalidArgument(std::string("--duckdb: the library has no ") + name);
    }
    void* library_;
    int (*open_)(const char*, void**) = nullptr;
    int (*connect_)(void*, void**) = nullptr;
    int (*query_)(void*, const char*, void*) = nullptr;
    void *database_ = nullptr, *connection_ = nullptr;
};

struct BenchCsv : BenchRun {
    std::size_t rows = 5000000;
    unsigned threads = 2;
    std::string folder, duckdb;

    void run();

  private:
    [[nodiscard]] std::string table(const char* name, std::size_t n) const;
    [[nodiscard]] Used ours(const std::string& sql) const;
    [[nodiscard]] Used theirs(const std::string& sql) const;
};

// The path of a table with that name, which is made if it is not there.
std::string BenchCsv::table(const char* name, std::size_t n) const {
    auto path = fmt::format("{}/{}-{}.csv", folder, name, n);
    if (std::filesystem::exists(path)) return path;
    files::OutputFile file(path);
    std::mt19937 random(1);
    std::string text = "id,city,price,count,code,note\n";
    for (std::size_t i = 0; i < n; ++i) {
        text += fmt::format("{},city {},{}.{:02},{},A{},note {}\n", i, random() % 20, random() % 5000, random() % 100,
                            random() % 100, random() % 500000, i);
        if (text.size() < (std::size_t{1} << 20U) && i + 1 < n) continue;
        file.write(std::as_bytes(std::span(text)));
        text.clear();
    }
    file.commit();
    return path;
}

Used BenchCsv::ours(const std::string& sql) const {
    const auto count = std::to_string(threads);
    return used_by([&] {
        execl("/proc/self/exe", "quadmill", "query", sql.c_str(), "--threads", count.c_str(),
              static_cast<char*>(nullptr));
        return 1;
    });
}

// The statement's time alone, without opening the library; rows stay in DuckDB's memory and are not printed.
Used BenchCsv::theirs(const std::string& sql) const {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw Error("bench csv: no pipe can be made");
    auto used = used_by([&] {
        DuckDb base(duckdb);
        if (!base.run("SET threads = " + std::to_string(threads))) return 1;
        rusage before{}, after{};
        getrusage(RUSAGE_SELF, &before);
        const cpu::Stopwatch time;
        if (!base.run(sql)) return 1;
        getrusage(RUSAGE_SELF, &after);
        const std::array<double, 2> found{cpu_seconds(after) - cpu_seconds(before), time.ms() / 1000};
        return write(ends[1], found.data(), sizeof found) == sizeof found ? 0 : 1;
    });
    std::array<double, 2> found{};
    const auto got = read(ends[0], found.data(), sizeof found);
    for (const int end : ends) close(end);
    if (got != sizeof found) throw Error("bench csv: DuckDB's time is missing");
    used.cpu_s = found[0];
    used.wall_s = found[1];
    return used;
}

Json to_json(const Used& used) {
    return {{"cpu_s", used.cpu_s}, {"wall_s", used.wall_s}, {"peak_mib", used.peak_mib}};
}

void BenchCsv::run() {
    if (!duckdb.empty()) {  // opened in a process of its own for each statement; here, only whether it can be
        void* const library = dlopen(duckdb.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (!library) throw InvalidArgument("--duckdb: " + std::string(dlerror()));
        dlclose(library);
    }
    const auto big = table("big", rows), small = table("small", std::max<std::size_t>(1, rows / 10));
    repeat = 1;
    auto report = facts(std::nullopt, {});
    report["rows"] = rows;
    report["bytes"] = std::filesystem::file_size(big);
    report["threads_used"] = threads;
    report["statements"] = Json::array();
    if (!json) {
        print_facts(std::nullopt, "the whole command from start to end; DuckDB's statement within its process");
        fmt::print("{} rows, {} bytes, {} threads\n{:<16} {:>7} {:>7} {:>8}{}\n", rows, report["bytes"].dump(), threads,
                   "", "CPU s", "wall s", "peak MiB",
                   duckdb.empty() ? "" : "  | DuckDB: the same, and CPU ours / DuckDB");
    }
    for (const auto& [name, sql] : statements) {
        const auto text = fmt::format(fmt::runtime(sql), "'" + big + "'", "'" + small + "'");
        const auto mine = ours(text);
        Json line{{"name", name}, {"sql", text}, {"ours", to_json(mine)}};
        const auto rival = duckdb.empty() ? std::optional<Used>() : theirs(text);
        if (rival) line["duckdb"] = to_json(*rival);
        report["statements"].push_back(std::move(line));
        if (json) continue;
        fmt::print("{:<16} {:>7.3f} {:>7.3f} {:>8.0f}", name, mine.cpu_s, mine.wall_s, mine.peak_mib);
        if (rival)
            fmt::print("  | {:>7.3f} {:>7.3f} {:>8.0f} {:>6.2f}", rival->cpu_s, rival->wall_s, rival->peak_mib,
                       mine.cpu_s / rival->cpu_s);
        fmt::print("\n");
    }
    if (json) fmt::print("{}\n", report.dump());
}

}  // namespace

void add_bench_csv_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchCsv>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand("csv", "Time `quadmill query` on a large CSV");
    verb->add_option("FOLDER", work->folder, "Where the tables are, or will be written")
        ->required()
        ->check(CLI::ExistingDirectory);
    verb->add_option("--rows", work->rows, "Rows of the table; 5,000,000 are 230 MB")
        ->transform(count_of_keys())
        ->capture_default_str();
    verb->add_option("--threads", work->threads, "CPU threads of both")
        ->check(input::thread_count())
        ->capture_default_str();
    verb->add_option("--duckdb", work->duckdb, "Measure DuckDB, too: its library, such as libduckdb.so")
        ->check(CLI::ExistingFile)
        ->type_name("FILE");
    verb->add_flag("--json", work->json, "One JSON object on standard output");
    verb->footer(
        "The table has the columns id, city (20 texts), price (two decimals), count (0 to 99), code (500,000 texts) "
        "and note (a text per row). Next to other work, compare CPU seconds. npm's @duckdb/node-bindings contains "
        "DuckDB's library.\n\n"
        "Examples:\n"
        "  quadmill bench csv .\n"
        "  quadmill bench csv . --rows 1000000 --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
