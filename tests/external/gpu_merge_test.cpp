// Phase 2 on the GPU: runs that arrive block by block are merged like std::stable_sort orders their keys.
#include "external/gpu_merge.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "external/gpu_merger.hpp"
#include "external/merger.hpp"
#include "gl/device.hpp"
#include "key_cases.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
using detail::external::GpuMerge;
using detail::external::RunBlock;

namespace {

struct Runs {
    std::vector<std::vector<std::string>> keys;
    // In the order of a stable merge.
    [[nodiscard]] std::vector<std::string> merged() const {
        std::vector<std::string> all;
        for (const auto& run : keys) all.insert(all.end(), run.begin(), run.end());
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.substr(0, a.size() - 4) < b.substr(0, b.size() - 4);
        });
        return all;
    }
};

// Each key ends with 4 bytes that do not count but distinguish it from all others.
Runs make_runs(const std::string& form, const std::vector<std::size_t>& sizes, std::size_t length) {
    Runs runs;
    std::size_t number = 0;
    for (const auto size : sizes) {
        auto keys = make_keys(form, size, length, length, size + runs.keys.size());
        std::stable_sort(keys.begin(), keys.end());
        for (auto& key : keys) {
            for (unsigned i = 0; i < 4; ++i) key += static_cast<char>(number >> 8 * i);
            ++number;
        }
        runs.keys.push_back(std::move(keys));
    }
    return runs;
}

// Feeds blocks of at most `block` keys, as phase 2 does: what was not given out stays, and the block is refilled.
std::vector<std::string> merge_by_blocks(GpuMerge& merge, const Runs& runs, std::size_t block, std::size_t length) {
    std::vector<std::size_t> next(runs.keys.size());
    std::vector<std::string> result;
    while (true) {
        std::vector<std::vector<std::byte>> bytes(runs.keys.size());
        std::vector<RunBlock> blocks;
        for (std::size_t r = 0; r < runs.keys.size(); ++r) {
            const auto& keys = runs.keys[r];
            const auto count = std::min(block, keys.size() - next[r]);
            for (std::size_t i = 0; i < count; ++i) {
                for (const char c : keys[next[r] + i]) bytes[r].push_back(static_cast<std::byte>(c));
            }
            const bool more = next[r] + count < keys.size();
            blocks.push_back({{.bytes = bytes[r], .stride = length + 4, .length = length},
                              count,
                              more ? RunBlock::Rest::More : RunBlock::Rest::None});
        }
        const auto order = merge.merge(blocks);
        if (order.empty()) return result;
        const auto before = next;
        for (const auto& place : order) {
            REQUIRE(next[place.run] == before[place.run] + place.key);
            result.push_back(runs.keys[place.run][next[place.run]++]);
        }
    }
}

}  // namespace

TEST_CASE("Runs that arrive block by block are merged stably") {
    GpuMerge merge(Context::headless(), 2);
    for (const auto& form : key_forms()) {
        CAPTURE(form);
        for (const std::size_t length : std::vector<std::size_t>{3, 10}) {
            const auto check = [&](const std::vector<std::size_t>& sizes, std::size_t block) {
                CAPTURE(block);
                const auto runs = make_runs(form, sizes, length);
                REQUIRE(merge_by_blocks(merge, runs, block, length) == runs.merged());
            };
            for (const auto& sizes : std::vector<std::vector<std::size_t>>{{}, {0}, {1}, {0, 5, 0}}) check(sizes, 4);
            check({9, 1, 8}, 1);
            check({300, 1, 299}, 100);
            check({300, 1, 299}, 1000);
            check({70, 64, 33, 100, 0, 32, 31, 1}, 32);
        }
    }
}

