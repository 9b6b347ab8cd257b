// The rules by which claims of the papers are judged, on numbers that make them fail, and CSVs of figures. No OpenGL.
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
            // Without numbers only arithmetic is decided.
            const auto verdict = judge(said, {});
            CHECK((verdict.kind == NotHere || said.claim.find("Table 1") == 0 || said.claim.find("records") < 40));
            if (verdict.kind == NotHere) CHECK_FALSE(verdict.why.empty());
        }
    }
}

TEST_CASE("a claim of speed holds, or does not, by the ratio of times") {
    const auto data = times();
    const auto at = [&](At where, double least, double most = 1e300) {
        return judge(times_as_fast("", anything, "ms", "ours", "theirs", where, least, most), data).kind;
    };
    CHECK(at(At::Largest, 3) == Holds);
    CHECK(at(At::Largest, 3.01) == Fails);
    CHECK(at(At::Largest, 1, 2.9) == Fails);
    CHECK(at(At::Smallest, 0.5) == Holds);
    CHECK(at(At::Smallest, 1) == Fails);
    CHECK(at(At::Every, 1) == Fails);
    CHECK(at(At::Every, 0.5) == Holds);
    const auto fails = judge(times_as_fast("", anything, "ms", "ours", "theirs", At::Every, 1), data);
    CHECK(fails.ours == "0.500 times at x = 16");
}

