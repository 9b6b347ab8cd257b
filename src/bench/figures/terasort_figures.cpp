// SIGMOD'06: GPUTeraSort.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/external_bench.hpp"
#include "bench/figures/figure.hpp"
#include "bench/sort_bench.hpp"

namespace quadmill::detail::bench {

namespace {

using enum Claim::About;
using Json = nlohmann::json;

constexpr const char *pairs_ms = "ms to sort pairs", *limit_share = "passes, % of the write limit",
                     *written = "written, GB/s", *compared = "comparisons, GOP/s",
                     *transfers_of_pairs = "transfers, % of all";
constexpr const char* gputerasort = "GPUTeraSort's own form";

std::vector<unsigned> powers(const FigureSetting& setting) {
    return setting.pick(std::vector{12U, 14U, 16U, 18U}, std::vector{16U, 18U, 20U, 22U, 23U});
}

void measure_gpu_sorts(FigureSetting& setting, FigureData& data) {
    const std::vector<Contender> pairs{{gputerasort, paper_form_of_bitonic()},
                                       {"kipfer", EarlySort::Kipfer},
                                       {"purcell", EarlySort::Purcell},
                                       {"merge", SortOptions{.engine = Engine::Merge}}};
    SortBench bench(setting.context, setting.why_no_context, pairs, setting.pick(3, 2));
    SortBench keys_alone(setting.context, setting.why_no_context, {{"pbsn, keys alone", paper_form_of_pbsn()}}, 3);
    const auto take = [&](SortBench& by, const SortCase& which) {
        const auto found = by.run(which);
        const auto x = static_cast<double>(which.n);
        for (const auto& result : found.results) data.add_time(pairs_ms, x, result, "wrong order");
        if (const auto percent = found.results.front().percent_of_limit(); percent && which.sorted == Sorted::Pairs) {
            data.add(limit_share, Whose::Ours, gputerasort, x, *percent);
            const auto limits = by.limits();
            const auto limit = std::ranges::find_if(limits, [](const Limit& one) {
                return one.name.starts_with("write RGBA32") && one.unit == "Gtexel/s";
            });
            constexpr double texel_bytes = 16;
            if (limit != limits.end())
                data.add(written, Whose::Ours, gputerasort, x, *percent / 100 * limit->value * texel_bytes);
        }
    };
    for (const auto power : powers(setting)) {
        const auto n = std::size_t{1} << power;
        take(bench, {KeyType::F32, cpu::Distribution::Uniform, n, Sorted::Pairs});
        take(keys_alone, {KeyType::F32, cpu::Distribution::Uniform, n});
    }
}

void measure_pairs(FigureSetting& setting, FigureData& data) {
    auto contenders = pair_contenders();
    for (auto& one : contenders) {
        if (one.name == paper_form) one.name = gputerasort;
    }
    for (const auto power : powers(setting)) {
        const auto n = std::size_t{1} << power;
        const auto found = run_pairs(setting.context, setting.why_no_context, contenders, n, setting.pick(3, 2));
        const auto x = static_cast<double>(n);
        for (const auto& result : found.results) {
            data.add_time(pairs_ms, x, result, "wrong order");
            if (!result.ran() || result.contender->name != gputerasort) continue;
            data.add(transfers_of_pairs, Whose::Ours, gputerasort, x, result.transfer_percent());
            data.add(compared, Whose::Ours, gputerasort, x,
                     x / 2 * power * (power + 1) / 2 / result.parts.sort_ms * 1e-6);
        }
    }
}

constexpr const char* sixteen_threads =
    "this card is made for computing and has few units that write pixels (8 ROPs), so its passes write about as many "
    "bytes per second as those of 2006 (this is true of this card, not of all GPUs); and the CPU has 16 threads, the "
    "paper's had few";
constexpr const char* bound_by_writing =
    "today the write rate limits all three (91 to 100 % of the limit), not their programs";

constexpr const char *phase_rates = "MB/s of each phase", *stage_seconds = "seconds of each stage in phase 1",
                     *all_seconds = "seconds in all", *phase_one = "seconds of phase 1";
constexpr const char* disk_copy = "copy past the cache";
constexpr const char* slower_io = "read or write";  // the one that takes longer
// GPUTeraSort's pipeline with its network, and with our engines.
constexpr const char *by_network = "terasort, bitonic", *by_merging = "terasort, merge", *by_cpu = "terasort, cpu";

// Seconds and errors. Returns the report of a sort of ours.
Json take(FigureData& data, double x, const FileResult& result) {
    const auto& name = result.contender->name;
    if (!result.ran()) {
        data.note_missing(name, result.refusal);
        return nullptr;
    }
    if (!result.verified) data.note_wrong(name, "the output is not the input in order");
    data.points.push_back({all_seconds, result.contender->is_rival() ? Whose::Baseline : Whose::Ours, name, x,
                           result.ms * 1e-3, result.low_ms * 1e-3, result.high_ms * 1e-3});
    if (result.contender->is_rival()) return {};
    auto report = Json::parse(result.output, nullptr, false);
    if (name != by_cpu) FigureData::must_have_drawn(name, x, report.value("passes", std::uint64_t{0}));
    return report;
}

constexpr double mega = 1e6;
constexpr const char* in_errata = "the printed numbers do not follow from the rule of the benchmark (docs/errata.md)";

constexpr const char* run_rates = "MB/s of each phase, by the size of runs";

// Fig. 1: the same file with the same memory, in runs of several sizes, on the CPU.
void measure_runs(FigureSetting& setting, FigureData& data) {
    const auto records = setting.pick(std::size_t{500'000}, std::size_t{5'000'000});
    for (const auto megabytes : setting.pick(std::vector{1, 4, 16}, std::vector{1, 2, 4, 8, 16, 32, 64, 128})) {
        const BenchFolder own(setting.folder);
        const std::vector contenders{
            terasort_program(by_cpu, "cpu", "1G", setting.device, {"--run-size", fmt::format("{}M", megabytes)})};
        const auto found = run_files(own, contenders, records, setting.pick(3, 1));
        const auto report = take(data, megabytes, found.results.front());
        if (!report.is_object()) continue;
        const double run = report.value("run_bytes", 0.0) / mega;
        data.add(run_rates, Whose::Ours, "phase 1", run, report.value("runs_mb_per_s", 0.0));
        data.add(run_rates, Whose::Ours, "phase 2", run, report.value("merge_mb_per_s", 0.0));
    }
    std::erase_if(data.points, [](const FigurePoint& p) { return p.panel == all_seconds; });
}

const std::vector<std::string> phase_one_stages{"read", "keys", "sort", "reorder", "write"};

std::string by(const std::string& panel, const std::string& engine) {
    return panel + "; " + engine;
}

// Phases and stages from the report of a sort of ours. Each engine has a panel.
void add_phases(FigureData& data, const std::string& engine, double x, const Json& report) {
    data.add(phase_one, Whose::Ours, engine, x, report.value("runs_seconds", 0.0));
    data.add(by(phase_rates, engine), Whose::Ours, "phase 1", x, report.value("runs_mb_per_s", 0.0));
    // A file that fits into one run has no second phase.
    if (const double rate = report.value("merge_mb_per_s", 0.0); rate > 0)
        data.add(by(phase_rates, engine), Whose::Ours, "phase 2", x, rate);
    double slowest = 0;
    for (const auto& stage : phase_one_stages) {
        const auto seconds = report["stages"][stage].value("seconds", 0.0);
        data.add(by(stage_seconds, engine), Whose::Ours, stage, x, seconds);
        if (stage == "read" || stage == "write") slowest = std::max(slowest, seconds);
    }
    data.add(by(stage_seconds, engine), Whose::Ours, slower_io, x, slowest);
}

// Measures Fig. 11, 12 and 14.
void measure_files(FigureSetting& setting, FigureData& data) {
    const std::string memory = setting.pick("192M", "1G");
    const std::vector contenders{terasort_program(by_network, "bitonic", memory, setting.device),
                                 terasort_program(by_merging, "merge", memory, setting.device),
                                 terasort_program(by_cpu, "cpu", memory, setting.device),
                                 gnu_sort(memory),
                                 cp_program(),
                                 direct_copy()};
    {
        const BenchFolder own(setting.folder);  // untimed: a machine compiles shaders once
        static_cast<void>(run_files(own, {contenders[0], contenders[1]}, 10'000, 1));
    }
    using Records = std::vector<std::size_t>;
    for (const auto records :
         setting.pick(Records{500'000, 1'000'000, 2'000'000}, Records{10'000'000, 20'000'000, 40'000'000})) {
        const BenchFolder own(setting.folder);
        const auto found = run_files(own, contenders, records, 1);
        const double x = static_cast<double>(records) * 100 / mega;
        for (const auto& result : found.results) {
            const auto report = take(data, x, result);
            if (report.is_object() && result.contender->name != by_cpu)
                add_phases(data, result.contender->name, x, report);
            else if (report.is_object())
                data.add(phase_one, Whose::Ours, by_cpu, x, report.value("runs_seconds", 0.0));
        }
    }
}

// Table 1, by the benchmark's rule: a penny buys its share of 3 years, in seconds, of the system's price.
constexpr double penny_seconds = 946'080;

Claim time_limits() {
    struct System {
        const char* gpu;
        double price, printed;
    };
    return {"Table 1: a penny buys 715, 641 and 648 s of systems that cost $1,398, $1,558 and $1,543",
            "from the paper's numbers, without a measurement: 946,080 s over each price is the printed time, within a "
            "second",
            [](const FigureData& /*data*/) -> Verdict {
                constexpr std::array<System, 3> systems{
                    {{"6800", 1398, 715}, {"6800 Ultra", 1558, 641}, {"7800 GT", 1543, 648}}};
                std::string ours;
                bool right = true;
                for (const auto& [gpu, price, printed] : systems) {
                    const double seconds = penny_seconds / price;
                    ours += fmt::format("{}{}: {:.0f} s", ours.empty() ? "" : ", ", gpu, seconds);
                    right = right && std::abs(seconds - printed) <= 1;
                }
                return {right ? Verdict::Kind::Holds : Verdict::Kind::Fails, ours};
            }};
}

// Gigabytes for a penny on the paper's last system, at 185 MB/s in each of two phases; less than 60 GB.
double penny_gigabytes() {
    return std::min(60.0, 0.185 / 2 * penny_seconds / 1543);
}

Claim times_the_record(const std::string& record, double gigabytes, double min) {
    return {fmt::format("{:g} times the records of {} ({:g} GB), with 60 GB", min, record, gigabytes),
            fmt::format("from the paper's numbers: the bytes that 185 MB/s in each phase sort in 946,080 / 1,543 s, "
                        "over {:g} GB, is at least {:g}",
                        gigabytes, min),
            [=](const FigureData& /*data*/) -> Verdict {
                const double times = penny_gigabytes() / gigabytes;
                return {times >= min ? Verdict::Kind::Holds : Verdict::Kind::Fails,
                        fmt::format("{} GB, {} times", spoken(penny_gigabytes()), spoken(times))};
            }};
}

Claim penny() {
    return {"a penny sorts 60 GB, on a PC of $1,543",
            "none without this machine's price; the number is the price for which a penny is enough, at the rate of "
            "the largest file",
            [](const FigureData& data) -> Verdict {
                const auto xs = data.xs(all_seconds, by_network);
                if (xs.empty()) return {Verdict::Kind::NotHere, "", std::string("no numbers of ") + by_network};
                const double rate = xs.back() / *data.y(all_seconds, by_network, xs.back());  // in MB/s
                const double seconds = 60e3 / rate;
                return {Verdict::Kind::NotHere,
                        fmt::format("{:.0f} MB/s: 60 GB in {:.0f} s, a penny of a machine of ${:.0f}", rate, seconds,
                                    penny_seconds / seconds),
                        "this machine's price is not known, and files here fit into the system's cache"};
            }};
}

// The paper's 49 GB/s, read and written, would be about 1.5 G comparisons of pairs per second, so it counts more than
// these.
Claim operations() {
    return {"14 GOP/s on a 7900 GTX", "none: the paper does not say what an operation is; comparisons are counted",
            [](const FigureData& data) -> Verdict {
                const auto xs = data.xs(compared, gputerasort);
                if (xs.empty()) return {Verdict::Kind::NotHere, "", std::string("no numbers of ") + gputerasort};
                return {Verdict::Kind::NotHere, spoken(*data.y(compared, gputerasort, xs.back())) + " G comparisons/s",
                        "the paper's unit is not known"};
            }};
}

Claim min_stage() {
    return {
        "Fig. 11: ordering takes significantly less time than the other stages",
        "seconds of each stage: the min of read, keys, reorder and write over sort is at least 1.5, at the largest x",
        [](const FigureData& data) -> Verdict {
            const auto panel = by(stage_seconds, by_network);
            const auto xs = data.xs(panel, "sort");
            if (xs.empty()) return {Verdict::Kind::NotHere, "", std::string("no numbers of ") + by_network};
            double min = no_limit;
            std::string which;
            for (const auto* stage : {"read", "keys", "reorder", "write"}) {
                const double times =
                    data.y(panel, stage, xs.back()).value_or(no_limit) / *data.y(panel, "sort", xs.back());
                if (times < min) which = stage;
                min = std::min(min, times);
            }
            return {min >= 1.5 ? Verdict::Kind::Holds : Verdict::Kind::Fails,
                    fmt::format("{}: {} times at x = {}", which, spoken(min), spoken_place(xs.back()))};
        },
        Gpu};
}

// To be decided by a disk, not by the system's cache.
Claim phases_rates() {
    return {"185 MB/s in each phase",
            "none: files here fit into the system's cache; the rates are those of the largest file",
            [](const FigureData& data) -> Verdict {
                const auto panel = by(phase_rates, by_network);
                const auto xs = data.xs(panel, "phase 1", "phase 2");
                if (xs.empty()) return {Verdict::Kind::NotHere, "", std::string("no numbers of ") + by_network};
                return {Verdict::Kind::NotHere,
                        fmt::format("{} and {} MB/s", spoken(*data.y(panel, "phase 1", xs.back())),
                                    spoken(*data.y(panel, "phase 2", xs.back()))),
                        "files here fit into the system's cache"};
            }};
}

Claim up_to_ten_times() {
    return {"up to 10 times as fast as earlier sorts on GPUs",
            "ms to sort pairs: the largest of purcell, kipfer and pbsn over GPUTeraSort's own form, at any x, is at "
            "least 9",
            [](const FigureData& data) -> Verdict {
                double max = 0;
                for (const auto* earlier : {"purcell", "kipfer", "pbsn, keys alone"}) {
                    for (const double x : data.xs(pairs_ms, gputerasort, earlier))
                        max = std::max(max, *data.y(pairs_ms, earlier, x) / *data.y(pairs_ms, gputerasort, x));
                }
                if (max == 0) return {Verdict::Kind::NotHere, "", std::string("no numbers of ") + gputerasort};
                return {max >= 9 ? Verdict::Kind::Holds : Verdict::Kind::Fails, spoken(max) + " times at most"};
            },
            Gpu};
}

// Phase 1 reads and writes each byte, like a copy.
Claim near_the_disk() {
    return {"Fig. 13: near the peak of I/O, with the only disk of this machine (92 %)",
            "seconds: a copy past the cache over phase 1 of terasort, bitonic is at least 0.92, at the largest x",
            [](const FigureData& data) -> Verdict {
                const auto xs = data.xs(phase_one, by_network);
                if (xs.empty() || !data.y(all_seconds, disk_copy, xs.back()))
                    return {Verdict::Kind::NotHere, "", "no numbers of a copy past the cache, or of terasort"};
                const double share =
                    *data.y(all_seconds, disk_copy, xs.back()) / *data.y(phase_one, by_network, xs.back());
                return {share >= 0.92 ? Verdict::Kind::Holds : Verdict::Kind::Fails,
                        spoken(share) + " times at x = " + spoken_place(xs.back())};
            },
            Gpu};
}

Claim phase_two_grows() {
    return {
        "the speed of phase 2 grows nearly in proportion to the size of the runs, that of phase 1 stays nearly "
        "constant",
        "MB/s of each phase, by the size of runs: that of the largest runs over that of the smallest is at least half "
        "the ratio of their sizes in phase 2, and from 0.75 to 1.33 in phase 1",
        [](const FigureData& data) -> Verdict {
            const auto xs = data.xs(run_rates, "phase 2", "phase 1");
            if (xs.size() < 2) return {Verdict::Kind::NotHere, "", "no numbers of phase 2"};
            const auto grows = [&](const char* phase) {
                return *data.y(run_rates, phase, xs.back()) / *data.y(run_rates, phase, xs.front());
            };
            const double runs = xs.back() / xs.front(), second = grows("phase 2"), first = grows("phase 1");
            const bool right = second >= runs / 2 && first >= 0.75 && first <= 1 / 0.75;
            return {right ? Verdict::Kind::Holds : Verdict::Kind::Fails,
                    fmt::format("runs {} times as large: phase 2 {} times as fast, phase 1 {}", spoken(runs),
                                spoken(second), spoken(first))};
        }};
}

}  // namespace

std::vector<Figure> terasort_figures() {
    return {
        {"sigmod06-fig1",
         "SIGMOD'06",
         "Fig. 1: the size of runs, and the rates of the phases",
         "an external sort on the CPU with 1 GB of memory: 50 MB of records in runs of 1 to 16 MB (--quick), or 500 MB "
         "in runs of 1 to 128 MB; the paper's disks seek, the disk here may not",
         {{run_rates, "MB of a run", "MB/s"}},
         measure_runs,
         {because(phase_two_grows(),
                  "phase 2 of the paper waits for seeks, which are fewer the larger the runs; this disk has none")}},
        {"sigmod06-fig6-7",
         "SIGMOD'06",
         "Fig. 6 and 7: earlier sorts on GPUs, and the share of the device's write rate",
         "float keys and pointers, memory to memory, up to 2^18 with --quick, else to 2^23 (paper: 8 M); PBSN cannot "
         "sort pointers, only keys; Fig. 7 has the rate at which passes write, as a share of the device's write rate "
         "for such a texture",
         {{pairs_ms, "pairs", "ms"}, {limit_share, "pairs", "%"}, {written, "pairs", "GB/s"}},
         measure_gpu_sorts,
         {because(times_as_fast("3 to 7 times as fast as Purcell's", Gpu, pairs_ms, gputerasort, "purcell", At::Largest,
                                3 * slack),
                  bound_by_writing),
          because(times_as_fast("3 to 7 times as fast as Kipfer's", Gpu, pairs_ms, gputerasort, "kipfer", At::Largest,
                                3 * slack),
                  bound_by_writing),
          times_as_fast("3 to 7 times as fast as PBSN", Gpu, pairs_ms, gputerasort, "pbsn, keys alone", At::Largest,
                        3 * slack),
          not_here("more than 90 % of the peak bandwidth", "OpenGL does not report the peak of the memory"),
          lies_within("today: more than 90 % of the device's write rate for such a texture", Gpu, limit_share,
                      gputerasort, At::Largest, 90, 105),
          lies_within("49 GB/s on a 7900 GTX, of 56, read and written (here written alone)", Gpu, written, gputerasort,
                      At::Largest, 49 * slack, no_limit),
          because(up_to_ten_times(), bound_by_writing),
          times_as_fast("today: the merge engine is faster than GPUTeraSort", Anything, pairs_ms, "merge", gputerasort,
                        At::Every, 1)}},
        {"sigmod06-fig8-9-10",
         "SIGMOD'06",
         "Fig. 8, 9 and 10: a sort of pairs on the CPU, the share of transfers, and operations per second",
         "float keys and pointers, memory to memory, up to 2^18 with --quick, else to 2^23; cpu is the library's "
         "stable sort of pairs on all threads, the paper had Intel's quicksort; one device, Fig. 10 has three "
         "generations",
         {{pairs_ms, "pairs", "ms"}, {transfers_of_pairs, "pairs", "%"}, {compared, "pairs", "GOP/s"}},
         measure_pairs,
         {because(times_as_fast("comparable to a CPU's quicksort of pairs", Gpu, pairs_ms, gputerasort, "cpu",
                                At::Largest, 0.5, 2),
                  sixteen_threads),
          because(times_as_fast("2 to 2.5 times as fast as a high-end CPU (slides)", Gpu, pairs_ms, gputerasort, "cpu",
                                At::Largest, 2),
                  sixteen_threads),
          times_as_fast("today: the merge engine is faster than the CPU", Gpu, pairs_ms, "merge", "cpu", At::Largest,
                        1),
          lies_within("transfers take less than 10 % of the time", Gpu, transfers_of_pairs, gputerasort, At::Every, 0,
                      10),
          operations(),
          not_here("GPUs sort nearly twice as fast each year", "one device; the figure compares three generations")}},
        {"sigmod06-fig11-12-14",
         "SIGMOD'06",
         "Fig. 11, 12 and 14, and Table 1: stages, phase 1, whole sorts, and PennySort",
         "paper: 20 to 100 GB on 8 disks, compared with nsort; here ASCII records of the benchmark, 50 to 200 MB with "
         "192 MB of memory (--quick), else 1 to 4 GB with 1 GB, on one disk, compared with GNU sort; each sort begins "
         "with an input that is not in the system's cache; bitonic is GPUTeraSort's pipeline and network, merge is "
         "ours",
         {{all_seconds, "MB", "s"},
          {phase_one, "MB", "s"},
          {by(stage_seconds, by_network), "MB", "s"},
          {by(stage_seconds, by_merging), "MB", "s"},
          {by(phase_rates, by_network), "MB", "MB/s"},
          {by(phase_rates, by_merging), "MB", "MB/s"}},
         measure_files,
         {because(min_stage(), "all threads extract the keys of records in memory; phase 1 waits for the disk"),
          times_as_fast("Fig. 11: I/O is the bottleneck of phase 1, not ordering", Gpu, by(stage_seconds, by_network),
                        "sort", slower_io, At::Largest, 1.5),
          times_as_fast("today: I/O is the bottleneck of phase 1 with the merge engine", Gpu,
                        by(stage_seconds, by_merging), "sort", slower_io, At::Largest, 1.5),
          times_as_fast("Fig. 12: phase 1 is as fast as with the CPU", Gpu, phase_one, by_network, by_cpu, At::Largest,
                        slack),
          times_as_fast("today: phase 1 with the merge engine is as fast as with the CPU", Gpu, phase_one, by_merging,
                        by_cpu, At::Largest, slack),
          times_as_fast("Fig. 14: faster than a CPU's sort program for large files (nsort; here GNU sort)", Gpu,
                        all_seconds, by_network, "GNU sort", At::Largest, 1),
          times_as_fast("today: our external sort with the CPU is faster than GNU sort", Anything, all_seconds, by_cpu,
                        "GNU sort", At::Largest, 1),
          because(times_as_fast("today: the merge engine is faster than the CPU", Gpu, all_seconds, by_merging, by_cpu,
                                At::Largest, 1),
                  "both wait for the disk, and a context of OpenGL takes 0.1 to 0.5 s to open"),
          phases_rates(),
          times_as_fast("a two-pass sort gets at most a quarter of the disks' rate", Anything, all_seconds, disk_copy,
                        by_network, At::Largest, 2),
          near_the_disk(), not_here("Fig. 13: the same with eight disks", "this machine has one disk"),
          not_here("147, 185 and 200 MB/s in phase 1, and 56, 58 and 60 GB, with three GPUs", "there is one"),
          because(time_limits(), in_errata), because(times_the_record("Daytona 2005", 15, 4), in_errata),
          times_the_record("Indy 2003", 40, 1.4), penny()}}};
}

}  // namespace quadmill::detail::bench
