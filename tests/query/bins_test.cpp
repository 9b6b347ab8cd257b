// Histograms of the bitmap engine.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gl/device.hpp"
#include "pass/transfer.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "reference.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace)

namespace {

// Consecutive bins over all keys of the column; of one key each if there are few.
std::vector<detail::query::KeyRange> bins_of(const TableData& table, std::size_t column, std::size_t count) {
    const auto min = table.columns[column]->min, max = table.columns[column]->max;
    std::vector<detail::query::KeyRange> bins;
    for (std::size_t i = 0; i < count; ++i) {
        const auto edge = [&](std::size_t at) { return min + (max - min) / count * at; };
        bins.push_back({edge(i), i + 1 < count ? std::max(edge(i), edge(i + 1) - 1) : max});
    }
    return bins;
}

}  // namespace

TEST_CASE("histograms of columns of every type count each selected row") {
    const auto context = Context::headless();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    auto& device = *detail::Access::of(context);
    BitmapEngine engine(device, 2);
    std::mt19937 random(7);
    for (const std::size_t rows : {1U, 31U, 32U, 33U, 4097U, 300'007U}) {
        CAPTURE(rows);
        Table made;
        std::vector<float> f(rows);
        std::vector<double> d(rows);
        std::vector<std::int32_t> i(rows);
        for (auto& value : f) value = std::normal_distribution<float>()(random);
        for (auto& value : d) value = std::normal_distribution<double>()(random);
        for (auto& value : i) value = static_cast<std::int32_t>(random() % 1000) - 500;
        made.add("f", f);
        made.add("d", d);
        made.add("i", i);
        const auto table = detail::Access::of(made);
        const auto columns = engine.open(table, std::array<std::size_t, 3>{0, 1, 2});
        std::vector<std::uint32_t> words((rows + 31) / 32);
        for (auto& word : words) word = static_cast<std::uint32_t>(random());
        const auto bits = columns->bits_of(words);
        const auto selected = columns->rows(*bits);
        for (const std::size_t column : {0U, 1U, 2U}) {
            for (const std::size_t count : {1U, 4U, 5U, 50U}) {
                CAPTURE(column);
                CAPTURE(count);
                const auto bins = bins_of(*table, column, count);
                detail::pass::ReadBack back;
                back.request(device, columns->textures()->histogram(column, bins, *bits));
                std::vector<std::uint32_t> found((count + 3) / 4 * 4), wanted(count);
                REQUIRE(back.wait().size() == found.size() * sizeof found[0]);
                std::memcpy(found.data(), back.wait().data(), back.wait().size());
                for (const auto row : selected) {
                    const auto key = reference::key_of(*table, column, row);
                    for (std::size_t b = 0; b < count; ++b) wanted[b] += key >= bins[b].low && key <= bins[b].high;
                }
                found.resize(count);
                CHECK(found == wanted);
            }
        }
    }
    scope.check();
}
