// Compares merges of ranges of keys, in several threads, with std::stable_sort.
#include "external/range_merge.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "external/sorting.hpp"

using namespace quadmill;
using namespace quadmill::detail::external;
using detail::files::page;

namespace {

struct Record {
    std::string key, rest;
    [[nodiscard]] std::string bytes() const {
        const SizedHeader header{static_cast<std::uint32_t>(sizeof header + key.size() + rest.size()),
                                 static_cast<std::uint32_t>(sizeof header + rest.size()),
                                 static_cast<std::uint32_t>(key.size())};
        return std::string(reinterpret_cast<const char*>(&header), sizeof header) + rest + key;
    }
};

std::string joined(const std::vector<Record>& records) {
    std::string all;
    for (const auto& record : records) all += record.bytes();
    return all;
}

// The first of the records with a key.
class Firsts final : public Stream {
  public:
    explicit Firsts(RecordStream& records) : records_(records) {}
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override {
        while (text_.size() < memory.size()) {
            const auto record = records_.next();
            if (record.empty()) break;
            const auto key = SizedHeader::of(record.data()).key(record.data());
            if (has_ && std::ranges::equal(key, before_)) continue;
            has_ = true;
            before_.assign(key.begin(), key.end());
            text_.append(reinterpret_cast<const char*>(record.data()), record.size());
        }
        const auto part = std::min(text_.size(), memory.size());
        std::memcpy(memory.data(), text_.data(), part);
        text_.erase(0, part);
        return part;
    }

  private:
    RecordStream& records_;
    bool has_ = false;
    std::vector<std::byte> before_;
    std::string text_;
};

struct Case {
    std::size_t run, interval, range, memory;
    unsigned threads;
};

Plans plans_for(const Case& which) {
    Plans plans;
    plans.runs = [which](const Format& /*format*/, std::size_t, const RunNeeds&) -> std::optional<RunPlan> {
        return RunPlan{.slots = 3, .size = {which.run, which.run}, .block = page, .interval = which.interval};
    };
    plans.ranges = [which](std::size_t, const RangeNeeds& needs) -> std::optional<RangePlan> {
        const auto margin = detail::files::page_up(needs.longest_record);
        return RangePlan{
            .threads = needs.threads,
            .margin = margin,
            .range = which.range,
            .reader = std::max<std::size_t>(needs.runs * 2 * (margin + page), needs.longest_gap + 2 * page)};
    };
    return plans;
}

std::string all_of(Stream& stream, std::size_t part) {
    std::string all;
    for (std::string some(part, '\0');;) {
        const auto got = stream.fill(std::as_writable_bytes(std::span(some)));
        all += some.substr(0, got);
        if (got < part) return all;
    }
}

void push(Sorting& sorting, const std::string& input) {
    sorting.begin({.mean_line = 8}, {-1, 0, "pushed"});
    sorting.filler().push(std::as_bytes(std::span(input)));
}

// The same records, in parts that threads copy.
void push_in_parts(Sorting& sorting, std::span<const Record> records, std::mt19937& random) {
    constexpr std::size_t readable = 16;
    const detail::cpu::Workers workers(3);
    sorting.begin({.mean_line = 8}, {-1, 0, "pushed"});
    while (!records.empty()) {
        std::vector<std::size_t> numbers;
        std::vector<std::string> parts;
        for (int i = 0; i < 5; ++i) {
            const auto some = records.first(std::min<std::size_t>(random() % 60, records.size()));
            numbers.push_back(some.size());
            parts.push_back(joined({some.begin(), some.end()}) + std::string(readable, '?'));
            records = records.subspan(some.size());
        }
        std::vector<SomeRecords> pushed;
        for (std::size_t i = 0; i < parts.size(); ++i)
            pushed.push_back({std::as_bytes(std::span(parts[i])).first(parts[i].size() - readable), numbers[i]});
        sorting.filler().push(pushed, workers);
    }
}

using MakeKey = std::function<std::string(std::mt19937&)>;

// Keys that are often equal, begin alike for longer than an index has them, or begin with each other.
std::vector<MakeKey> kinds_of_keys() {
    return {
        [](std::mt19937& random) { return std::to_string(random()); },
        [](std::mt19937& random) { return std::to_string(random() % 3); },
        [](std::mt19937&) { return std::string(); },
        [](std::mt19937& random) { return std::string(random() % 300, 'a'); },
        [](std::mt19937& random) { return std::string(random() % 9, '\0') + std::string(random() % 2, 'x'); },
        [](std::mt19937& random) {
            const auto begin = std::string(RunIndex::longest_key - random() % 3, static_cast<char>('a' + random() % 2));
            return begin + std::to_string(random() % 50);
        },
        [](std::mt19937& random) {
            return random() % 2 > 0 ? std::to_string(random() % 100) : std::string(200, '5') + std::to_string(random());
        }};
}

}  // namespace

