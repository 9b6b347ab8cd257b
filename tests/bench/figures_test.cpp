// The rules that judge claims of the papers, with numbers that make them fail, and CSVs of figures. No OpenGL.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "bench/figures/figure.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;
using namespace quadmill::detail::bench;

namespace {

using enum Verdict::Kind;
constexpr auto anything = Claim::About::Anything, gpu = Claim::About::Gpu;

FigureData times() {
    FigureData data;
    data.facts = {{"renderer", "a GPU"}, {"software renderer", "no"}};
    for (const double x : {16, 256}) {
        data.add("ms", Whose::Ours, "ours", x, x == 16 ? 4 : 10);
        data.add("ms", Whose::Baseline, "theirs", x, x == 16 ? 2 : 30);
    }
    return data;
}

// Sets a point with a single measurement.
void set(FigurePoint& point, double y) {
    point.y = point.low = point.high = y;
}

const Figure& figure(const std::string& id) {
    return *std::ranges::find(figures(), id, &Figure::id);
}

const Claim& claim(const std::string& id, const std::string& words) {
    const auto& all = figure(id).claims;
    const auto found =
        std::ranges::find_if(all, [&](const Claim& one) { return one.claim.find(words) != std::string::npos; });
    REQUIRE(found != all.end());
    return *found;
}

}  // namespace

TEST_CASE("a figure has a name of its own, axes, and claims with rules") {
    std::set<std::string> ids;
    for (const auto& one : figures()) {
        CAPTURE(one.id);
        CHECK(ids.insert(one.id).second);
        CHECK_FALSE(one.panels.empty());
        CHECK_FALSE(one.claims.empty());
        CHECK(one.measure);
        for (const auto& said : one.claims) {
            CAPTURE(said.claim);
            CHECK_FALSE(said.rule.empty());
            // Without numbers only arithmetic can be decided.
            const auto verdict = judge(said, {});
            CHECK((verdict.kind == NotHere || said.claim.find("Table 1") == 0 || said.claim.find("records") < 40));
            if (verdict.kind == NotHere) CHECK_FALSE(verdict.why.empty());
        }
    }
}

TEST_CASE("a claim of speed is decided by the ratio of times") {
    const auto data = times();
    const auto at = [&](At where, double min, double max = 1e300) {
        return judge(times_as_fast("", anything, "ms", "ours", "theirs", where, min, max), data).kind;
    };
    CHECK(at(At::Largest, 3) == Holds);
    CHECK(at(At::Largest, 3.01) == Fails);
    CHECK(at(At::Largest, 1, 2.9) == Exceeds);
    CHECK(at(At::Smallest, 0.5) == Holds);
    CHECK(at(At::Smallest, 1) == Fails);
    CHECK(at(At::Every, 1) == Fails);
    CHECK(at(At::Every, 0.5) == Holds);
    const auto fails = judge(times_as_fast("", anything, "ms", "ours", "theirs", At::Every, 1), data);
    CHECK(fails.ours == "0.500 times at x = 16");
}

TEST_CASE("numbers on the page have three significant digits") {
    for (const auto& [value, words] : std::vector<std::pair<double, std::string>>{{0, "0"},
                                                                                  {1, "1.00"},
                                                                                  {0.27, "0.270"},
                                                                                  {0.0012345, "0.00123"},
                                                                                  {5.996, "6.00"},
                                                                                  {9.999, "10.0"},
                                                                                  {99.96, "100"},
                                                                                  {486.2, "486"},
                                                                                  {1091.85, "1,090"},
                                                                                  {-12345678, "-12,300,000"},
                                                                                  {999.6, "1,000"}})
        CHECK(spoken(value) == words);
    FigureData data;
    for (const double x : {1 << 23, 165000}) data.add("ms", Whose::Ours, "ours", x, 2);
    const auto at = [&](At where) { return judge(lies_within("", anything, "ms", "ours", where, 0, 1), data).ours; };
    CHECK(at(At::Smallest) == "2.00 at x = 165,000");
    CHECK(at(At::Largest) == "2.00 at x = 2^23");
}

