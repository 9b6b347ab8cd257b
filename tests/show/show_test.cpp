#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "show/contact_sheet.hpp"
#include "show/quantile_plot.hpp"
#include "show/stage_view.hpp"
#include "sort_stages/player.hpp"

using namespace quadmill;
using namespace quadmill::detail;
using namespace quadmill::detail::show;

namespace {

const std::vector<Watched> engines{Watched::Pbsn, Watched::BitonicSingle, Watched::BitonicFour, Watched::Merge};

Context& context() {
    static auto opened = Context::headless();
    return opened;
}

std::vector<float> elements(const Stages& stages, const Step& step) {
    std::vector<float> keys;
    for (const auto place : stages.order) keys.push_back(step.keys[place]);
    return keys;
}

std::vector<float> array(const Stages& stages, const Step& step, std::size_t i) {
    const auto all = elements(stages, step);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * stages.array_size());
    return {begin, begin + static_cast<std::ptrdiff_t>(stages.array_size())};
}

std::vector<float> in_order(std::vector<float> keys) {
    std::ranges::sort(keys);
    return keys;
}

}  // namespace

TEST_CASE("watching keeps every step of the engine, from the input to the sorted array") {
    for (const auto engine : engines) {
        for (const std::size_t n : {16U, 64U, 128U, 1024U, 4096U}) {
            for (const auto type : {KeyType::F32, KeyType::F16}) {
                CAPTURE(std::string(name_of(engine)));
                CAPTURE(n);
                const auto stages = watch(context(), {.engine = engine, .n = n, .type = type, .seed = n});
                CHECK(stages.steps.size() - 1 == stages.expected_steps);
                CHECK(stages.steps.back().out_of_order == 0);
                CHECK(stages.steps.front().out_of_order > 0);
                for (const auto& step : stages.steps) {
                    std::uint64_t larger = 0;
                    for (std::size_t i = 0; i < stages.arrays; ++i) {
                        const auto keys = array(stages, step, i);
                        for (std::size_t j = 1; j < keys.size(); ++j) larger += keys[j - 1] > keys[j];
                    }
                    REQUIRE(step.out_of_order == larger);
                }
                for (std::size_t i = 0; i < stages.arrays; ++i) {
                    const auto last = array(stages, stages.steps.back(), i);
                    CHECK(std::ranges::is_sorted(last));
                    CHECK(in_order(array(stages, stages.steps.front(), i)) == last);
                }
                auto all = in_order(elements(stages, stages.steps.back()));
                all.resize(n);  // padding comes last
                CHECK(all == stages.sorted);
            }
        }
    }
}

TEST_CASE("the comparators that are shown make each step of the step before it") {
    for (const auto engine : {Watched::Pbsn, Watched::BitonicSingle, Watched::BitonicFour}) {
        for (const std::size_t n : {16U, 32U, 1024U, 2048U}) {
            CAPTURE(std::string(name_of(engine)));
            CAPTURE(n);
            const auto stages = watch(context(), {.engine = engine, .n = n});
            for (std::size_t i = 1; i < stages.steps.size(); ++i) {
                CAPTURE(i);
                auto keys = stages.steps[i - 1].keys;
                for (const auto& [low, high] : stages.steps[i].comparators) {
                    if (keys[low] > keys[high]) std::swap(keys[low], keys[high]);
                }
                REQUIRE(keys == stages.steps[i].keys);
            }
        }
    }
}

TEST_CASE("an early stop leaves out the stages that the GPU skipped") {
    const auto stages =
        watch(context(), {.n = 1024, .distribution = cpu::Distribution::Nearly, .early_stop = EarlyStop::Yes});
    CHECK(stages.stages_run < stages.stages);
    CHECK(stages.steps.size() == static_cast<std::size_t>(stages.stages_run * stages.stages) + 1);
    CHECK(stages.steps.back().out_of_order == 0);
    CHECK_THROWS_AS(watch(context(), {.n = 1000}), InvalidArgument);
    CHECK_THROWS_AS(watch(context(), {.n = Request::max_keys * 2}), InvalidArgument);
    CHECK_THROWS_AS(watch(context(), {.type = KeyType::I32}), InvalidArgument);
}

TEST_CASE("no text is cut off at common sizes") {
    for (const auto engine : engines) {
        for (const std::size_t n : {16U, 4096U, 65536U}) {
            const auto stages = watch(context(), {.engine = engine, .n = n});
            for (const auto& size : {Size{640, 480}, Size{1280, 800}, Size{1920, 1080}, Size{640, 800}}) {
                const auto last = stages.steps.size() - 1;
                for (const std::size_t step : {std::size_t{0}, std::size_t{1}, last / 3, last}) {
                    CAPTURE(std::string(name_of(engine)));
                    CAPTURE(n);
                    CAPTURE(size.width);
                    CAPTURE(step);
                    CHECK_FALSE(draw_step(stages, {.step = step, .times = Times::Shown}, size).clipped());
                }
            }
        }
    }
}

