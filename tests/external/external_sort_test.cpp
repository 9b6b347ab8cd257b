// Compares the sort in two phases with std::stable_sort, at every boundary of its plans, and checks what is left after
// a failed system call.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "external/sorting.hpp"
#include "files/fault.hpp"

using namespace quadmill;
using namespace quadmill::detail::external;
using detail::files::Call;
using detail::files::Fault;
using detail::files::page;

namespace {

// A folder for a test. It is removed at the end.
class Folder {
  public:
    Folder() : path_(std::filesystem::temp_directory_path() / ("quadmill-external-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_ / "temp");
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }
    [[nodiscard]] std::set<std::string> names(const std::string& of = "") const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_ / of)) names.insert(entry.path().filename());
        return names;
    }

  private:
    std::filesystem::path path_;
};

void write_file(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Random bytes with few values, so that keys are often equal.
std::string random_bytes(std::size_t n, std::mt19937& random, int values) {
    std::string bytes(n, '\0');
    for (auto& b : bytes)
        b = static_cast<char>(static_cast<int>(random() % static_cast<unsigned>(values)) * 127 / values * 2);
    return bytes;
}

// By the meaning of the fields, independent of how the library makes keys. Bytes only.
std::string sorted_records(const std::string& input, const RecordFormat& format) {
    std::vector<std::string> records;
    for (std::size_t i = 0; i < input.size(); i += format.bytes) records.push_back(input.substr(i, format.bytes));
    std::ranges::stable_sort(records, [&](const std::string& a, const std::string& b) {
        for (const auto& field : format.key) {
            const int order = std::memcmp(a.data() + field.offset, b.data() + field.offset, field.bytes);
            if (order != 0) return field.order == Order::Ascending ? order < 0 : order > 0;
        }
        return false;
    });
    std::string out;
    for (const auto& record : records) out += record;
    return out;
}

std::string sorted_lines(const std::string& input) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < input.size();) {
        const auto end = std::min(input.find('\n', at), input.size());
        lines.push_back(input.substr(at, end - at));
        at = end + 1;
    }
    std::ranges::sort(lines, [](const std::string& a, const std::string& b) {  // std::string compares unsigned bytes
        return a < b;
    });
    std::string out;
    for (const auto& line : lines) out += line + '\n';
    return out;
}

// Runs of that many records (for lines: bytes), merges of up to `fan_in` runs, and the smallest blocks. The last merge is
// of small ranges if there are threads for it.
Plans small_plans(std::size_t run, std::size_t fan_in) {
    Plans plans;
    plans.runs = [run](const Format& format, std::size_t, const RunNeeds&) -> std::optional<RunPlan> {
        RunPlan plan{.slots = 3, .size = {run, run}, .block = page, .interval = 100};
        if (format.fixed()) plan.size.bytes = run * format.fixed()->record_bytes();
        return plan;
    };
    plans.merge = [fan_in](std::size_t, std::size_t runs, std::size_t longest) -> std::optional<MergePlan> {
        return MergePlan{.fan_in = std::min(fan_in, runs),
                         .margin = detail::files::page_up(longest),
                         .block = page,
                         .write_block = page};
    };
    plans.ranges = [](std::size_t, const RangeNeeds& needs) -> std::optional<RangePlan> {
        const auto margin = detail::files::page_up(needs.longest_record);
        return RangePlan{
            .threads = needs.threads,
            .margin = margin,
            .range = 4000,
            .reader = std::max<std::size_t>(needs.runs * 2 * (margin + page), needs.longest_gap + 2 * page)};
    };
    return plans;
}

ExternalSortOptions options_for(const RecordFormat& format, const Folder& folder) {
    return {.format = format, .memory = 64 << 20, .temp = {folder / "temp"}, .threads = 2, .progress = {}};
}

