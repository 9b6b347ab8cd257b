#include "query/cpu/cpu_engine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "query/cpu/loops.hpp"

namespace quadmill::detail::query {
namespace {

using namespace loops;  // NOLINT(google-build-using-namespace): of this engine alone

struct CpuBits : Bits {
    explicit CpuBits(Words all) : words(std::move(all)) {}
    Words words;
};

const Words& words_of(const Bits& bits) {
    return static_cast<const CpuBits&>(bits).words;
}

class CpuColumns : public Columns {
  public:
    CpuColumns(std::shared_ptr<const TableData> table, std::shared_ptr<cpu::Workers> workers)
        : table_(std::move(table)), workers_(std::move(workers)) {}

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override {
        return std::visit([this](const auto& one) { return bits(one); }, leaf);
    }
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override;
    [[nodiscard]] std::uint64_t count(const Bits& rows) override;
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override;
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override {
        return masked(Words(words.begin(), words.end()));
    }
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override { return words_of(rows); }

  private:
    [[nodiscard]] std::size_t word_count() const { return (table_->rows + word_rows - 1) / word_rows; }
    [[nodiscard]] std::size_t chunk_count() const { return (table_->rows + chunk_rows - 1) / chunk_rows; }

    // Calls `work(chunk)` on all threads.
    void for_chunks(const cpu::Workers::Work& work) {
        chunk_count() == 1 ? work(0) : workers_->for_each(chunk_count(), work);
    }
    // The results of `work(chunk)`, in the order of the chunks.
    template <class Work>
    [[nodiscard]] auto per_chunk(const Work& work) {
        std::vector<decltype(work(std::size_t{0}))> results(chunk_count());
        for_chunks([&](std::size_t chunk) { results[chunk] = work(chunk); });
        return results;
    }
    template <class Work>
    decltype(auto) with_column(std::size_t column, Work&& work) {
        return with_values(*table_->columns[column], std::forward<Work>(work));
    }

    [[nodiscard]] BitsPtr masked(Words words) const {
        if (table_->rows % word_rows != 0) words.back() &= (std::uint32_t{1} << (table_->rows % word_rows)) - 1;
        return std::make_shared<CpuBits>(std::move(words));
    }

    // `pack_rows(first, n, words)` writes bits, which count only for rows that are not NULL in any of the columns.
    using Pack = std::function<void(std::size_t first, std::size_t n, std::uint32_t* words)>;
    [[nodiscard]] BitsPtr packed(const std::vector<std::size_t>& columns, bool negate, const Pack& pack_rows);
    [[nodiscard]] BitsPtr bits(const Range& leaf) { return packed_leaf(leaf, {leaf.column}); }
    [[nodiscard]] BitsPtr bits(const Pair& leaf) { return packed_leaf(leaf, {leaf.a, leaf.b}); }
    [[nodiscard]] BitsPtr bits(const Linear& leaf) { return packed_leaf(leaf, leaf.columns); }
    [[nodiscard]] BitsPtr bits(const Formula& leaf) { return packed_leaf(leaf, query::columns_of(leaf.steps)); }
    [[nodiscard]] BitsPtr bits(const Member& leaf);
    [[nodiscard]] BitsPtr bits(const IsNull& leaf) const;
    [[nodiscard]] BitsPtr bits(const Always& leaf) const { return masked(Words(word_count(), leaf.value ? ~0U : 0U)); }
    template <class Leaf>
    [[nodiscard]] BitsPtr packed_leaf(const Leaf& leaf, const std::vector<std::size_t>& columns) {
        return packed(columns, leaf.negate, [&](std::size_t first, std::size_t n, std::uint32_t* words) {
            pack_leaf(*table_, leaf, first, n, words);
        });
    }