TEST_CASE("stepping back gives the same picture, and so does sorting again") {
    const Request request{.engine = Watched::Pbsn, .n = 256};
    std::vector<Stages> sorts;
    sorts.push_back(watch(context(), request));
    demo::Player player(std::move(sorts));
    constexpr Size size{640, 480};
    player.go_to(17);
    const auto before = png(player.draw(size, Times::Shown));
    player.move(1);
    CHECK(png(player.draw(size, Times::Shown)) != before);
    player.move(-1);
    CHECK(png(player.draw(size, Times::Shown)) == before);

    const auto again = watch(context(), request);
    CHECK(png(draw_step(again, {.step = 17}, size)) == png(player.draw(size, Times::Hidden)));
}

TEST_CASE("a player plays, pauses, seeks and races") {
    std::vector<Stages> sorts;
    for (const auto engine : {Watched::Merge, Watched::Pbsn})
        sorts.push_back(watch(context(), {.engine = engine, .n = 256}));
    const auto merge_steps = sorts[0].steps.size(), pbsn_steps = sorts[1].steps.size();
    demo::Player player(std::move(sorts));
    CHECK(player.places() == pbsn_steps);
    player.set_speed(10);
    player.play();
    player.tick(0.55);
    CHECK(player.at() == 5);
    CHECK(player.playing());
    CHECK(player.step_of(0) == merge_steps - 1);  // has won already
    player.tick(1000);
    CHECK(player.at_end());
    CHECK_FALSE(player.playing());
    player.play();
    CHECK(player.at() == 0);
    player.move(-3);
    CHECK(player.at() == 0);
    CHECK_FALSE(player.playing());
    const Size size{1280, 800};
    const auto line = time_line({640, 800});
    CHECK(player.place_at(size, 640 + line.x, line.y + 5) == 0);
    CHECK(player.place_at(size, 640 + line.right() - 1, line.y + 5) == static_cast<std::ptrdiff_t>(pbsn_steps) - 1);
    CHECK(player.place_at(size, 640 + line.x, line.y - 5) == -1);
    CHECK_FALSE(player.draw(size, Times::Shown).clipped());
}

TEST_CASE("a contact sheet has the input, a stage step by step and the end, with all its words") {
    for (const auto engine : engines) {
        for (const std::size_t n : {16U, 4096U}) {
            CAPTURE(std::string(name_of(engine)));
            CAPTURE(n);
            const auto stages = watch(context(), {.engine = engine, .n = n});
            const auto chosen = highlights(stages);
            CHECK(chosen.front() == 0);
            CHECK(chosen.back() == stages.steps.size() - 1);
            CHECK(std::ranges::is_sorted(chosen));
            if (engine == Watched::Pbsn) CHECK(chosen.size() == static_cast<std::size_t>(2 * stages.stages));
            CHECK_FALSE(contact_sheet(stages).clipped());
        }
    }
}

TEST_CASE("a plot of quantiles takes any finite values") {
    for (const auto& [low, high] : {std::pair{0.0, 0.0},
                                    {-3.0, 5.0},
                                    {1e-9, 1e9},
                                    {-1e30, 1e30},
                                    {7.0, 7.0000001},
                                    {5e-324, 1e300},
                                    {0.0, 5e-324},
                                    {-1.7e308, 1.7e308},
                                    {1e299, 1.7e308}}) {
        QuantileCurve curve{.n = 1000, .eps = 0.01, .points = {}};
        for (int i = 0; i <= 10; ++i) {
            const double value = std::lerp(low, high, i / 10.0);
            curve.points.push_back({i / 10.0, value, value, value});
            if (i < 10) curve.tail.push_back({1 - 0.5 * std::pow(0.2, i / 9.0), value, value, value});
        }
        CAPTURE(low);
        const auto both = draw_quantiles(curve, {1000, 600});
        CHECK_FALSE(both.clipped());
        curve.tail.clear();
        const auto all_alone = draw_quantiles(curve, {1000, 600});
        CHECK_FALSE(all_alone.clipped());
        CHECK(both.pixels() != all_alone.pixels());
    }
}

TEST_CASE("a letter counts as one, however many bytes it has, even if a line is cut off") {
    const Font font(13);
    CHECK(font.width("\u00e4") == font.width("?"));  // a letter without a picture
    CHECK(font.width("\U0001f600a") == font.width("?a"));
    Canvas cut(100, 30), right(100, 30);
    cut.label({0, 0, font.width("\u2264?\u2026"), 30}, "\u2264\u2264\u2264", font);
    right.text(0, 0, "\u2264\u2026", font);
    CHECK(cut.clipped());
    CHECK(cut.pixels() == right.pixels());
}

TEST_CASE("sizes are parsed or refused") {
    CHECK(parse_size("1280x800").width == 1280);
    CHECK(parse_size("640x480").height == 480);
    for (const auto* wrong : {"", "640", "640x", "639x480", "640x479", "640x480x", "-640x480", "99999x800", " 640x480",
                              "640x 480", "+640x480"})
        CHECK_THROWS_AS(static_cast<void>(parse_size(wrong)), InvalidArgument);
}