std::string sort_by_file(const std::string& input, const ExternalSortOptions& options, const Folder& folder,
                         const Plans& plans, ExternalSortStats* stats = nullptr) {
    write_file(folder / "in", input);
    const auto found = sort_between(folder / "in", folder / "out", options, {}, plans);
    if (stats) *stats = found;
    CHECK(folder.names() == std::set<std::string>{"in", "out", "temp"});
    CHECK(folder.names("temp").empty());
    auto output = read_file(folder / "out");
    std::filesystem::remove(folder / "out");
    return output;
}

std::string sort_by_pushing(const std::string& input, const ExternalSortOptions& options, const Plans& plans,
                            std::mt19937& random) {
    Sorting sorting("test", options, {}, plans);
    sorting.begin({.mean_line = 8}, {-1, 0, "pushed"});
    const auto bytes = std::as_bytes(std::span(input));
    for (std::size_t at = 0; at < bytes.size();) {
        const auto n = std::min<std::size_t>(random() % (input.size() / 3 + 2), bytes.size() - at);
        sorting.filler().push(bytes.subspan(at, n));
        at += n;
    }
    sorting.finish();
    std::string output;
    for (std::string part(1 + random() % 5000, '\0');;) {
        const auto got = sorting.fill(std::as_writable_bytes(std::span(part)));
        output += part.substr(0, got);
        if (got < part.size()) return output;
    }
}

// Sets the hook for the length of a scope.
struct Faults {
    explicit Faults(detail::files::FaultHook hook) { detail::files::fault_hook = hook; }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
    ~Faults() { detail::files::fault_hook = nullptr; }
};

RecordFormat plain(std::size_t bytes, std::size_t offset, std::size_t key) {
    return {.bytes = bytes, .key = {{.offset = offset, .bytes = key}}};
}

}  // namespace

TEST_CASE("records are ordered like std::stable_sort orders them, at each boundary of runs and merges") {
    const Folder folder;
    std::mt19937 random(16);
    const auto format = plain(9, 2, 3);
    const auto options = options_for(format, folder);
    for (const auto run : std::vector<std::size_t>{1, 5, 64}) {
        for (const auto fan_in : std::vector<std::size_t>{2, 3, 7}) {
            if (fan_in == 7 && run == 64) continue;
            std::set<std::size_t> sizes{0, 1, 2};
            for (const auto runs :
                 {std::size_t{1}, fan_in, fan_in + 1, 2 * fan_in - 1, 2 * fan_in, fan_in * fan_in + 1})
                sizes.insert({run * runs - 1, run * runs, run * runs + 1});
            for (const auto n : sizes) {
                CAPTURE(run);
                CAPTURE(fan_in);
                CAPTURE(n);
                const auto input = random_bytes(n * format.bytes, random, 3);
                const auto expected = sorted_records(input, format);
                ExternalSortStats stats;
                CHECK(sort_by_file(input, options, folder, small_plans(run, fan_in), &stats) == expected);
                CHECK(stats.records == n);
                CHECK(stats.bytes == input.size());
                const auto runs = (n + run - 1) / run;
                CHECK(stats.runs == (runs > 1 ? runs : 0));
                CHECK((stats.merge_passes > 1) == (runs > fan_in));
                CHECK(sort_by_pushing(input, options, small_plans(run, fan_in), random) == expected);
            }
        }
    }
}

TEST_CASE("records and keys of all lengths, in runs that end anywhere within pages") {
    const Folder folder;
    std::mt19937 random(17);
    struct Case {
        std::size_t bytes, offset, key, n;
    };
    std::vector<Case> cases{{1, 0, 1, 9000},      {4095, 4085, 10, 40}, {4096, 0, 10, 40},   {4097, 1, 255, 40},
                            {10000, 9990, 8, 20}, {65535, 65530, 5, 8}, {300, 20, 255, 200}, {8, 0, 8, 2000}};
    for (std::size_t key = 1; key <= 255; key = key < 18 ? key + 1 : 2 * key + 3) cases.push_back({key, 0, key, 300});
    for (const auto& c : cases) {
        CAPTURE(c.bytes);
        CAPTURE(c.key);
        const auto format = plain(c.bytes, c.offset, c.key);
        const auto input = random_bytes(c.n * c.bytes, random, c.key > 4 ? 1 + static_cast<int>(random() % 2) : 50);
        const auto plans = small_plans(c.n / 4 - 1, 3);
        CHECK(sort_by_file(input, options_for(format, folder), folder, plans) == sorted_records(input, format));
    }
}

