// SIGMOD'05: fast and approximate stream mining of quantiles and frequencies using graphics processors.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "bench/figures/figure.hpp"
#include "bench/sort_bench.hpp"
#include "bench/stream_bench.hpp"

namespace quadmill::detail::bench {

namespace {

using enum Claim::About;
using Sizes = std::vector<std::size_t>;

constexpr const char *sorting = "ms to sort", *parts = "parts of PBSN, ms", *transfer_share = "transfers, % of PBSN";
std::vector<Claim> with(std::vector<Claim> claims, std::vector<Claim> more) {
    std::ranges::move(more, std::back_inserter(claims));
    return claims;
}

constexpr const char* paper_pbsn = "pbsn";  // its own form
constexpr const char* programs_are_free =
    "the H100 blends RGBA32F at 28 % of its write rate, and a comparison in a fragment program takes no time in "
    "addition to the write";

// The curve n lg^2 n through the point of the largest n.
void add_fit(FigureData& data) {
    const auto xs = data.xs(parts, "sort");
    if (xs.empty()) return;
    const auto cost = [](double n) { return n * std::log2(n) * std::log2(n); };
    const double rate = *data.y(parts, "sort", xs.back()) / cost(xs.back());
    for (const double x : xs) data.add(parts, Whose::Paper, "n lg^2 n", x, rate * cost(x));
}

void measure_sorts(FigureSetting& setting, FigureData& data) {
    const RivalThreads threads;
    std::vector<Contender> contenders{{paper_pbsn, paper_form_of_pbsn()},
                                      {"purcell", EarlySort::Purcell},
                                      {"merge", SortOptions{.engine = Engine::Merge}},
                                      {"hybrid", SortOptions{.engine = Engine::Hybrid}},
                                      {"cpu", SortOptions{.engine = Engine::Cpu}},
                                      {"auto", SortOptions{}}};
    for (const auto* name : {"std::sort", "std::sort par", "vqsort", "qsort"}) {
        if (const auto* rival = rival_of(name)) contenders.push_back({rival->name, rival});
    }
    SortBench bench(setting.context, setting.why_no_context, std::move(contenders), 3);
    for (const auto power : setting.pick(Sizes{10, 12, 13, 14, 15, 16, 18}, Sizes{10, 13, 14, 16, 18, 20, 23})) {
        const auto n = std::size_t{1} << power;
        const auto x = static_cast<double>(n);
        const auto found = bench.run({KeyType::F32, cpu::Distribution::Uniform, n});
        for (const auto& result : found.results) {
            data.add_time(sorting, x, result, "wrong order");
        }
        const auto& pbsn = found.results.front();
        if (!pbsn.ran()) continue;
        const double transfers = pbsn.parts.upload_ms + pbsn.parts.readback_ms;
        data.add(parts, Whose::Ours, "sort", x, pbsn.parts.sort_ms);
        data.add(parts, Whose::Ours, "transfers", x, transfers);
        data.add(parts, Whose::Ours, "merge on the CPU", x, pbsn.parts.merge_ms);
        data.add(transfer_share, Whose::Ours, "transfers", x, 100 * transfers / pbsn.ms);
    }
    add_fit(data);
}

// The estimate of figure 4.
Claim fits() {
    return {
        "the time follows n lg^2 n: estimates from 8 M are within a few milliseconds",
        "parts of PBSN: 'n lg^2 n' through the point of 8 M is within 5 ms of 'sort', at every x",
        [](const FigureData& data) -> Verdict {
            const auto xs = data.xs(parts, "sort", "n lg^2 n");
            if (xs.empty()) return {Verdict::Kind::NotHere, "", "no numbers of sort"};
            if (xs.back() < 1 << 23) return {Verdict::Kind::NotHere, "", "--quick takes fewer values"};
            double worst = 0;
            for (const double x : xs)
                worst = std::max(worst, std::abs(*data.y(parts, "sort", x) - *data.y(parts, "n lg^2 n", x)));
            return {worst <= 5 ? Verdict::Kind::Holds : Verdict::Kind::Fails, spoken(worst) + " ms off at most"};
        }};
}

// The crossover at which PBSN takes no longer than `rival`, or only a little longer.
Claim breaks_even(const std::string& claim, const std::string& rival) {
    return {claim,
            "the smallest n from which PBSN takes at most 1.1 times the time of " + rival + " is at most 131,072",
            [rival](const FigureData& data) -> Verdict {
                const auto xs = data.xs(sorting, paper_pbsn, rival);
                if (xs.empty()) return {Verdict::Kind::NotHere, "", "no numbers of pbsn or " + rival};
                auto from = xs.end();
                while (from != xs.begin() &&
                       *data.y(sorting, paper_pbsn, *(from - 1)) <= 1.1 * *data.y(sorting, rival, *(from - 1)))
                    --from;
                if (from == xs.end()) return {Verdict::Kind::Fails, "slower at x = " + spoken_place(xs.back())};
                return {*from <= 131072 ? Verdict::Kind::Holds : Verdict::Kind::Fails,
                        "from " + spoken_place(*from) + " on"};
            },
            Gpu};
}

// Claims of Fig. 3, for the form of PBSN that was measured. The paper's CPU sorts are qsort of a compiler's library and
// an optimized quicksort.
std::vector<Claim> claims_of_sorts(const std::string& why_slower_than_purcell) {
    auto below_16k =
        because(among(times_as_fast("about 3 times slower than optimized quicksort below 16 K", Gpu, sorting,
                                    "std::sort", paper_pbsn, At::Every, 1.5, 6, Better::Below),
                      "at every x < 16,384", [](double x) { return x < 16384; }),
                "a pass takes some 5 us even for few keys, and a sort of 1,024 keys needs more than a hundred passes");
    const auto of_purcell = [&](const std::string& claim, double min) {
        return because(times_as_fast(claim, Gpu, sorting, paper_pbsn, "purcell", At::Largest, min),
                       why_slower_than_purcell);
    };
    return {
        of_purcell("PBSN beats the bitonic sort in fragment programs", 1),
        of_purcell("almost an order of magnitude faster than earlier sorts on GPUs", 10 * slack),
        times_as_fast("PBSN beats the C library's qsort at 8 M", Gpu, sorting, paper_pbsn, "qsort", At::Largest, 1),
        times_as_fast("comparable to an optimized quicksort at 8 M", Gpu, sorting, paper_pbsn, "std::sort", At::Largest,
                      0.5, 2),
        std::move(below_16k),
        breaks_even("comparable to qsort, or slightly better, for more than 65 K values", "qsort"),
        because(breaks_even("comparable to an optimized quicksort, or better, for more than 65 K values", "std::sort"),
                "this card blends RGBA32F at 1 Gtexel/s, 28 % of its write rate; in 16 bits, as in the paper, the "
                "claim holds")};
}

// Compares blending 16-bit floats, like the paper's GPU, with sorting the same number of 32-bit floats.
void measure_halves(FigureSetting& setting, FigureData& data) {
    const RivalThreads threads;
    SortBench halves(setting.context, setting.why_no_context, {{paper_pbsn, paper_form_of_pbsn()}}, 5);
    std::vector<Contender> others{{"purcell", EarlySort::Purcell}};
    for (const auto* name : {"std::sort", "qsort"}) {
        if (const auto* rival = rival_of(name)) others.push_back({rival->name, rival});
    }
    SortBench floats(setting.context, setting.why_no_context, std::move(others), 3);
    for (const auto power : setting.pick(Sizes{10, 13, 14, 16, 18}, Sizes{10, 13, 14, 16, 18, 20, 23})) {
        const auto n = std::size_t{1} << power;
        for (auto* bench : {&halves, &floats}) {
            const auto type = bench == &halves ? KeyType::F16 : KeyType::F32;
            const auto found = bench->run({type, cpu::Distribution::Uniform, n});
            for (const auto& result : found.results)
                data.add_time(sorting, static_cast<double>(n), result, "wrong order");
        }
    }
}

constexpr const char* blending = "cost of PBSN";

// With one pipe, 8 M keys would take the paper's GPU 1 s, which matches its figures; with the whole chip, 15.
Claim blend_cycles() {
    return {"6 to 7 clock cycles per blend", "none: the paper does not say whether it means a pipe or the whole chip",
            [](const FigureData& data) -> Verdict {
                const auto xs = data.xs(blending, "cycles a blend");
                if (xs.empty()) return {Verdict::Kind::NotHere, "", "shaders cannot read the clock of this device"};
                return {Verdict::Kind::NotHere,
                        spoken(*data.y(blending, "cycles a blend", xs.back())) + " cycles of the whole chip",
                        "the paper's unit is not known"};
            }};
}

void measure_blends(FigureSetting& setting, FigureData& data) {
    if (!setting.context) {
        data.note_missing("comparisons a key", setting.why_no_context);
        data.note_missing("cycles a blend", setting.why_no_context);
        return;
    }
    const auto n = std::size_t{1} << setting.pick(16U, 22U);
    Sorter sorter(*setting.context, paper_form_of_pbsn());
    cpu::KeyBuffer keys(KeyType::F32, cpu::Distribution::Uniform, n, 1);
    auto warm = keys;
    sorter.sort(warm.keys());
    PassProfiler profiler(*setting.context);
    sorter.sort(keys.keys());
    double texels = 0, ms = 0;
    std::uint64_t passes = 0;
    for (const auto& row : profiler.rows()) {
        if (row.write != PassEvent::Write::Blend) continue;
        texels += static_cast<double>(row.texels);
        ms += row.gpu_ms;
        passes += row.passes;
    }
    FigureData::must_have_drawn(paper_pbsn, static_cast<double>(n), passes);
    const auto x = static_cast<double>(n), steps = std::log2(x / 4);
    data.add(blending, Whose::Ours, "comparisons a key", x, 4 * texels / x);
    data.add(blending, Whose::Paper, "log^2(n / 4)", x, steps * steps);
    data.add(blending, Whose::Ours, "ns a blend", x, ms * 1e6 / texels);
    if (const auto clock = clock_rate(*setting.context)) {
        data.add(blending, Whose::Ours, "cycles a blend", x, ms * 1e6 / texels * clock->value);
    } else {
        data.note_missing("cycles a blend", "shaders cannot read the clock of this device");
    }
}

constexpr const char *stream_ms = "ms", *own_windows_ms = "ms, windows as the library chooses",
                     *transfers_of_sort = "transfers, % of sorting";
constexpr const char* too_far_off = "an answer was further off than eps allows";
constexpr std::size_t papers_values = 100'000'000;
const std::vector<std::string> stages{"sort", "histogram or sample", "merge", "compress"};

// The window size: 1 / eps values, as in the paper, or the library's choice.
enum class Windows { Papers, Ours };

struct StreamSizes {
    std::size_t n;
    std::uint64_t sliding;
    std::vector<double> eps;
};

// Windows with different sorts; y against 1 / eps. The library's choice is only measured with sorts that are fast
// enough for it.
void measure_stream(FigureSetting& setting, FigureData& data, Summary summary, const StreamSizes& sizes,
                    Windows windows) {
    const RivalThreads threads;
    std::vector<StreamContender> contenders{{"merge", Engine::Merge}};
    std::vector<const char*> rival_names{"vqsort"};
    if (windows == Windows::Papers) {
        PbsnOptions pbsn;
        pbsn.early_stop = EarlyStop::No;
        contenders.insert(contenders.begin(), {paper_pbsn, Engine::Pbsn, nullptr, pbsn});
        contenders.push_back({"auto", Engine::Auto});
        rival_names = {"qsort", "std::sort", "vqsort"};
    }
    for (const auto* name : rival_names) {
        if (const auto* rival = rival_of(name)) contenders.push_back({rival->name, {}, rival});
    }
    StreamBench bench(setting.context, setting.why_no_context, contenders, 1);
    for (const double eps : sizes.eps) {
        const auto window = windows == Windows::Papers ? static_cast<std::size_t>(std::lround(1 / eps)) : 0;
        const auto found =
            bench.run({summary, KeyType::F32, cpu::Distribution::Uniform, sizes.n, eps, sizes.sliding, window});
        for (const auto& r : found.results) {
            const auto& name = r.contender->name;
            const double x = 1 / eps;
            data.add_time(windows == Windows::Papers ? stream_ms : own_windows_ms, x, r, too_far_off);
            if (!r.ran() || windows == Windows::Ours) continue;
            const auto whose = r.contender->is_rival() ? Whose::Baseline : Whose::Ours;
            const auto& p = r.parts;
            data.add("transfers, ms", whose, name, x, p.upload + p.readback);
            if (p.sort > 0 && !r.contender->is_rival())
                data.add(transfers_of_sort, whose, name, x, 100 * (p.upload + p.readback) / p.sort);
            const double of[]{p.sort, p.sample, p.merge, p.compress};
            const double all = of[0] + of[1] + of[2] + of[3];
            for (std::size_t i = 0; i < stages.size() && all > 0; ++i)
                data.add(stages[i] + ", %", whose, name, x, 100 * of[i] / all);
        }
    }
}

std::vector<FigurePanel> stream_panels() {
    std::vector<FigurePanel> all;
    for (const auto* what : {stream_ms, "transfers, ms"}) all.push_back({what, "1 / eps", "ms"});
    all.push_back({transfers_of_sort, "1 / eps", "%"});
    for (const auto& stage : stages) all.push_back({stage + ", %", "1 / eps", "%"});
    all.push_back({own_windows_ms, "1 / eps", "ms"});
    return all;
}

Figure stream_figure(const std::string& id, const std::string& title, Summary summary, double share_low,
                     double share_high, const std::string& share_words) {
    Figure figure{
        id,
        "SIGMOD'05",
        title,
        "paper: 100 M random values, of 16 bits on the GPU; here the same number, or 2^20 with --quick, of 32 bits; "
        "windows have 1 / eps values, for merge and vqsort also the size that the library chooses; PBSN sorts batches "
        "of many windows; qsort is glibc's, std::sort stands for the paper's optimized quicksort, vqsort is the "
        "fastest of today; shares are those of the sum of the four stages, which overlap, without transfers",
        stream_panels(),
        [summary](FigureSetting& setting, FigureData& data) {
            const StreamSizes sizes{setting.pick(std::size_t{1} << 20U, papers_values), 0, {1e-2, 1e-3, 1e-4, 1e-5}};
            for (const auto windows : {Windows::Papers, Windows::Ours})
                measure_stream(setting, data, summary, sizes, windows);
        },
        {}};
    share_low *= slack;
    share_high = std::min(share_high / slack, 100.0);
    constexpr const char* grows_with_windows =
        "the share grows with the size of the windows, and the paper does not say which size it means";
    figure.claims = {
        because(
            lies_within(share_words + ", with qsort", Anything, "sort, %", "qsort", At::Every, share_low, share_high),
            grows_with_windows),
        because(lies_within(share_words + ", with an optimized quicksort", Anything, "sort, %", "std::sort", At::Every,
                            share_low, share_high),
                grows_with_windows),
        because(lies_within(share_words + ", with our PBSN", Anything, "sort, %", paper_pbsn, At::Every, share_low,
                            share_high),
                "small windows are sorted faster than the CPU makes histograms or samples of them; on a CPU renderer "
                "sorting takes nearly all the time"),
        because(lies_within("sorting takes 70 to 95 % (abstract), on the CPU", Anything, "sort, %", "qsort", At::Every,
                            70 * slack, 95 / slack),
                grows_with_windows),
        times_as_fast("the GPU is comparable to the CPU", Gpu, stream_ms, paper_pbsn, "qsort", At::Every, 0.5, 2),
        times_as_fast("the GPU is comparable to the CPU with an optimized quicksort", Gpu, stream_ms, paper_pbsn,
                      "std::sort", At::Every, 0.5, 2),
        times_as_fast("the GPU is better for large windows", Gpu, stream_ms, paper_pbsn, "qsort", At::Largest, 1),
        because(times_as_fast("the GPU is worse for small windows", Gpu, stream_ms, paper_pbsn, "qsort", At::Smallest,
                              0, 1),
                "small windows need few steps, and each step is drawn for all windows of a batch together"),
        lies_within("transfers take much less time than sorting", Gpu, transfers_of_sort, paper_pbsn, At::Every, 0, 25),
        times_as_fast("today: the merge engine beats vqsort", Gpu, own_windows_ms, "merge", "vqsort", At::Every, 1)};
    return figure;
}

constexpr std::array<std::pair<const char*, Summary>, 2> half_streams{
    {{"frequencies, ms", Summary::Frequencies}, {"quantiles, ms", Summary::Quantiles}}};

// Number of values in a sliding window. With --quick it is an eighth of the paper's 1 M, or a fortieth of its 10 M.
std::uint64_t window_of(const FigureSetting& setting, std::uint64_t papers) {
    return setting.pick(papers > 1'000'000 ? papers / 40 : papers / 8, papers);
}

std::vector<double> sliding_eps(const FigureSetting& setting) {
    return setting.pick(std::vector{0.1, 0.01}, std::vector{0.01, 0.001});
}

struct SlidingCase {
    const char* panel;
    Summary summary;
    std::uint64_t papers_window;
};
constexpr std::array<SlidingCase, 2> by_levels{{{"frequencies, ms", Summary::SlidingFrequencies, 1'000'000},
                                                {"quantiles, ms", Summary::SlidingQuantiles, 10'000'000}}};

constexpr const char* large_sets =
    "most of the time goes into sets of 2^18 values and more, which this card blends at 28 % of its write rate";
constexpr std::array level_eps{1e-5, 4e-6};  // the paper names the latter

// Each level sorts all values again: the upper levels with PBSN and the others on the CPU, or all with qsort.
void measure_levels(FigureSetting& setting, FigureData& data) {
    PbsnOptions pbsn;
    pbsn.early_stop = EarlyStop::No;
    std::vector<std::pair<StreamContender, std::size_t>> contenders{
        {{paper_pbsn, Engine::Pbsn, nullptr, pbsn}, std::size_t{1} << 16U}};  // and the fewest values that it sorts
    if (const auto* rival = rival_of("qsort")) contenders.push_back({{rival->name, {}, rival}, 1});
    for (const auto& [contender, min] : contenders) {
        StreamBench bench(setting.context, setting.why_no_context, {contender}, 1);
        for (const auto& [panel, summary, papers_window] : by_levels) {
            const auto window = window_of(setting, papers_window);
            for (const double eps : level_eps) {
                const auto found = bench.run(
                    {summary,
                     KeyType::F32,
                     cpu::Distribution::Uniform,
                     static_cast<std::size_t>(window + window / 4),
                     eps,
                     window,
                     0,
                     {.paper = {.raw = RawValues::Never, .blocks = SlidingBlocks::Sorted, .sorter_min = min}}});
                data.add_time(panel, 1 / eps, found.results.front(), too_far_off);
            }
        }
    }
}

// With 16 bits, as in the paper.
void measure_half_streams(FigureSetting& setting, FigureData& data) {
    const RivalThreads threads;
    PbsnOptions pbsn;
    pbsn.early_stop = EarlyStop::No;
    std::vector<StreamContender> contenders{{paper_pbsn, Engine::Pbsn, nullptr, pbsn}};
    for (const auto* name : {"qsort", "std::sort"}) {
        if (const auto* rival = rival_of(name)) contenders.push_back({rival->name, {}, rival});
    }
    StreamBench bench(setting.context, setting.why_no_context, std::move(contenders), 1);
    const auto n = setting.pick(std::size_t{1} << 20U, papers_values);
    for (const auto& [panel, summary] : half_streams) {
        for (const double eps : {1e-2, 1e-3, 1e-4, 1e-5}) {
            const auto found = bench.run({summary, KeyType::F16, cpu::Distribution::Uniform, n, eps, 0,
                                          static_cast<std::size_t>(std::lround(1 / eps))});
            for (const auto& result : found.results) data.add_time(panel, 1 / eps, result, too_far_off);
        }
    }
}

std::vector<Claim> claims_of_half_streams() {
    std::vector<Claim> all;
    for (const auto& [panel, summary] : half_streams) {
        const std::string what = summary == Summary::Quantiles ? "quantiles" : "frequencies";
        for (const auto* rival : {"qsort", "std::sort"})
            all.push_back(times_as_fast(what + ": the GPU is comparable to " + rival, Gpu, panel, paper_pbsn, rival,
                                        At::Every, 0.5, 2));
    }
    return all;
}

Figure sliding_figure(const std::string& id, const std::string& title, Summary summary, std::uint64_t sliding) {
    return {id,
            "SIGMOD'05",
            title,
            "paper: a sliding window over 100 M random values; here the same, or with --quick a stream of twice the "
            "window, which then is an eighth of the paper's 1 M or a fortieth of its 10 M; one chain of merges makes "
            "the levels, which is our method; values have 32 bits, on the paper's GPU 16",
            stream_panels(),
            [summary, sliding](FigureSetting& setting, FigureData& data) {
                const auto window = window_of(setting, sliding);
                measure_stream(
                    setting, data, summary,
                    {setting.pick(static_cast<std::size_t>(2 * window), papers_values), window, sliding_eps(setting)},
                    Windows::Papers);
            },
            {times_as_fast("the GPU is comparable to the CPU", Gpu, stream_ms, paper_pbsn, "qsort", At::Every, 0.5, 2),
             times_as_fast("today: the engine that the library chooses is no slower than vqsort alone", Anything,
                           stream_ms, "auto", "vqsort", At::Largest, slack)}};
}

}  // namespace

std::vector<Figure> sort_figures() {
    return {{"sigmod05-fig3-4",
             "SIGMOD'05",
             "Fig. 3 and 4: sorts of random values, and where PBSN's time goes",
             "paper: up to 8 M random floats, of 16 bits on the GPU; here of 32 bits, up to 2^18 with --quick, else up "
             "to 2^23; pbsn has the paper's form (one run per channel, no early stop), purcell is the bitonic sort of "
             "its figure; times are from memory to memory",
             {{sorting, "values", "ms"}, {parts, "values", "ms"}, {transfer_share, "values", "%"}},
             measure_sorts,
             with(claims_of_sorts(programs_are_free),
                  {fits(),
                   among(lies_within("transfers are not significant above 40 KB", Anything, transfer_share, "transfers",
                                     At::Every, 0, 10),
                         "at every x >= 16,384 (64 KB)", [](double x) { return x >= 16384; }),
                   not_here(
                       "twice as fast if a quicksort on the CPU sorts together with PBSN",
                       "no hybrid of PBSN and a quicksort was built; the row below has the hybrid of the merge engine"),
                   because(times_as_fast("today: CPU threads next to the merge engine make it faster", Gpu, sorting,
                                         "hybrid", "merge", At::Largest, 1),
                           "the merge engine takes less than half the time of all CPU threads, and the results of both "
                           "must be merged"),
                   times_as_fast("today: the merge engine beats vqsort, the fastest CPU sort of one thread", Gpu,
                                 sorting, "merge", "vqsort", At::Largest, 1)})},
            {"sigmod05-fig3-halves",
             "SIGMOD'05",
             "Fig. 3 in 16 bits",
             "the paper's GPU could blend only floats of 16 bits, so pbsn sorts these here; purcell and the CPU's "
             "sorts have 32 bits",
             {{sorting, "values", "ms"}},
             measure_halves,
             claims_of_sorts("blending 16-bit floats is as fast as writing them, and so is comparing them in a "
                             "fragment program: writing limits both")},
            {"sigmod05-blends",
             "SIGMOD'05",
             "Section 4.5: comparisons per key, and clock cycles per blend",
             "one sort of 2^16 (--quick) or 2^22 random floats, every pass profiled; a blend is that of one texel with "
             "four channels",
             {{blending, "values", "a key, ns, or cycles"}},
             measure_blends,
             {times_as_fast("n lg^2(n / 4) comparisons on the GPU", Anything, blending, "comparisons a key",
                            "log^2(n / 4)", At::Every, 0.999, 1.001, Better::Neither),
              blend_cycles()}},
            stream_figure("sigmod05-fig5-6", "Fig. 5 and 6: frequencies, and the cost of their operations",
                          Summary::Frequencies, 80, 90, "sorting takes 80 to 90 % of the time of frequencies"),
            stream_figure("sigmod05-fig7", "Fig. 7: quantiles", Summary::Quantiles, 85, 90,
                          "sorting takes 85 to 90 % of the time of quantiles"),
            {"sigmod05-fig5-7-halves",
             "SIGMOD'05",
             "Fig. 5 and 7 in 16 bits",
             "100 M values of 16 bits (2^20 with --quick), of which many are equal, in windows of 1 / eps",
             {{half_streams[0].first, "1 / eps", "ms"}, {half_streams[1].first, "1 / eps", "ms"}},
             measure_half_streams,
             claims_of_half_streams()},
            sliding_figure("sigmod05-fig8", "Fig. 8: frequencies in sliding windows (1 M in the caption)",
                           Summary::SlidingFrequencies, 1'000'000),
            sliding_figure("sigmod05-fig9", "Fig. 9: quantiles in sliding windows (10 M)", Summary::SlidingQuantiles,
                           10'000'000),
            {"sigmod05-fig8-9-levels",
             "SIGMOD'05",
             "Fig. 8 and 9 with the paper's levels",
             "as in the paper, each level of blocks sorts all values again: sets of at least 2^16 values on the GPU, "
             "up to four of one size at a time, and the others on the CPU; qsort sorts all sets; eps is the paper's "
             "4e-6, and 1e-5; a stream of 5/4 of the window, which is the paper's 1 M for frequencies and 10 M for "
             "quantiles, or an eighth and a fortieth of it with --quick",
             {{by_levels[0].panel, "1 / eps", "ms"}, {by_levels[1].panel, "1 / eps", "ms"}},
             measure_levels,
             {because(times_as_fast("frequencies: the GPU is comparable to the CPU", Gpu, by_levels[0].panel,
                                    paper_pbsn, "qsort", At::Every, 0.5, 2),
                      large_sets),
              because(times_as_fast("quantiles: the GPU is comparable to the CPU", Gpu, by_levels[1].panel, paper_pbsn,
                                    "qsort", At::Every, 0.5, 2),
                      large_sets)}}};
}

}  // namespace quadmill::detail::bench
