#include "bench/line_files.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <random>
#include <span>
#include <string_view>
#include <thread>

#include "files/files.hpp"
#include "input/line_source.hpp"
#include "input/text.hpp"

namespace quadmill::detail::bench {

namespace {

// Lines of CSV: a number from 0, a number with two digits after the point, two words and a number, a fraction.
class LineMaker {
  public:
    LineMaker() {
        constexpr std::size_t count = 5000, min = 3, lengths = 7, letters = 26;
        words_.resize(count);
        for (auto& word : words_) {
            for (auto left = min + random_() % lengths; left > 0; --left)
                word += static_cast<char>('a' + random_() % letters);
        }
    }
    void add(std::string& to) {
        constexpr std::uint64_t cents = 1'000'000'000, numbers = 10'000, fractions = 1'000'000'000;
        const auto price = random_() % cents;
        fmt::format_to(std::back_inserter(to), "{},{}.{:02},{} {} {},0.{:09}\n", next_++, price / 100, price % 100,
                       word(), word(), random_() % numbers, random_() % fractions);
    }

  private:
    const std::string& word() { return words_[random_() % words_.size()]; }

    std::mt19937_64 random_{1};
    std::vector<std::string> words_;
    std::uint64_t next_ = 0;
};

std::uint64_t make_lines(files::OutputFile& out, std::uint64_t lines) {
    constexpr std::size_t block = std::size_t{1} << 20U;
    LineMaker maker;
    std::string text;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < lines; ++i) {
        maker.add(text);
        if (text.size() < block && i + 1 < lines) continue;
        out.write(std::as_bytes(std::span(text)));
        bytes += text.size();
        text.clear();
    }
    return bytes;
}

struct LineCheck {
    std::uint64_t lines = 0, checksum = 0;  // the same for the same lines in any order
    bool in_order = true;
};

LineCheck check_lines(const std::string& path, LineColumn column) {
    constexpr std::size_t longest = 4096;
    input::LineSource source(path, {}, longest, [](int /*descriptor*/) {});
    LineCheck check;
    double number_before = 0;
    std::string text_before;
    while (const auto line = source.next()) {
        std::uint64_t hash = 14695981039346656037U;
        for (const char letter : *line) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
        check.checksum += hash ^ hash >> 29U;
        ++check.lines;
        std::array<std::string_view, 3> fields{};
        auto rest = *line;
        for (auto& field : fields) {
            field = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(field.size() + 1, rest.size()));
        }
        if (column == LineColumn::Number) {
            double number = 0;
            check.in_order =
                input::parse_number(fields[1], number) == nullptr && number >= number_before && check.in_order;
            number_before = number;
        } else {
            check.in_order = fields[2] >= text_before && check.in_order;
            text_before = fields[2];
        }
    }
    return check;
}

const char* key_of(LineColumn column) {
    return column == LineColumn::Number ? "-k2,2n" : "-k3,3";
}

// Reads all columns as text, so that it writes the bytes that it read.
constexpr const char* duckdb_script = R"js(
let duckdb;
try {
    duckdb = require('@duckdb/node-api');
} catch (error) {
    console.error('node does not find @duckdb/node-api; npm install it, and name its node_modules in NODE_PATH');
    process.exit(1);
}
const [input, output, folder, memory, order] = process.argv.slice(1);
(async () => {
    const database = await duckdb.DuckDBInstance.create(':memory:', {memory_limit: memory, temp_directory: folder});
    const connection = await database.connect();
    await connection.run("COPY (SELECT * FROM read_csv('" + input + "', header = false, all_varchar = true, delim = ',') " +
                         "ORDER BY " + order + ") TO '" + output + "' (FORMAT csv, HEADER false)");
})().catch((error) => {
    console.error(String(error.message).split('\n')[0]);
    process.exit(1);
});
)js";

}  // namespace

FileContender line_sort_program(const std::string& memory, LineColumn column) {
    const auto itself = std::filesystem::read_symlink("/proc/self/exe").string();
    return {"quadmill sort", FileRole::Engine, [=](const FileJob& job) {
                return std::vector<std::string>{itself,   "sort",     "-t,", key_of(column), "--memory", memory,
                                                "--temp", job.folder, "-o",  job.output,     job.input};
            }};
}

FileContender gnu_line_sort(const std::string& memory, LineColumn column) {
    const auto parallel = fmt::format("--parallel={}", std::thread::hardware_concurrency());
    return {"GNU sort", FileRole::Sort, [=](const FileJob& job) {
                return std::vector<std::string>{"env", "LC_ALL=C", "sort",   "-t,", key_of(column),
                                                "-S",  memory,     parallel, "-T",  job.folder,
                                                "-o",  job.output, job.input};
            }};
}

FileContender duckdb_program(const std::string& memory, LineColumn column) {
    const std::string order = column == LineColumn::Number ? "CAST(column1 AS DOUBLE)" : "column2";
    const auto bytes = memory + (memory.ends_with('B') ? "" : "iB");
    return {"DuckDB", FileRole::Sort, [=](const FileJob& job) {
                return std::vector<std::string>{"node",     "-e",       duckdb_script, job.input,
                                                job.output, job.folder, bytes,         order};
            }};
}

FileCaseResult run_line_files(const BenchFolder& folder, const std::vector<FileContender>& contenders,
                              const LineCase& which, int repeat) {
    LineCheck wanted;
    const auto make = [&](files::OutputFile& out) { return make_lines(out, which.lines); };
    const auto look = [&](const std::string& path) { wanted = check_lines(path, which.column); };
    const auto is_right = [&](const FileContender& contender, const std::string& path) {
        const auto found = check_lines(path, which.column);
        return (found.in_order || contender.role == FileRole::Copy) && found.lines == wanted.lines &&
               found.checksum == wanted.checksum;
    };
    return run_files(folder, contenders, {.records = which.lines, .make = make, .look = look, .is_right = is_right},
                     repeat);
}

}  // namespace quadmill::detail::bench