TEST_CASE("several fields, up and down") {
    const Folder folder;
    std::mt19937 random(18);
    const RecordFormat format{.bytes = 30,
                              .key = {{.offset = 7, .bytes = 1},
                                      {.offset = 20, .bytes = 9, .order = Order::Descending},
                                      {.offset = 0, .bytes = 2}}};
    const auto input = random_bytes(format.bytes * 3000, random, 2);
    const auto options = options_for(format, folder);
    CHECK(sort_by_file(input, options, folder, small_plans(700, 3)) == sorted_records(input, format));
    CHECK(sort_by_file(input, options, folder, {}) == sorted_records(input, format));
}

TEST_CASE("inputs in order, in the opposite order, and of one key") {
    const Folder folder;
    const auto format = plain(16, 0, 12);
    const auto options = options_for(format, folder);
    std::string up, equal;
    for (int i = 0; i < 5000; ++i) {
        auto number = std::to_string(100000 + i);
        up += "same....." + number + "x";
        equal += "same....same" + number.substr(2);
    }
    std::string down;
    for (std::size_t i = up.size(); i > 0; i -= 16) down += up.substr(i - 16, 16);
    for (const auto run : std::vector<std::size_t>{999, 5000, 6000}) {
        CHECK(sort_by_file(up, options, folder, small_plans(run, 4)) == sorted_records(up, format));
        CHECK(sort_by_file(down, options, folder, small_plans(run, 4)) == sorted_records(down, format));
        CHECK(sort_by_file(equal, options, folder, small_plans(run, 4)) == equal);
    }
}

TEST_CASE("lines with any content") {
    const Folder folder;
    std::mt19937 random(19);
    const RecordFormat format{.kind = RecordFormat::Kind::Lines};
    const auto options = options_for(format, folder);
    const std::string letters{'\0', '\1', '\t', '\n', '\n', '\v', 'a', 'b', '\x7f', '\xff'};
    for (const auto n : std::vector<std::size_t>{0, 1, 2, 50, 4095, 4096, 4097, 30000}) {
        for (const auto longest : std::vector<std::size_t>{1, 40, 3000}) {
            std::string input;
            while (input.size() < n) {
                std::string line(random() % (longest + 1), letters[random() % letters.size()]);
                if (!line.empty()) line[random() % line.size()] = letters[random() % letters.size()];
                input += line + '\n';
            }
            input.resize(n);
            CAPTURE(n);
            CAPTURE(longest);
            for (const std::size_t run : {3 * longest + 200, std::size_t{8192}, std::size_t{100000}}) {
                if (n > 0 && n / run > 300) continue;
                CHECK(sort_by_file(input, options, folder, small_plans(run, 5)) == sorted_lines(input));
                CHECK(sort_by_pushing(input, options, small_plans(run, 5), random) == sorted_lines(input));
            }
        }
    }
    // These runs are full of lines before they are full of bytes.
    auto plans = small_plans(8192, 5);
    plans.runs = [](const Format&, std::size_t, const RunNeeds&) -> std::optional<RunPlan> {
        return RunPlan{.slots = 3, .size = {20000, 100}, .block = page};
    };
    std::string input;
    for (int i = 0; i < 3000; ++i) input += std::to_string(random() % 1000) + "\n";
    input += "7";
    CHECK(sort_by_file(input, options, folder, plans) == sorted_lines(input));
    CHECK(sort_by_pushing(input, options, plans, random) == sorted_lines(input));
}