TEST_CASE("Many keys: only the levels above the runs are merged, in slices of the cache too") {
    const auto context = Context::headless();
    GpuMerge merge(context, 2);
    const auto runs = make_runs("any", std::vector<std::size_t>(5, 1 << 13), 10);
    CHECK(merge_by_blocks(merge, runs, 1 << 13, 10) == runs.merged());
    CHECK(merge.stats().merges == 1);

    // The engine itself: 2^16 pairs of blocks, and runs shorter and longer than a software renderer's slice.
    auto& device = *detail::Access::of(context);
    const detail::gl::Scope scope(device, "test");
    detail::cpu::Workers workers(2);
    detail::sort::MergeSort engine(device, workers);
    engine.plan().kernel = MergeKernel::Fragment;  // only this kernel merges sorted runs
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> keys((std::size_t{1} << 20U) - 1000);
    for (auto& key : keys) key = random();
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    std::uint64_t passes = std::numeric_limits<std::uint64_t>::max();
    for (const auto run : {std::size_t{32}, std::size_t{1} << 12U, std::size_t{1} << 19U}) {
        CAPTURE(run);
        auto runs_of = keys;
        for (std::size_t at = 0; at < keys.size(); at += run) {
            const auto begin = runs_of.begin() + static_cast<std::ptrdiff_t>(at);
            std::sort(begin, begin + static_cast<std::ptrdiff_t>(std::min(run, keys.size() - at)));
        }
        const auto stats = engine.merge(runs_of, run, Order::Ascending);
        REQUIRE(runs_of == expected);
        CHECK(stats.passes < passes);
        passes = stats.passes;
    }
    CHECK(passes <= 9);  // one level, or two slices on a software renderer
}

namespace {

using namespace detail::external;  // NOLINT(google-build-using-namespace)

// Runs of records in a temporary file.
struct RunFile {
    RunFile(const Format& format, const std::vector<std::size_t>& records, std::uint64_t seed) : file("/tmp") {
        std::mt19937_64 random(seed);
        const auto size = format.fixed()->record_bytes(), key_size = format.fixed()->key_bytes();
        std::uint64_t offset = 0;
        for (const auto n : records) {
            std::vector<std::vector<std::byte>> run(n, std::vector<std::byte>(size));
            for (auto& record : run) {
                for (auto& byte : record) byte = static_cast<std::byte>(random());
                record[format.fixed()->offset()] = static_cast<std::byte>(random() % 3);
            }
            std::stable_sort(run.begin(), run.end(), [&](const auto& a, const auto& b) {
                std::vector<std::byte> x(key_size), y(key_size);
                format.fixed()->make(a.data(), x.data());
                format.fixed()->make(b.data(), y.data());
                return x < y;
            });
            std::vector<std::byte> bytes;
            for (const auto& record : run) bytes.insert(bytes.end(), record.begin(), record.end());
            const auto length = bytes.size();
            bytes.resize(detail::files::page_up(length));
            REQUIRE(pwrite(file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
                    static_cast<ssize_t>(bytes.size()));
            inputs.push_back({{file.descriptor(), offset, "runs"}, length});
            offset += bytes.size();
        }
    }
    detail::files::TemporaryFile file;
    std::vector<RunReader::Input> inputs;
};

std::vector<std::byte> all_of(Stream& stream, std::size_t piece) {
    std::vector<std::byte> all, part(piece);
    while (const auto got = stream.fill(part)) {
        all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
        if (got < piece) break;
    }
    return all;
}

}  // namespace

TEST_CASE("As a stream, the bytes equal those of the tournament tree, for any blocks") {
    const auto context = Context::headless();
    constexpr auto page = detail::files::page;
    const std::vector<RecordFormat> formats{
        {},
        {.bytes = 7, .key = {{.offset = 1, .bytes = 2}}},
        {.bytes = 4096, .key = {{.offset = 4000, .bytes = 9}}},
        {.bytes = 24,
         .key = {{.offset = 4, .type = FieldType::I32, .order = Order::Descending}, {.offset = 8, .bytes = 3}}}};
    for (const auto& record_format : formats) {
        const Format format("test", record_format);
        const auto bytes = record_format.bytes;
        CAPTURE(bytes);
        for (const auto& run_bytes : std::vector<std::vector<std::size_t>>{
                 {1}, {page, 5 * page + 4000, 0, 1}, {9 * page, 30 * page, 3 * page, 12 * page + 77}}) {
            std::vector<std::size_t> records;
            for (const auto b : run_bytes) records.push_back((b + bytes - 1) / bytes);
            const RunFile runs(format, records, bytes);
            StageClock clock;
            Merger tree(format, runs.inputs, {.fan_in = 4, .margin = page, .block = 2 * page, .write_block = page},
                        clock, {});
            const auto expected = all_of(tree, 10'000);
            for (const auto block : {page, 4 * page, 64 * page}) {
                CAPTURE(block);
                GpuMerger gpu(format, runs.inputs, block, context, 2, clock, {});
                const auto piece = block == page ? std::size_t{333} : std::size_t{1} << 20U;
                REQUIRE(all_of(gpu, piece) == expected);
            }
        }
    }
}
