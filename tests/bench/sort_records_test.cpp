// The records of the sort benchmark: known answers of its own generator, and a check that finds every fault.
#include "bench/sort_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace quadmill::detail::bench;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<std::byte> records_of(RecordForm form, std::uint64_t first, std::size_t n) {
    std::vector<std::byte> records(n * record_bytes);
    RecordMaker(form, first).make(records);
    return records;
}

std::string text(const std::vector<std::byte>& bytes, std::size_t from, std::size_t size) {
    std::string result;
    for (std::size_t i = from; i < from + size; ++i) result += static_cast<char>(bytes[i]);
    return result;
}

std::vector<std::byte> sorted(const std::vector<std::byte>& records) {
    std::vector<const std::byte*> order;
    for (std::size_t at = 0; at < records.size(); at += record_bytes) order.push_back(records.data() + at);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return std::memcmp(a, b, record_key_bytes) < 0; });
    std::vector<std::byte> result;
    for (const auto* record : order) result.insert(result.end(), record, record + record_bytes);
    return result;
}

constexpr RecordForm binary{RecordKind::Binary, KeySpread::Uniform}, ascii{RecordKind::Ascii, KeySpread::Uniform};
constexpr RecordForm skewed{RecordKind::Binary, KeySpread::Skewed};
constexpr RecordForm skewed_ascii{RecordKind::Ascii, KeySpread::Skewed};

}  // namespace

TEST_CASE("Checksums and first keys are those of the benchmark's own generator") {
    CHECK(to_hexadecimal(check_records(records_of(binary, 0, 1000)).checksum) == "1ea6370b955");
    CHECK(to_hexadecimal(check_records(records_of(binary, 0, 100'000)).checksum) == "c3068574c6ff");
    CHECK(to_hexadecimal(check_records(records_of(ascii, 0, 1000)).checksum) == "1f5dfb3631a");
    CHECK(text(records_of(binary, 0, 1), 0, 10) == "JimGrayRIP");
    const auto lines = records_of(ascii, 0, 3);
    CHECK(text(lines, 0, 10) == "AsfAGHM5om");
    CHECK(text(lines, 100, 10) == "~sHd0jDv6X");
    CHECK(text(lines, 200, 10) == "uI^EYm8s=|");
    CHECK(text(lines, 210, 36) == "  00000000000000000000000000000002  ");
    CHECK(text(lines, 298, 2) == "\r\n");
}

TEST_CASE("Parts of a file equal those of the whole") {
    for (const auto form : {binary, ascii, skewed, skewed_ascii}) {
        const auto whole = records_of(form, 0, 300);
        for (const std::uint64_t first : {0ULL, 1ULL, 9ULL, 64ULL, 255ULL, 299ULL}) {
            const auto part = records_of(form, first, 300 - first);
            CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(100 * first)));
        }
    }
    // Squaring and multiplying gives the same result as single steps.
    CHECK(random_number(0) == 0);
    auto number = random_number((std::uint64_t{1} << 40U) + 12345);
    for (int i = 0; i < 7; ++i) {
        auto record = records_of(binary, (std::uint64_t{1} << 40U) + 12345 + static_cast<std::uint64_t>(i), 1);
        number = random_number((std::uint64_t{1} << 40U) + 12346 + static_cast<std::uint64_t>(i));
        CHECK(std::to_integer<unsigned>(record[0]) == static_cast<unsigned>(number >> 120U));
    }
}

TEST_CASE("Skewed keys begin like the key of the record whose number is the count of digits") {
    constexpr std::size_t n = 1 << 16, from = 1 << 15;  // all numbers have 16 digits
    for (const auto& [form, plain] : {std::pair(skewed, binary), std::pair(skewed_ascii, ascii)}) {
        const auto like = text(records_of(plain, 16, 1), 0, 6);
        const auto records = records_of(form, from, n - from), others = records_of(plain, from, n - from);
        std::size_t changed = 0, all_six = 0;
        for (std::size_t at = 0; at < records.size(); at += record_bytes) {
            const auto key = text(records, at, 10), other = text(others, at, 10);
            REQUIRE(text(records, at + 10, 90) == text(others, at + 10, 90));
            // Whatever differs from the plain record equals the other one.
            std::size_t same = 0;
            while (same < 6 && key[same] == like[same]) ++same;
            const auto rest = std::min<std::size_t>(same + 1, 10);
            REQUIRE(key.substr(rest) == other.substr(rest));
            if (key != other) ++changed;
            if (key.substr(0, 6) == like) ++all_six;
        }
        const auto share = static_cast<double>(changed) / (n - from);
        CHECK(share > 0.70);
        CHECK(share < 0.78);
        CHECK(all_six > (n - from) / 100);
    }
}

TEST_CASE("A check finds unordered and equal keys, and can be combined from parts") {
    const auto records = sorted(records_of(ascii, 0, 1000));
    const auto good = check_records(records);
    CHECK(good.records == 1000);
    CHECK(good.unordered == 0);
    CHECK_FALSE(good.first_unordered);
    CHECK(good.duplicates == 0);
    CHECK(to_hexadecimal(good.checksum) == "1f5dfb3631a");  // in any order

    auto bad = records;
    std::copy_n(records.begin() + 50'000, 100, bad.begin() + 49'900);                    // one record twice
    std::swap_ranges(bad.begin() + 70'000, bad.begin() + 70'100, bad.begin() + 70'200);  // out of order
    const auto whole = check_records(bad);
    CHECK(whole.duplicates == 1);
    CHECK(whole.unordered == 2);
    CHECK(whole.first_unordered == 701);
    CHECK(whole.checksum != good.checksum);
    for (const std::size_t cut : std::vector<std::size_t>{0, 1, 499, 500, 501, 700, 701, 702, 703, 1000}) {
        CAPTURE(cut);
        auto parts = check_records(std::span(bad).first(cut * 100));
        parts.add(check_records(std::span(bad).subspan(cut * 100)));
        CHECK(parts.records == whole.records);
        CHECK(parts.duplicates == whole.duplicates);
        CHECK(parts.unordered == whole.unordered);
        CHECK(parts.first_unordered == whole.first_unordered);
        CHECK((parts.checksum == whole.checksum));
    }
    CHECK(to_hexadecimal(0) == "0");
}