// A record that tells its length: header, `before` bytes, key, the rest.
std::string sized(const std::string& before, const std::string& key, const std::string& rest) {
    const SizedHeader header{static_cast<std::uint32_t>(sizeof header + before.size() + key.size() + rest.size()),
                             static_cast<std::uint32_t>(sizeof header + before.size()),
                             static_cast<std::uint32_t>(key.size())};
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + before + key + rest;
}

TEST_CASE("records that tell their length, with keys of any content anywhere in them") {
    const Folder folder;
    std::mt19937 random(23);
    const auto options = options_for({.kind = RecordFormat::Kind::Sized}, folder);
    const std::string letters{'\0', '\0', '\1', 'a', '\xff'};
    for (const std::size_t n : {0U, 1U, 2U, 50U, 3000U}) {
        for (const std::size_t longest : {0U, 1U, 3U, 20U, 300U}) {
            std::vector<std::pair<std::string, std::string>> records;
            std::string input, expected;
            for (std::size_t i = 0; i < n; ++i) {
                std::string key(random() % (longest + 1), letters[random() % letters.size()]);
                if (!key.empty()) key[random() % key.size()] = letters[random() % letters.size()];
                const auto mixed = i % 3 == 0 ? std::min<std::size_t>(key.size(), 9) : 0;
                for (std::size_t at = 0; at < mixed; ++at) key[at] = letters[random() % letters.size()];
                records.emplace_back(key, sized(std::string(random() % 3, 'b'), key, std::to_string(i)));
                input += records.back().second;
            }
            std::stable_sort(records.begin(), records.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            for (const auto& [key, record] : records) expected += record;
            CAPTURE(n);
            CAPTURE(longest);
            for (const std::size_t run : {longest + 100, std::size_t{8192}, std::size_t{1} << 21}) {
                if (input.size() / run > 300) continue;
                CHECK(sort_by_file(input, options, folder, small_plans(run, 5)) == expected);
                CHECK(sort_by_pushing(input, options, small_plans(run, 5), random) == expected);
            }
        }
    }
}

TEST_CASE("threads merge ranges of runs, in the memory that is planned for them") {
    const Folder folder;
    std::mt19937 random(29);
    auto options = options_for({.kind = RecordFormat::Kind::Sized}, folder);
    options.memory = std::size_t{32} << 20U;
    auto plans = small_plans(std::size_t{64} << 10U, 1);
    plans.merge = detail::external::plan_merge;
    plans.ranges = detail::external::plan_ranges;
    std::vector<std::pair<std::string, std::string>> records;
    std::string input, expected;
    for (int i = 0; i < 40'000; ++i) {
        const auto key = std::to_string(random() % 9000);
        records.emplace_back(key, sized("", key, std::string(random() % 60, 'x') + std::to_string(i)));
        input += records.back().second;
    }
    std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, record] : records) expected += record;
    for (const unsigned threads : {1U, 2U, 5U}) {
        options.threads = threads;
        CHECK(sort_by_file(input, options, folder, plans) == expected);
    }
    // The threads end if the sort is stopped.
    options.progress = [](const ExternalProgress& progress) {
        return progress.phase == ExternalProgress::Phase::Merge ? Proceed::Stop : Proceed::GoOn;
    };
    CHECK_THROWS_AS(static_cast<void>(sort_by_file(input, options, folder, plans)), SortStopped);
}