TEST_CASE("better than claimed is not a failure, and a range across a bound is not decided") {
    auto data = times();  // 3 times at 256, measured once
    const auto at = [&](double min, double max, Better better = Better::Above) {
        return judge(times_as_fast("", anything, "ms", "ours", "theirs", At::Largest, min, max, better), data);
    };
    CHECK(at(0.5, 2).kind == Exceeds);
    CHECK(at(0.5, 2, Better::Below).kind == Fails);
    CHECK(at(4, 5).kind == Fails);
    CHECK(at(4, 5, Better::Below).kind == Exceeds);
    CHECK(at(0.5, 2, Better::Neither).kind == Fails);
    data.points[2].low = 5;  // ours at 256: from 1.5 to 6 times
    data.points[2].high = 20;
    CHECK(at(2, 10).kind == Noisy);
    CHECK(at(2, 10).ours == "3.00 times (1.50 to 6.00) at x = 256");
    CHECK(at(1, 2).kind == Holds);  // the other side is only better
    CHECK(at(1, 2, Better::Below).kind == Noisy);
    CHECK(at(7, 8).kind == Fails);
    CHECK(at(1.5, 6, Better::Neither).kind == Holds);
    CHECK(judge(in_order("", anything, "ms", {"ours", "theirs"}), data).kind == Holds);
    data.points[3].low = 19;
    CHECK(judge(in_order("", anything, "ms", {"ours", "theirs"}), data).kind == Noisy);
    const auto other = judge(unlike(times_as_fast("", anything, "ms", "ours", "theirs", At::Largest, 9), "rows"), data);
    CHECK(other.kind == Unlike);
    CHECK(other.why == "rows");
}

TEST_CASE("a series of the GPU that drew no pass is an error") {
    struct Contender {
        std::string name;
        bool gpu;
        [[nodiscard]] bool draws() const { return gpu; }
        [[nodiscard]] bool is_rival() const { return !gpu; }
    };
    struct Result {
        const Contender* contender;
        std::uint64_t passes;
        std::string refusal{};
        bool verified = true;
        double ms = 1, low_ms = 1, high_ms = 1;
        [[nodiscard]] bool ran() const { return refusal.empty(); }
    };
    const Contender ours{"ours", true}, theirs{"theirs", false};
    FigureData data;
    CHECK_THROWS_WITH_AS(data.add_time("ms", 4096, Result{&ours, 0}, "wrong"),
                         "'ours' drew no pass at x = 2^12: the GPU was not measured", Error);
    CHECK(data.points.empty());
    data.add_time("ms", 4096, Result{&ours, 0, "no GPU"}, "wrong");
    data.add_time("ms", 4096, Result{&ours, 1}, "wrong");
    data.add_time("ms", 4096, Result{&theirs, 0}, "wrong");
    CHECK(data.points.size() == 2);
}

TEST_CASE("a claim of a value and of an order") {
    const auto data = times();
    CHECK(judge(lies_within("", anything, "ms", "ours", At::Every, 4, 10), data).kind == Holds);
    CHECK(judge(lies_within("", anything, "ms", "ours", At::Every, 4, 9), data).kind == Fails);
    CHECK(judge(lies_within("", anything, "ms", "ours", At::Smallest, 4, 9), data).kind == Holds);
    CHECK(judge(in_order("", anything, "ms", {"ours", "theirs"}), data).kind == Holds);
    CHECK(judge(in_order("", anything, "ms", {"theirs", "ours"}), data).kind == Fails);
}

TEST_CASE("measurements that are missing, not on a GPU, or wrong") {
    auto data = times();
    data.note_missing("absent", "no\ndriver");
    const auto missing = judge(times_as_fast("", anything, "ms", "absent", "theirs", At::Every, 1), data);
    CHECK(missing.kind == NotHere);
    CHECK(missing.why == "absent: no driver");
    CHECK(judge(not_here("", "one disk"), data).why == "one disk");
    const auto about_gpus = times_as_fast("", gpu, "ms", "ours", "theirs", At::Largest, 5);
    CHECK(judge(about_gpus, data).kind == Fails);
    const auto known = because(about_gpus, "a reason");
    CHECK(judge(known, data).why == "a reason");
    CHECK(judge(because(times_as_fast("", gpu, "ms", "ours", "theirs", At::Largest, 1), "a reason"), data).why.empty());
    data.facts.back().second = "yes";
    const auto undecided = judge(about_gpus, data);
    CHECK(undecided.kind == NotHere);
    CHECK(undecided.ours == "3.00 times at x = 256");
    CHECK(undecided.why.find("the rule's verdict here: does not hold") != std::string::npos);
    data.note_wrong("ours", "wrong order");
    CHECK(judge(about_gpus, data).kind == Fails);
}