TEST_CASE("numbers on the page have three digits that count") {
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

TEST_CASE("a claim of a value and of an order") {
    const auto data = times();
    CHECK(judge(lies_within("", anything, "ms", "ours", At::Every, 4, 10), data).kind == Holds);
    CHECK(judge(lies_within("", anything, "ms", "ours", At::Every, 4, 9), data).kind == Fails);
    CHECK(judge(lies_within("", anything, "ms", "ours", At::Smallest, 4, 9), data).kind == Holds);
    CHECK(judge(in_order("", anything, "ms", {"ours", "theirs"}), data).kind == Holds);
    CHECK(judge(in_order("", anything, "ms", {"theirs", "ours"}), data).kind == Fails);
}

TEST_CASE("what was not measured, not on a GPU, or wrong") {
    auto data = times();
    data.note_missing("absent", "no\ndriver");
    const auto missing = judge(times_as_fast("", anything, "ms", "absent", "theirs", At::Every, 1), data);
    CHECK(missing.kind == NotHere);
    CHECK(missing.why == "absent: no driver");
    CHECK(judge(not_here("", "one disk"), data).why == "one disk");
    const auto about_gpus = times_as_fast("", gpu, "ms", "ours", "theirs", At::Largest, 5);
    CHECK(judge(about_gpus, data).kind == Fails);
    const auto known = because(about_gpus, "a reason");
    CHECK(judge(known, data).why.empty());  // it is of another GPU
    data.facts.front().second = "NVIDIA H100 80GB";
    CHECK(judge(known, data).why == "a reason");
    CHECK(judge(because(times_as_fast("", gpu, "ms", "ours", "theirs", At::Largest, 1), "a reason"), data).why.empty());
    data.facts.back().second = "yes";
    const auto undecided = judge(about_gpus, data);
    CHECK(undecided.kind == NotHere);
    CHECK(undecided.ours == "3.00 times at x = 256");
    CHECK(undecided.why.find("does not hold here") != std::string::npos);
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
        data.points[2].y = 100;  // at 65,536
        CHECK(kind("sigmod05-fig3-4", "65 K") == Fails);
        data.points[4].y = 100;  // at all
        CHECK(judge(claim("sigmod05-fig3-4", "65 K"), data).ours == "slower at x = 2^18");
    }
    SUBCASE("the fit of n lg^2 n, in milliseconds") {
        for (const double x : {0x1p16, 0x1p23}) {
            data.add("parts of PBSN, ms", Whose::Ours, "sort", x, 10);
            data.add("parts of PBSN, ms", Whose::Paper, "n lg^2 n", x, 14);
        }
        CHECK(kind("sigmod05-fig3-4", "lg^2") == Holds);
        data.points[1].y = 16;
        CHECK(kind("sigmod05-fig3-4", "lg^2") == Fails);
        data.points.resize(2);
        CHECK(kind("sigmod05-fig3-4", "lg^2") == NotHere);
    }
    SUBCASE("phase 2 and the size of runs") {
        for (const double run : {10.0, 40.0}) {
            data.add("MB/s of each phase", Whose::Ours, "phase 1", run, 100);
            data.add("MB/s of each phase", Whose::Ours, "phase 2", run, run * 10);
        }
        CHECK(kind("sigmod06-fig1", "phase 2") == Holds);
        data.points[3].y = 150;
        CHECK(kind("sigmod06-fig1", "phase 2") == Fails);
    }
    SUBCASE("the order of the graph") {
        for (const auto& [name, ms] : {std::pair{"ours", 1.0}, std::pair{"one-op", 2.0}, std::pair{"cpu", 3.0}})
            data.add("ms", Whose::Ours, name, 15000, ms);
        CHECK(kind("mds09-fig8-9", "framework") == Holds);
        data.points[1].y = 0.5;
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
        data.points[3].y = 10;  // at the other load
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Holds);
        data.points[1].y = 0.8;
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Fails);
        data.points[1].y = 0.5;  // more accurate than the paper's
        CHECK(kind("qsketch-fig7", "msws: 9.48") == Fails);
    }
    SUBCASE("a rate has another unit than its figure") {
        data.add("queries, ns each", Whose::Ours, "quarter", 1 << 20, 0.4);
        CHECK(judge(claim("qsketch-fig5-6", "2417 M queries"), data).ours == "2,500 M/s at x = 2^20");
        CHECK(kind("qsketch-fig5-6", "2417 M queries") == Holds);
        data.points[0].y = 0.5;
        CHECK(kind("qsketch-fig5-6", "2417 M queries") == Fails);
    }
    SUBCASE("the slides' rows decide, not the most") {
        for (const double x : {0x1p20, 0x1p24}) {
            data.add("a <= x", Whose::Ours, "depth", x, 1);
            data.add("a <= x", Whose::Baseline, "plain scan", x, x == 0x1p20 ? 20 : 2);
        }
        CHECK(kind("slides-predicate", "20 times") == Holds);
        data.points[1].y = 2;
        CHECK(kind("slides-predicate", "20 times") == Fails);
    }
    SUBCASE("where the cache model predicts no effect, nothing is decided") {
        data.add("a sort, times its fastest steps", Whose::Paper, "predicted", 512, 1.5);
        data.add("a sort, times its fastest steps", Whose::Ours, "measured", 512, 1.4);
        CHECK(kind("slides-cache", "whole sort") == Holds);
        data.points[1].y = 1;
        CHECK(kind("slides-cache", "whole sort") == Fails);
        data.points[0].y = 1;
        CHECK(kind("slides-cache", "whole sort") == NotHere);
    }
    SUBCASE("the lead over the CPU") {
        for (const auto& [x, ms] : {std::pair{1.0, 100.0}, std::pair{20.0, 50.0}}) {
            data.add("ms", Whose::Ours, "cpu", x, ms);
            data.add("ms", Whose::Ours, "ours", x, 1);
        }
        CHECK(kind("mds09-fig7", "advantage") == Holds);
        data.points[2].y = 99;
        CHECK(kind("mds09-fig7", "advantage") == Fails);
    }
    SUBCASE("the other stages of phase 1") {
        for (const auto* stage : {"sort", "read", "keys", "reorder", "write"})
            data.add("seconds of each stage in phase 1; terasort, bitonic", Whose::Ours, stage, 1000,
                     stage == std::string("sort") ? 1 : 2);
        CHECK(kind("sigmod06-fig11-12-14", "other stages") == Holds);
        data.points[2].y = 0.5;
        CHECK(judge(claim("sigmod06-fig11-12-14", "other stages"), data).ours == "keys: 0.500 times at x = 1,000");
    }
    SUBCASE("phase 1 and the disk") {
        data.add("seconds in all", Whose::Baseline, "cp", 1000, 0.95);
        data.add("seconds of phase 1", Whose::Ours, "terasort, bitonic", 1000, 1);
        CHECK(kind("sigmod06-fig11-12-14", "Fig. 13: near") == Holds);
        data.points[1].y = 2;
        CHECK(kind("sigmod06-fig11-12-14", "Fig. 13: near") == Fails);
    }
    SUBCASE("up to ten times as fast") {
        data.add("ms to sort pairs", Whose::Ours, "GPUTeraSort's own form", 1024, 1);
        data.add("ms to sort pairs", Whose::Baseline, "kipfer", 1024, 9.5);
        CHECK(kind("sigmod06-fig6-7", "up to 10") == Holds);
        data.points[1].y = 8;
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
    CHECK(svg_of(figure("mds09-fig5"), times()).find("theirs") != std::string::npos);
    CHECK(svg_of(figure("mds09-fig5"), {}).empty());
    // A series has one colour in all panels, also where those before it have no points.
    FigureData panels;
    panels.add("no pivoting", Whose::Ours, "first", 64, 1);
    panels.add("full pivoting", Whose::Ours, "second", 64, 1);
    panels.add("no pivoting", Whose::Ours, "second", 64, 2);
    const auto svg = svg_of(figure("slides-lu"), panels);
    std::set<std::string> colors;
    for (auto at = svg.find("<title>second"); at != std::string::npos; at = svg.find("<title>second", at + 1))
        colors.insert(svg.substr(svg.find("stroke=", at), 16));
    CHECK(colors.size() == 1);
    FigureData none_match;  // a linear axis has a place for 0, a logarithm has not
    none_match.add("ms", Whose::Ours, "ours", 0, 1.5);
    CHECK(svg_of(figure("mds09-fig6"), none_match).find("circle") != std::string::npos);
    none_match.points.front().panel = figure("slides-lu").panels.front().name;
    CHECK(svg_of(figure("slides-lu"), none_match).empty());
}