TEST_CASE("records that tell a wrong length are refused") {
    const Folder folder;
    const auto options = options_for({.kind = RecordFormat::Kind::Sized}, folder);
    const auto good = sized("", "key", "rest");
    for (const SizedHeader header : {SizedHeader{11, 11, 0}, SizedHeader{20, 21, 0}, SizedHeader{20, 20, 1},
                                     SizedHeader{20, 1, 0xffffffffU}, SizedHeader{0, 0, 0}}) {
        std::string bad(sizeof header + 8, 'x');
        std::memcpy(bad.data(), &header, sizeof header);
        CHECK_THROWS_WITH_AS(static_cast<void>(sort_by_file(good + bad, options, folder, {})),
                             doctest::Contains("the key must be within the record"), InvalidArgument);
    }
    for (std::size_t bytes = 1; bytes < good.size(); ++bytes) {
        CHECK_THROWS_WITH_AS(static_cast<void>(sort_by_file(good + good.substr(0, bytes), options, folder, {})),
                             doctest::Contains("ends within a record"), IoError);
    }
    CHECK(sort_by_file(good, options, folder, {}) == good);
}

TEST_CASE("lines of which the first ones are long, with memory for all") {
    const Folder folder;
    auto options = options_for({.kind = RecordFormat::Kind::Lines}, folder);
    const detail::cpu::Stopwatch time;
    options.progress = [&time](const ExternalProgress&) { return time.ms() < 60e3 ? Proceed::GoOn : Proceed::Stop; };
    std::string input;
    for (int i = 0; i < 70; ++i) input += std::string(999, 'x') + "\n";  // the estimate for the others
    for (int i = 0; i < 60'000; ++i) input += std::to_string(i * 7 % 100) + "\n";
    CHECK(sort_by_file(input, options, folder, {}) == sorted_lines(input));
    CHECK(sort_by_file(input + "7", options, folder, {}) == sorted_lines(input + "7\n"));
}

TEST_CASE("with different memory: for one sort, for runs, the min") {
    const Folder folder;
    std::mt19937 random(20);
    const auto format = plain(100, 0, 10);
    const auto input = random_bytes(100 * 120000, random, 100);
    const auto expected = sorted_records(input, format);
    auto options = options_for(format, folder);
    ExternalSortStats stats;
    CHECK(sort_by_file(input, options, folder, {}, &stats) == expected);
    CHECK(stats.runs == 0);
    CHECK(stats.merge_passes == 0);
    options.memory = min_memory(format);
    options.temp = {folder / "temp", folder / "temp"};
    CHECK(sort_by_file(input, options, folder, {}, &stats) == expected);
    CHECK(stats.runs > 2);
    CHECK(stats.merge_passes >= 1);
    CHECK(stats.run_bytes >= 65000);
    CHECK(stats.stages.size() == 8);
    options.memory = min_memory(format) - 1;
    CHECK_THROWS_WITH_AS(sort_by_file(input, options, folder, {}), doctest::Contains("takes at least"),
                         InvalidArgument);
    // Also the public functions.
    options.memory = 8 << 20;
    ExternalSorter sorter(options);
    sorter.push(std::as_bytes(std::span(input)));
    std::string output(input.size() + 1, '\0');
    CHECK(sorter.pull(std::as_writable_bytes(std::span(output))) == input.size());
    CHECK(sorter.pull(std::as_writable_bytes(std::span(output)).subspan(input.size())) == 0);
    output.pop_back();
    CHECK(output == expected);
    CHECK(sorter.stats().records == 120000);
    CHECK_THROWS_WITH_AS(sorter.push(std::as_bytes(std::span(input))), doctest::Contains("ended the input"),
                         InvalidArgument);
    std::filesystem::remove(folder / "out");
    sort_file(folder / "in", folder / "out", options);
    CHECK(read_file(folder / "out") == expected);
}

TEST_CASE("a merge of many runs of long records, planned by memory") {
    const auto plan = [](std::size_t memory, std::size_t runs, std::size_t longest) {
        const auto found = plan_merge(memory, runs, longest);
        REQUIRE(found);
        CHECK(found->fan_in >= 2);
        CHECK(found->fan_in <= runs);
        CHECK(found->margin >= longest);
        CHECK(found->block % page == 0);
        CHECK(found->block > 0);
        CHECK(found->fan_in * 2 * (found->margin + found->block) + BlockWriter::blocks * found->write_block <= memory);
        return *found;
    };
    for (const auto memory : std::vector<std::size_t>{2 << 20, 10 << 20, 250 << 20}) {
        for (const auto runs : std::vector<std::size_t>{2, 3, 30, 1000, 100000}) {
            for (const auto longest : std::vector<std::size_t>{1, 100, 65535}) plan(memory, runs, longest);
        }
    }
    CHECK(plan(250 << 20, 30, 100).block > 3 << 20);  // a few runs have large blocks
    CHECK(plan(250 << 20, 400, 100).fan_in == 400);
    CHECK_FALSE(plan_merge(1 << 20, 2, 1 << 20));
}

// Many short lines leave less room in the runs. The long line is the last one, or without an end, or between others.
TEST_CASE("a line that is too long is named, with the memory that would sort it") {
    const Folder folder;
    std::string many;
    for (int i = 0; i < 1'500'000; ++i) many += "x\n";
    const std::string longest(3 << 20, 'y');
    for (const bool ends : {true, false}) {
        CAPTURE(ends);
        write_file(folder / "in", many + longest + (ends ? "\nz\n" : ""));
        ExternalSortOptions options{
            .format = {.kind = RecordFormat::Kind::Lines}, .memory = std::size_t{24} << 20, .temp = {folder / "temp"}};
        try {
            sort_file(folder / "in", folder / "out", options);
            FAIL("it was sorted");
        } catch (const LineTooLong& error) {
            CHECK(error.offset() == many.size());
            CHECK_MESSAGE(
                error.fact().find("line 1500001, from byte 3000000 on, has 3145729 bytes") != std::string::npos,
                error.what());
            options.memory = error.memory();
        }
        CHECK(options.memory < std::size_t{300} << 20U);
        const auto stats = sort_file(folder / "in", folder / "out", options);
        CHECK(stats.records == (ends ? 1'500'002 : 1'500'001));
        const auto out = read_file(folder / "out");
        CHECK(out == many + longest + (ends ? "\nz\n" : "\n"));
    }
    // For a line from a program, nobody searches its end.
    ExternalSorter sorter({.format = {.kind = RecordFormat::Kind::Lines}, .memory = std::size_t{24} << 20});
    CHECK_THROWS_WITH_AS(sorter.push(std::as_bytes(std::span(longest))),
                         doctest::Contains(": line 1, from byte 0 on, has at least "), IoError);
}

TEST_CASE("runs hold a line of a sixteenth of the memory, for any size of input") {
    const Format format("test", {.kind = RecordFormat::Kind::Lines});
    for (const std::uint64_t gigabytes : {1U, 3U, 100U}) {
        const std::size_t memory = std::size_t{1} << 30;
        const auto plan = plan_runs(format, memory, {.input_bytes = gigabytes << 30U, .mean_line = 50});
        REQUIRE(plan);
        CHECK(plan->size.bytes > longest_line(memory));
    }
}

TEST_CASE("runs have the requested size, even if everything would fit into memory") {
    const Folder folder;
    std::mt19937 random(31);
    const auto format = plain(100, 0, 10);
    const auto input = random_bytes(100 * 30'000, random, 100);
    write_file(folder / "in", input);
    for (const std::size_t run : {std::size_t{1}, std::size_t{100'000}, std::size_t{1'000'000}, std::size_t{1} << 40}) {
        CAPTURE(run);
        auto options = options_for(format, folder);
        options.memory = std::size_t{64} << 20U;
        options.paper.run_bytes = run;
        const auto stats = sort_file(folder / "in", folder / "out", options);
        const auto max = std::max<std::size_t>(run, 65'536);
        CHECK(stats.run_bytes <= max);
        CHECK(stats.runs == (max >= input.size() ? 0 : (input.size() / 100 + max / 100 - 1) / (max / 100)));
        CHECK(stats.passes == 0);
        CHECK(read_file(folder / "out") == sorted_records(input, format));
    }
}

TEST_CASE("the plan of runs keeps to the memory limit and uses most of it") {
    const Format format("test", plain(100, 0, 10));
    const auto memory_of = [&](const RunPlan& plan) {
        return plan.slots * plan.size.memory(format) + WideSorter::memory(plan.size.records) +
               BlockWriter::blocks * plan.block;
    };
    for (const auto megabytes : std::vector<std::size_t>{1, 8, 64, 250, 4000}) {
        const auto memory = megabytes << 20U;
        const auto plan = plan_runs(format, memory, {.input_bytes = std::uint64_t{1} << 40U});
        REQUIRE(plan);
        CHECK(plan->slots == 3);
        CHECK(memory_of(*plan) <= memory);
        CHECK(memory_of(*plan) >= memory / 10 * 9);
        CHECK(plan->size.bytes == plan->size.records * 100);
        const auto all = plan_runs(format, memory, {.input_bytes = memory / 2});
        REQUIRE(all);
        CHECK(all->slots == 1);
        CHECK(memory_of(*all) <= memory);
    }
    CHECK_FALSE(plan_runs(format, 100000, {}));
}

TEST_CASE("runs go to the folders in turn, one after the other") {
    const Folder folder;
    TemporarySpace space({folder / "temp", folder / "."});
    for (std::size_t i = 0; i < 6; ++i) {
        auto run = space.begin();
        CHECK(run.file == i % 2);
        CHECK(run.offset == i / 2 * 2 * page);
        run.bytes = page + 1;
        space.end(run);
        CHECK(space.place(run).path == (i % 2 == 0 ? folder / "temp" : folder / "."));
    }
    CHECK(folder.names() == std::set<std::string>{"temp"});
}

TEST_CASE("whichever call fails, the input is unchanged, there is no output, and nothing is left") {
    const Folder folder;
    std::mt19937 random(21);
    const auto format = plain(50, 3, 10);
    const auto input = random_bytes(50 * 500, random, 100);
    write_file(folder / "in", input);
    write_file(folder / "old", "old");
    const auto options = options_for(format, folder);
    static std::atomic<int> calls, wanted, error;
    static std::vector<Call> last;  // the test's own thread: calls after everything is written
    static std::atomic<std::size_t> max;
    const auto sort = [&](const std::string& name) {
        calls = 0;
        last.clear();
        const Faults faults([](Call call) {
            Fault fault;
            if (calls++ == wanted) fault.error = error;
            if (call != Call::Read && call != Call::Write && call != Call::Open) last.push_back(call);
            if (call == Call::Read || call == Call::Write) fault.max = max;
            return fault;
        });
        return sort_between(folder / "in", folder / name, options, {}, small_plans(100, 2));
    };
    max = 512;
    wanted = -1;
    sort("out");
    CHECK(read_file(folder / "out") == sorted_records(input, format));
    max = std::numeric_limits<std::size_t>::max();
    sort("out");
    const int all = calls;
    CHECK(all > 40);
    CHECK(last == std::vector{Call::Truncate, Call::Sync, Call::Close, Call::Rename});
    std::filesystem::remove(folder / "out");
    int failed = 0;
    for (int i = 0; i < all; ++i) {
        CAPTURE(i);
        wanted = i;
        error = i % 2 == 0 ? EIO : ENOSPC;
        for (const std::string name : {"out", "old"}) {
            try {
                sort(name);
                CHECK_MESSAGE(false, "a fault went unnoticed");
            } catch (const IoError& found) {
                ++failed;
                CHECK(std::string(found.what()).find(std::strerror(error)) != std::string::npos);
                CHECK_FALSE(found.path().empty());
            }
            CHECK(folder.names() == std::set<std::string>{"in", "old", "temp"});
            CHECK(folder.names("temp").empty());
        }
    }
    CHECK(failed == 2 * all);
    CHECK(read_file(folder / "in") == input);
    CHECK(read_file(folder / "old") == "old");
}

TEST_CASE("a sort that is stopped at any moment leaves nothing") {
    const Folder folder;
    std::mt19937 random(22);
    const auto format = plain(100, 0, 10);
    const auto input = random_bytes(100 * 20000, random, 100);
    write_file(folder / "in", input);
    auto options = options_for(format, folder);
    for (const int stop : {1, 2}) {
        int calls = 0;
        std::set<ExternalProgress::Phase> phases;
        options.progress = [&](const ExternalProgress& progress) {
            phases.insert(progress.phase);
            CHECK(progress.total == input.size());
            return ++calls == stop ? Proceed::Stop : Proceed::GoOn;
        };
        CHECK_THROWS_AS(sort_between(folder / "in", folder / "out", options, {}, small_plans(3000, 3)), SortStopped);
        CHECK(folder.names() == std::set<std::string>{"in", "temp"});
        if (stop == 1) CHECK(phases == std::set{ExternalProgress::Phase::Runs});
    }
    CHECK(read_file(folder / "in") == input);
    {
        ExternalSorter sorter(options_for(format, folder));  // abandoned
        sorter.push(std::as_bytes(std::span(input)));
    }
    CHECK(folder.names("temp").empty());
}

TEST_CASE("input that cannot be sorted is refused with its position") {
    const Folder folder;
    const auto format = plain(100, 0, 10);
    auto options = options_for(format, folder);
    const auto refused = [&](const std::string& in, const std::string& out, const std::string& words) {
        CAPTURE(words);
        try {
            sort_between(in, out, options, {}, small_plans(3, 2));
            CHECK_MESSAGE(false, "it was sorted");
        } catch (const Error& error) {
            CHECK_MESSAGE(std::string(error.what()).find(words) != std::string::npos, error.what());
        }
    };
    write_file(folder / "cut", std::string(1234, 'x'));
    refused(folder / "cut", folder / "out", "cut' ends within a record: at byte 1200 there are 34 bytes left");
    refused(folder / "none", folder / "out", "none': No such file");
    refused(folder / "temp", folder / "out", "temp': Is a directory");
    write_file(folder / "in", std::string(1000, 'x'));
    refused(folder / "in", folder / "nowhere/out", "nowhere/out': No such file");
    refused(folder / "in", folder / "in", "is the input");
    std::filesystem::create_hard_link(folder / "in", folder / "hard");
    refused(folder / "in", folder / "hard", "is the input");
    std::filesystem::create_symlink(folder / "in", folder / "link");
    refused(folder / "in", folder / "link", "is the input");
    refused(folder / "link", folder / "in", "is the input");
    options.temp = {folder / "temp", folder / "gone"};
    refused(folder / "in", folder / "out", "cannot create a temporary file in '" + (folder / "gone") + "'");
    options.temp = {folder / "temp"};
    options.format.key[0].offset = 95;
    refused(folder / "in", folder / "out", "sort_file: a key field of 10 bytes at offset 95 is not within");
    options.format = {.kind = RecordFormat::Kind::Lines};
    write_file(folder / "line", "a\n" + std::string(5 << 20, 'x'));
    CHECK_THROWS_WITH_AS(
        sort_file(folder / "line", folder / "out", options),
        doctest::Contains("line': line 2, from byte 2 on, has 5242881 bytes, and this memory allows 4194304"), IoError);
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
    CHECK(read_file(folder / "in") == std::string(1000, 'x'));
    ExternalSorter sorter({.format = format});
    sorter.push(std::as_bytes(std::span("abc", 3)));
    std::string room(100, '\0');
    CHECK_THROWS_WITH_AS(static_cast<void>(sorter.pull(std::as_writable_bytes(std::span(room)))),
                         doctest::Contains("what was pushed ends within a record: at byte 0 there are 3"), IoError);
    CHECK_THROWS_WITH_AS(static_cast<void>(sorter.pull(std::as_writable_bytes(std::span(room)))),
                         doctest::Contains("has failed before"), InvalidArgument);
}