TEST_CASE("ranges are merged in order, whatever the keys") {
    std::mt19937 random(31);
    const std::size_t big = std::size_t{64} << 20U, small = std::size_t{7} << 20U;
    const std::vector<Case> cases{{20000, 1, 9000, big, 2},
                                  {20000, 500, 20000, big, 5},
                                  {50000, 100, 100000, big, 3},
                                  {40000, 1, 9000, small, 2}};
    for (const auto& key : kinds_of_keys()) {
        std::vector<Record> records;
        for (int i = 0; i < 4000; ++i)
            records.push_back({key(random), std::to_string(i) + std::string(random() % 40, '-')});
        records[777].rest += std::string(7000, 'y');
        const auto input = joined(records);
        const auto pushed = records;
        std::ranges::stable_sort(records, {}, &Record::key);
        const auto expected = joined(records);
        const auto same = [](const Record& a, const Record& b) { return a.key == b.key; };
        records.erase(std::unique(records.begin(), records.end(), same), records.end());
        const auto firsts = joined(records);
        for (const auto& which : cases) {
            CAPTURE(which.run);
            CAPTURE(which.interval);
            const ExternalSortOptions options{.format = {.kind = RecordFormat::Kind::Sized},
                                              .memory = which.memory,
                                              .engine = Engine::Cpu,
                                              .threads = which.threads};
            Sorting sorting("test", options, {}, plans_for(which));
            push(sorting, input);
            sorting.finish();
            CHECK(all_of(sorting, 1 + random() % 5000) == expected);

            Sorting unique("test", options, {}, plans_for(which));
            push_in_parts(unique, pushed, random);
            unique.shape([](RecordStream& some) { return std::make_unique<Firsts>(some); }, EqualKeys::Together);
            unique.finish();
            CHECK(all_of(unique, 1 + random() % 5000) == firsts);

            Sorting one_by_one("test", options, {}, plans_for(which));
            push_in_parts(one_by_one, pushed, random);
            one_by_one.finish();
            std::string given;
            for (auto record = one_by_one.next(); !record.empty(); record = one_by_one.next())
                given.append(reinterpret_cast<const char*>(record.data()), record.size());
            CHECK(given == expected);
        }
    }
}

TEST_CASE("threads that merge end when the sort is given up") {
    const Case which{8000, 100, 3000, std::size_t{64} << 20U, 3};
    std::vector<Record> records;
    for (int i = 0; i < 6000; ++i) records.push_back({std::to_string(i * 7919 % 6000), "rest"});
    const ExternalSortOptions options{.format = {.kind = RecordFormat::Kind::Sized},
                                      .memory = which.memory,
                                      .engine = Engine::Cpu,
                                      .threads = which.threads};
    Sorting sorting("test", options, {}, plans_for(which));
    push(sorting, joined(records));
    sorting.finish();
    CHECK_FALSE(sorting.next().empty());
}

TEST_CASE("the plan of a merge of ranges keeps to its memory") {
    for (const auto memory : std::vector<std::size_t>{4 << 20, 60 << 20, 250 << 20, 3UL << 30}) {
        for (const auto runs : std::vector<std::size_t>{2, 24, 400, 4000}) {
            for (const auto longest : std::vector<std::size_t>{60, 70'000, 4 << 20}) {
                for (const auto threads : std::vector<std::size_t>{1, 2, 16}) {
                    const RangeNeeds needs{.runs = runs,
                                           .longest_record = longest,
                                           .bytes = std::uint64_t{1} << 34U,
                                           .longest_gap = longest + 4096,
                                           .threads = threads};
                    const auto plan = plan_ranges(memory, needs);
                    if (memory == 250 << 20 && runs == 24 && longest == 60 && threads > 1) {
                        REQUIRE(plan);
                        CHECK(plan->threads == threads);
                        CHECK(plan->range >= 1 << 20);
                    }
                    if (!plan) continue;
                    CHECK(plan->threads >= 2);
                    CHECK(plan->threads <= threads);
                    CHECK(plan->reader >= runs * 2 * (plan->margin + page));
                    CHECK(plan->reader >= needs.longest_gap + 2 * page);
                    CHECK(plan->threads * plan->reader + Parts::memories(plan->threads) * plan->range <= memory);
                }
            }
        }
    }
    CHECK_FALSE(plan_ranges(1 << 20, {.runs = 400, .longest_record = 60, .bytes = 1 << 30, .threads = 4}));
}

TEST_CASE("threads shape records that are sorted in memory") {
    std::mt19937 random(37);
    for (const int values : {1, 40, 1'000'000'000}) {
        CAPTURE(values);
        std::vector<Record> records;
        for (int i = 0; i < 20'000; ++i)
            records.push_back({std::to_string(static_cast<int>(random() % 1'000'000'000U) % values),
                               std::to_string(i) + std::string(random() % 50, '-')});
        const auto input = joined(records);
        std::ranges::stable_sort(records, {}, &Record::key);
        const auto same = [](const Record& a, const Record& b) { return a.key == b.key; };
        records.erase(std::unique(records.begin(), records.end(), same), records.end());
        for (const unsigned threads : {1U, 2U}) {
            const ExternalSortOptions options{.format = {.kind = RecordFormat::Kind::Sized},
                                              .memory = std::size_t{64} << 20U,
                                              .engine = Engine::Cpu,
                                              .threads = threads};
            Sorting sorting("test", options, {}, {});
            push(sorting, input);
            sorting.shape([](RecordStream& some) { return std::make_unique<Firsts>(some); }, EqualKeys::Together);
            sorting.finish();
            CHECK(sorting.stats("").runs == 0);
            CHECK(all_of(sorting, 1 + random() % 5000) == joined(records));
        }
    }
}