    std::shared_ptr<const TableData> table_;
    std::shared_ptr<cpu::Workers> workers_;
};

BitsPtr CpuColumns::packed(const std::vector<std::size_t>& columns, bool negate, const Pack& pack_rows) {
    Words words(word_count());
    for_chunks([&](std::size_t chunk) {
        const auto first = chunk * chunk_rows, n = std::min(chunk_rows, table_->rows - first);
        auto* const out = words.data() + chunk * chunk_words;
        const auto size = (n + word_rows - 1) / word_rows;
        pack_rows(first, n, out);
        if (negate) std::transform(out, out + size, out, [](std::uint32_t word) { return ~word; });
        for (const auto column : columns) {
            const auto& valid = table_->columns[column]->valid;
            if (valid.empty()) continue;
            const auto* in = valid.data() + chunk * chunk_words;
            for (std::size_t w = 0; w < size; ++w) out[w] &= in[w];
        }
    });
    return masked(std::move(words));
}

BitsPtr CpuColumns::bits(const Member& leaf) {
    return with_column(leaf.column, [&]<class T>(std::span<const T> values) {
        const Finder<T> finder(leaf.keys);
        return packed({leaf.column}, leaf.negate, [&](std::size_t first, std::size_t n, std::uint32_t* words) {
            finder.pack_found(values.data() + first, n, words);
        });
    });
}

BitsPtr CpuColumns::bits(const IsNull& leaf) const {
    auto words = table_->columns[leaf.column]->valid;
    if (words.empty()) words.assign(word_count(), ~0U);
    if (!leaf.negate)
        std::transform(words.begin(), words.end(), words.begin(), [](std::uint32_t word) { return ~word; });
    return masked(std::move(words));
}

BitsPtr CpuColumns::combine(BoolOp op, const Bits& a, const Bits& b) {
    const auto &x = words_of(a), &y = words_of(b);
    Words words(word_count());
    const auto each = [&](auto join) { std::transform(x.begin(), x.end(), y.begin(), words.begin(), join); };
    if (op == BoolOp::And) {
        each(std::bit_and());
    } else if (op == BoolOp::Or) {
        each(std::bit_or());
    } else {
        each([](std::uint32_t p, std::uint32_t q) { return p & ~q; });
    }
    return std::make_shared<CpuBits>(std::move(words));
}

std::size_t count_of(const Words& words, std::size_t chunk) {
    std::size_t n = 0;
    const auto end = std::min(words.size(), (chunk + 1) * chunk_words);
    for (auto w = chunk * chunk_words; w < end; ++w) n += static_cast<std::size_t>(std::popcount(words[w]));
    return n;
}

std::uint64_t CpuColumns::count(const Bits& rows) {
    std::uint64_t n = 0;
    for (const auto part : per_chunk([&](std::size_t chunk) { return count_of(words_of(rows), chunk); })) n += part;
    return n;
}

std::pair<Key, Key> CpuColumns::extremes(std::size_t column, const Bits& rows) {
    return with_column(column, [&](auto values) {
        std::pair<Key, Key> result{~Key{0}, 0};
        for (const auto& [min, max] :
             per_chunk([&](std::size_t chunk) { return chunk_extremes(values, words_of(rows), chunk); })) {
            result.first = std::min(result.first, min);
            result.second = std::max(result.second, max);
        }
        return result;
    });
}

// Narrows the range of keys with histograms until few enough keys are left to copy.
Key CpuColumns::kth(std::size_t column, std::uint64_t k, const Bits& rows) {
    constexpr std::uint64_t few = std::uint64_t{1} << 16U;
    constexpr int bucket_bits = 11;
    auto min = table_->columns[column]->min, max = table_->columns[column]->max;
    const auto for_keys = [&](std::size_t chunk, const auto& work) {
        with_column(column, [&, low = min, high = max]<class T>(std::span<const T> values) {
            for_words(values, words_of(rows), chunk, [&](std::uint32_t word, const T* from, auto /*lanes*/) {
                for_bits(word, [&](std::size_t i) {
                    const Key key = narrow_key(from[i]);
                    if (key >= low && key <= high) work(key);
                });
            });
        });
    };
    std::mutex mutex;
    auto left = table_->rows;
    while (left > few && min < max) {
        const auto shift = std::max(0, static_cast<int>(std::bit_width(max - min)) - bucket_bits);
        using Histogram = std::array<std::uint64_t, std::size_t{1} << bucket_bits>;
        Histogram all{};
        for_chunks([&](std::size_t chunk) {
            Histogram part{};
            for_keys(chunk, [&](Key key) { ++part[(key - min) >> shift]; });
            const std::lock_guard lock(mutex);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
        });
        std::size_t bucket = 0;
        for (; k >= all[bucket]; ++bucket) k -= all[bucket];
        left = all[bucket];
        min += Key{bucket} << shift;
        max = min + std::min(max - min, (Key{1} << shift) - 1);
    }
    if (min == max) return min;
    std::vector<Key> keys;
    for_chunks([&](std::size_t chunk) {
        std::vector<Key> part;
        for_keys(chunk, [&](Key key) { part.push_back(key); });
        const std::lock_guard lock(mutex);
        keys.insert(keys.end(), part.begin(), part.end());
    });
    const auto at = keys.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(keys.begin(), at, keys.end());
    return *at;
}

Sum CpuColumns::sum(std::size_t column, const Bits& rows) {
    return with_column(column, [&]<class T>(std::span<const T> values) -> Sum {
        if constexpr (std::is_floating_point_v<T>) {
            CompensatedSum sum;
            for (const auto part :
                 per_chunk([&](std::size_t chunk) { return chunk_float_sum(values, words_of(rows), chunk); }))
                sum.add(part);
            return {.value = sum.total()};
        } else {
            Integer sum = 0;
            for (const auto part :
                 per_chunk([&](std::size_t chunk) { return chunk_sum(values, words_of(rows), chunk); }))
                sum += part;
            return {.integer = sum};
        }
    });
}

std::vector<std::uint64_t> CpuColumns::rows(const Bits& rows) {
    const auto& words = words_of(rows);
    auto first = per_chunk([&](std::size_t chunk) { return count_of(words, chunk); });
    std::size_t n = 0;
    for (auto& count : first) n += std::exchange(count, n);
    std::vector<std::uint64_t> result(n);
    for_chunks([&](std::size_t chunk) {
        auto* to = result.data() + first[chunk];
        const auto end = std::min(words.size(), (chunk + 1) * chunk_words);
        for (auto w = chunk * chunk_words; w < end; ++w)
            for_bits(words[w], [&](std::size_t i) { *to++ = w * word_rows + i; });
    });
    return result;
}

}  // namespace

std::shared_ptr<Columns> CpuEngine::open(const std::shared_ptr<const TableData>& table,
                                         std::span<const std::size_t> columns) {
    for (const auto column : columns) with_values(*table->columns[column], [](auto /*values*/) {});
    return std::make_shared<CpuColumns>(table, workers_);
}

}  // namespace quadmill::detail::query