TEST_CASE("rules of figures can come out either way") {
    FigureData data;
    const auto kind = [&](const char* id, const char* words) { return judge(claim(id, words), data).kind; };
    SUBCASE("the break-even size") {
        for (const double x : {16384.0, 65536.0, 262144.0}) {
            data.add("ms to sort", Whose::Ours, "pbsn", x, 10);
            data.add("ms to sort", Whose::Baseline, "qsort", x, x > 20000 ? 11 : 2);
        }
        CHECK(kind("sigmod05-fig3-4", "65 K") == Holds);
        set(data.points[2], 100);  // at 65,536
        CHECK(kind("sigmod05-fig3-4", "65 K") == Fails);
        set(data.points[4], 100);  // at all
        CHECK(judge(claim("sigmod05-fig3-4", "65 K"), data).ours == "slower at x = 2^18");
    }
    SUBCASE("the fit of n lg^2 n, in milliseconds") {
        for (const double x : {0x1p16, 0x1p23}) {
            data.add("parts of PBSN, ms", Whose::Ours, "sort", x, 10);
            data.add("parts of PBSN, ms", Whose::Paper, "n lg^2 n", x, 14);
        }
        CHECK(kind("sigmod05-fig3-4", "lg^2") == Holds);
        set(data.points[1], 16);
        CHECK(kind("sigmod05-fig3-4", "lg^2") == Fails);
        data.points.resize(2);
        CHECK(kind("sigmod05-fig3-4", "lg^2") == NotHere);
    }
    SUBCASE("phase 2 and the size of runs") {
        for (const double run : {10.0, 40.0}) {
            data.add("MB/s of each phase, by the size of runs", Whose::Ours, "phase 1", run, 100);
            data.add("MB/s of each phase, by the size of runs", Whose::Ours, "phase 2", run, run * 10);
        }
        CHECK(claim("sigmod06-fig1", "phase 2").judge(data).kind == Holds);
        set(data.points[3], 150);
        CHECK(claim("sigmod06-fig1", "phase 2").judge(data).kind == Fails);
        CHECK(kind("sigmod06-fig1", "phase 2") == Fails);
    }
    SUBCASE("the order of the graph") {
        for (const auto& [name, ms] : {std::pair{"ours", 1.0}, std::pair{"one-op", 2.0}, std::pair{"cpu", 3.0}})
            data.add("ms", Whose::Ours, name, 15000, ms);
        CHECK(kind("mds09-fig8-9", "framework") == Holds);
        set(data.points[1], 0.5);
        CHECK(kind("mds09-fig8-9", "framework") == Fails);
    }
    SUBCASE("Table 1 does not follow the benchmark's rule") {
        const auto verdict = judge(claim("sigmod06-fig11-12-14", "Table 1"), data);
        CHECK(verdict.kind == Fails);
        CHECK(verdict.ours == "6800: 677 s, 6800 Ultra: 607 s, 7800 GT: 613 s");
        CHECK(kind("sigmod06-fig11-12-14", "1.4 times") == Holds);
        CHECK(kind("sigmod06-fig11-12-14", "4 times the records of D") == Fails);
    }
    SUBCASE("errors of sketches") {
        for (const double load : {0.5, 1.0}) {
            data.add("mean error, %", Whose::Ours, "thread", load, 6);
            data.add("mean error, %", Whose::Ours, "msws", load, 0.6);
        }
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Holds);
        set(data.points[3], 10);  // at the other load
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Holds);
        set(data.points[1], 0.8);
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Fails);
        set(data.points[1], 0.5);  // more accurate than the paper's
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Exceeds);
    }
    SUBCASE("a rate has another unit than its figure") {
        data.add("queries, ns each", Whose::Ours, "quarter", 1 << 20, 0.4);
        CHECK(judge(claim("qsketch-fig5-6", "2417 M queries"), data).ours == "2,500 M/s at x = 2^20");
        CHECK(kind("qsketch-fig5-6", "2417 M queries") == Holds);
        set(data.points[0], 0.5);
        CHECK(kind("qsketch-fig5-6", "2417 M queries") == Fails);
    }
    SUBCASE("the slides' rows decide, not the most") {
        for (const double x : {0x1p20, 0x1p24}) {
            data.add("a <= x", Whose::Ours, "depth", x, 1);
            data.add("a <= x", Whose::Baseline, "plain scan", x, x == 0x1p20 ? 20 : 2);
        }
        CHECK(kind("slides-predicate", "20 times") == Holds);
        set(data.points[1], 2);
        CHECK(kind("slides-predicate", "20 times") == Fails);
    }
    SUBCASE("if the cache model predicts no effect, nothing is decided") {
        data.add("a sort, times its fastest steps", Whose::Paper, "predicted", 512, 1.5);
        data.add("a sort, times its fastest steps", Whose::Ours, "measured", 512, 1.4);
        CHECK(kind("slides-cache", "whole sort") == Holds);
        set(data.points[1], 1);
        CHECK(kind("slides-cache", "whole sort") == Fails);
        set(data.points[0], 1);
        CHECK(kind("slides-cache", "whole sort") == NotHere);
    }
    SUBCASE("the lead over the CPU") {
        for (const auto& [x, ms] : {std::pair{1.0, 100.0}, std::pair{20.0, 50.0}}) {
            data.add("ms", Whose::Ours, "cpu", x, ms);
            data.add("ms", Whose::Ours, "ours", x, 1);
        }
        CHECK(kind("mds09-fig7", "advantage") == Holds);
        set(data.points[2], 99);
        CHECK(kind("mds09-fig7", "advantage") == Fails);
    }
    SUBCASE("the other stages of phase 1") {
        for (const auto* stage : {"sort", "read", "keys", "reorder", "write"})
            data.add("seconds of each stage in phase 1; terasort, bitonic", Whose::Ours, stage, 1000,
                     stage == std::string("sort") ? 1 : 2);
        CHECK(kind("sigmod06-fig11-12-14", "other stages") == Holds);
        set(data.points[2], 0.5);
        CHECK(judge(claim("sigmod06-fig11-12-14", "other stages"), data).ours == "keys: 0.500 times at x = 1,000");
    }
    SUBCASE("phase 1 and the disk") {
        data.add("seconds in all", Whose::Baseline, "copy past the cache", 1000, 0.95);
        data.add("seconds of phase 1", Whose::Ours, "terasort, bitonic", 1000, 1);
        CHECK(claim("sigmod06-fig11-12-14", "Fig. 13: near").judge(data).kind == Holds);
        set(data.points[1], 2);
        CHECK(claim("sigmod06-fig11-12-14", "Fig. 13: near").judge(data).kind == Fails);
        CHECK(kind("sigmod06-fig11-12-14", "Fig. 13: near") == Fails);
    }
    SUBCASE("up to ten times as fast") {
        data.add("ms to sort pairs", Whose::Ours, "GPUTeraSort's own form", 1024, 1);
        data.add("ms to sort pairs", Whose::Baseline, "kipfer", 1024, 9.5);
        CHECK(kind("sigmod06-fig6-7", "up to 10") == Holds);
        set(data.points[1], 8);
        CHECK(kind("sigmod06-fig6-7", "up to 10") == Fails);
    }
}

