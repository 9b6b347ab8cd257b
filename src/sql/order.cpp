#include "sql/order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "cpu/sort.hpp"
#include "query/table/cells.hpp"

namespace quadmill::detail::sql {

namespace {

using query::Key;
using Words = std::vector<std::uint64_t>;

// Words that order rows: the first word first.
class KeyWords {
  public:
    explicit KeyWords(const RowList& rows) : rows_(rows) {}

    void add(const query::TableData& table, const SqlOrder& by) {
        if (by.steps.size() == 1 && by.steps[0].op == SqlStep::Op::Leaf)
            return add(table, table.places.at(by.steps[0].leaf), by.descending, by.nulls_first);
        const auto numbers = computed(by.steps, table, rows_);
        add(
            numbers.size(), 64, by.descending, by.nulls_first, [&](std::size_t i) { return numbers.valid[i]; },
            [&](std::size_t i) {
                return numbers.are_integers ? query::KeyOf<std::int64_t>::key(numbers.integers[i])
                                            : of_double(numbers.doubles[i]);
            });
    }
    void add(const query::TableData& table, std::size_t column, bool descending, bool nulls_first) {
        const auto& data = *table.columns[column];
        query::visit_column_type(data.type, [&]<class T>(const T* /*type*/) {
            const auto& values = std::get<std::vector<T>>(data.values);
            add(
                rows_.size(), query::key_bits(data.type), descending, nulls_first,
                [&](std::size_t i) { return query::has_value(data, rows_[i]); },
                [&](std::size_t i) {
                    return std::min<Key>(query::KeyOf<T>::key(values[rows_[i]]), query::first_nan<T>());
                });
        });
    }
    [[nodiscard]] std::vector<Words>& words() { return words_; }

  private:
    static Key of_double(double value) {
        return std::min<Key>(query::KeyOf<double>::key(value), query::first_nan<double>());
    }
    // A narrow key and whether it is NULL share a word.
    template <class Valid, class KeyOfRow>
    void add(std::size_t n, int bits, bool descending, bool nulls_first, const Valid& valid, const KeyOfRow& key_of) {
        Words keys(n), nulls;
        const auto ones = bits == 64 ? ~std::uint64_t{0} : 0xffffffffU;
        for (std::size_t i = 0; i < n; ++i) {
            const bool has = valid(i);
            keys[i] = !has ? 0 : descending ? ones - key_of(i) : key_of(i);
            const std::uint64_t after = has == nulls_first ? 1 : 0;
            if (bits < 64) {
                keys[i] |= after << 32U;
            } else if (!has) {
                if (nulls.empty()) nulls.assign(n, 1 - after);  // of values
                nulls[i] = after;
            }
        }
        if (!nulls.empty()) words_.push_back(std::move(nulls));
        words_.push_back(std::move(keys));
    }

    const RowList& rows_;
    std::vector<Words> words_;
};

// Sorts word by word, the last word first; the sort is stable.
std::vector<std::uint32_t> sorted_index(const std::vector<Words>& words, std::vector<std::uint32_t> index,
                                        unsigned threads) {
    const auto n = index.size();
    std::vector<std::uint32_t> places(n), next(n);
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
        std::uint64_t low = ~std::uint64_t{0}, high = 0;
        for (const auto i : index) {
            low = std::min(low, (*word)[i]);
            high = std::max(high, (*word)[i]);
        }
        if (low >= high) continue;  // all are equal
        const auto sort = [&]<class T>(const T* /*type*/) {
            std::vector<T> keys(n);
            for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<T>((*word)[index[i]] - low);
            cpu::sort_places(Keys(std::span(keys)), Keys(std::span<T>()), places, Order::Ascending, threads);
        };
        if (high - low <= std::numeric_limits<std::uint32_t>::max()) {
            sort(static_cast<const std::uint32_t*>(nullptr));
        } else {
            sort(static_cast<const std::uint64_t*>(nullptr));
        }
        for (std::size_t i = 0; i < n; ++i) next[i] = index[places[i]];
        std::swap(index, next);
    }
    return index;
}

// The indices that may be among the first `k`: those whose first word is at most the k-th smallest one.
std::vector<std::uint32_t> candidates(const std::vector<Words>& words, std::size_t n, std::size_t k) {
    std::vector<std::uint32_t> index;
    if (k == 0) return index;
    std::uint64_t bound = ~std::uint64_t{0};
    if (!words.empty() && k < n / 4) {
        Words first(k);
        std::partial_sort_copy(words[0].begin(), words[0].end(), first.begin(), first.end());
        bound = first.back();
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (words.empty() || words[0][i] <= bound) index.push_back(static_cast<std::uint32_t>(i));
    }
    return index;
}

void check_rows(std::size_t n) {
    if (n > std::numeric_limits<std::uint32_t>::max())
        throw InvalidArgument("ORDER BY, DISTINCT and STDDEV take at most 2^32 - 1 rows, not " + std::to_string(n));
}

}  // namespace

RowList ordered(const query::TableData& table, const RowList& rows, const std::vector<SqlOrder>& by,
                std::uint64_t offset, std::uint64_t limit, unsigned threads) {
    const auto n = rows.size();
    const auto begin = std::min<std::uint64_t>(offset, n), count = std::min<std::uint64_t>(limit, n - begin);
    if (by.empty()) return begin == 0 && count == n ? rows : rows.part(begin, count);
    check_rows(n);
    KeyWords keys(rows);
    for (const auto& one : by) keys.add(table, one);
    auto& words = keys.words();
    const auto index = sorted_index(words, candidates(words, n, begin + count), threads);
    std::vector<std::uint64_t> found(count);
    for (std::size_t i = 0; i < count; ++i) found[i] = rows[index[begin + i]];
    return RowList(std::move(found));
}

GroupNumbers group_numbers(const query::TableData& table, const RowList& rows, const std::vector<std::size_t>& columns,
                           unsigned threads) {
    const auto n = rows.size();
    check_rows(n);
    GroupNumbers found{.of_row = std::vector<std::uint32_t>(n)};
    KeyWords keys(rows);
    for (const auto column : columns) keys.add(table, column, false, true);
    const auto& words = keys.words();
    std::vector<std::uint32_t> index(n);
    std::iota(index.begin(), index.end(), 0U);
    index = sorted_index(words, std::move(index), threads);
    for (std::size_t i = 0; i < n; ++i) {
        const auto same = [&](const Words& word) { return word[index[i]] == word[index[i - 1]]; };
        if (i > 0 && !std::ranges::all_of(words, same)) ++found.groups;
        found.of_row[index[i]] = static_cast<std::uint32_t>(found.groups);
    }
    if (n > 0 || columns.empty()) ++found.groups;
    return found;
}

}  // namespace quadmill::detail::sql