TEST_CASE("a CSV is read as it was written") {
    auto data = times();
    data.add("parts, ms", Whose::Paper, "a, b", 0.001, 1.5);
    data.note_missing("vqsort", "not built: in");
    data.note_wrong("ours", "wrong order");
    const auto text = data.csv();
    const auto again = FigureData::from_csv(text);
    CHECK(again.csv() == text);
    CHECK(again.y("parts, ms", "a, b", 0.001) == 1.5);
    CHECK(again.fact("renderer") == "a GPU");
    CHECK(again.missing == data.missing);
    CHECK(again.wrong == data.wrong);
    for (const auto* bad : {"", "panel,x\n", "panel,whose,series,x,y,low,high\na,ours,b,1\n",
                            "panel,whose,series,x,y,low,high\na,ours,b,1,two,3,4\n",
                            "panel,whose,series,x,y,low,high\na,his,b,1,2,3,4\n"})
        CHECK_THROWS_AS(static_cast<void>(FigureData::from_csv(bad)), Error);
    CHECK(svg_of(figure("mds09-fig6"), times()).find("theirs") != std::string::npos);
    CHECK(svg_of(figure("mds09-fig5"), {}).empty());
    // A series has the same colour in all panels, even if earlier series have no points.
    FigureData panels;
    panels.add("no pivoting", Whose::Ours, "first", 64, 1);
    panels.add("full pivoting", Whose::Ours, "second", 64, 1);
    panels.add("no pivoting", Whose::Ours, "second", 64, 2);
    const auto svg = svg_of(figure("slides-lu"), panels);
    std::set<std::string> colors;
    for (auto at = svg.find("<title>second"); at != std::string::npos; at = svg.find("<title>second", at + 1))
        colors.insert(svg.substr(svg.find("stroke=", at), 16));
    CHECK(colors.size() == 1);
    FigureData none_match;  // a linear axis has a position for 0, a logarithmic one has not
    none_match.add("ms", Whose::Ours, "ours", 0, 1.5);
    CHECK(svg_of(figure("mds09-fig6"), none_match).find("circle") != std::string::npos);
    none_match.points.front().panel = figure("slides-lu").panels.front().name;
    CHECK(svg_of(figure("slides-lu"), none_match).empty());
}
