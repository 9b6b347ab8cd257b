#include "sql/order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "cpu/sort.hpp"
#include "query/table/cells.hpp"

namespace quadmill::detail::sql {

namespace {

using cpu::Workers;
using query::Key;

// A row of a list, as the lower half, after a word of its key.
using Item = std::uint64_t;
std::uint32_t index_of(Item item) {
    return static_cast<std::uint32_t>(item);
}
std::uint32_t word_of(Item item) {
    return static_cast<std::uint32_t>(item >> 32U);
}
constexpr int word_bits = 32;

// The keys of rows: for each column the bits that it needs, one after the other, as words of 32 bits. They are made
// from the columns whenever they are asked for.
class RowKeys {
  public:
    explicit RowKeys(const RowList& rows) : rows_(rows) {}

    void add(const query::TableData& table, const SqlOrder& by) {
        if (is_leaf(by.steps)) return add(table, table.places.at(by.steps[0].leaf), by.descending, by.nulls_first);
        Part part{.numbers = computed(by.steps, table, rows_)};
        const auto& numbers = part.numbers;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (!numbers.valid[i]) continue;
            const auto key = key_of(numbers, i);
            part.low = std::min(part.low, key);
            part.high = std::max(part.high, key);
        }
        const bool any_null = std::ranges::find(numbers.valid, false) != numbers.valid.end();
        add(std::move(part), any_null, by.descending, by.nulls_first);
    }
    void add(const query::TableData& table, std::size_t column, bool descending, bool nulls_first) {
        const auto& data = *table.columns[column];
        const auto most = query::first_nan(data.type);
        add({.column = &data, .low = std::min(data.min, most), .high = std::min(data.max, most)}, !data.valid.empty(),
            descending, nulls_first);
    }

    [[nodiscard]] std::size_t words() const { return static_cast<std::size_t>((bits_ + word_bits - 1) / word_bits); }
    // Gives the items a word of their rows.
    void put(std::span<Item> items, std::size_t word) const {
        for (auto& item : items) item = index_of(item);
        for (const auto& part : parts_) {
            const auto begin = static_cast<int>(word) * word_bits, left = begin + word_bits - (part.begin + part.bits);
            if (part.bits == 0 || left >= word_bits || part.begin >= begin + word_bits) continue;
            put(part, items, left);
        }
    }
    [[nodiscard]] bool before(Item a, Item b) const {
        if (word_of(a) != word_of(b)) return word_of(a) < word_of(b);
        for (std::size_t word = 1; word < words(); ++word) {
            const auto [one, other] = of_both(a, b, word);
            if (one != other) return one < other;
        }
        return index_of(a) < index_of(b);
    }
    [[nodiscard]] bool are_equal(Item a, Item b) const {
        for (std::size_t word = 0; word < words(); ++word) {
            const auto [one, other] = of_both(a, b, word);
            if (one != other) return false;
        }
        return true;
    }

  private:
    struct Part {
        const query::ColumnData* column = nullptr;  // or
        Numbers numbers{};
        Key low = ~Key{0}, high = 0;                                        // of keys that are not NULL
        enum class Nulls { None, First, Last, Alone } nulls = Nulls::None;  // Alone: only whether there is a NULL
        std::uint64_t null = 0;                                             // what stands for it
        bool descending = false;
        int begin = 0, bits = 0;  // in the key, from its first bit on
    };

    static Key of_double(double value) {
        return std::min<Key>(query::KeyOf<double>::key(value), query::first_nan<double>());
    }
    static Key key_of(const Numbers& numbers, std::size_t i) {
        return numbers.are_integers ? query::KeyOf<std::int64_t>::key(numbers.integers[i])
                                    : of_double(numbers.doubles[i]);
    }
    // NULL is a value more, before or after the others. If 64 bits have no more, a bit before them is for NULL.
    void add(Part part, bool any_null, bool descending, bool nulls_first) {
        if (part.low > part.high) part.low = part.high = 0;  // no values
        part.descending = descending;
        auto max = part.high - part.low;
        if (any_null && max == ~std::uint64_t{0}) {
            auto alone = part;
            alone.nulls = Part::Nulls::Alone;
            alone.null = nulls_first ? 0 : 1;
            add(std::move(alone), 1);
        } else if (any_null) {
            part.nulls = nulls_first ? Part::Nulls::First : Part::Nulls::Last;
            ++max;
            part.null = nulls_first ? 0 : max;
        }
        add(std::move(part), static_cast<int>(std::bit_width(max)));
    }
    void add(Part part, int bits) {
        part.begin = bits_;
        part.bits = bits;
        bits_ += bits;
        parts_.push_back(std::move(part));
    }
    // The bits of a part, moved to the left (or to the right, if that is negative), as far as the word has them.
    void put(const Part& part, std::span<Item> items, int left) const {
        const auto put_all = [&](const auto& has, const auto& key) {
            const auto first = part.nulls == Part::Nulls::First ? std::uint64_t{1} : std::uint64_t{0};
            for (auto& item : items) {
                const auto i = index_of(item);
                std::uint64_t value = part.null;
                if (part.nulls == Part::Nulls::Alone) {
                    value = has(i) ? 1 - part.null : part.null;
                } else if (part.nulls == Part::Nulls::None || has(i)) {
                    value = (part.descending ? part.high - key(i) : key(i) - part.low) + first;
                }
                item |= (left >= 0 ? value << left : value >> -left) << 32U;
            }
        };
        if (!part.column) {
            return put_all([&](std::size_t i) -> bool { return part.numbers.valid[i]; },
                           [&](std::size_t i) { return key_of(part.numbers, i); });
        }
        query::visit_column_type(part.column->type, [&]<class T>(const T* /*type*/) {
            const auto& values = std::get<std::vector<T>>(part.column->values);
            put_all([&](std::size_t i) { return query::has_value(*part.column, rows_[i]); },
                    [&](std::size_t i) {
                        return std::min<Key>(query::KeyOf<T>::key(values[rows_[i]]), query::first_nan<T>());
                    });
        });
    }
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> of_both(Item a, Item b, std::size_t word) const {
        std::array<Item, 2> both{a, b};
        put(both, word);
        return {word_of(both[0]), word_of(both[1])};
    }

    const RowList& rows_;
    std::vector<Part> parts_;
    int bits_ = 0;
};

// Sorts items by a word, and equal ones by the next words; rows with equal keys stay in order. It needs no memory but
// that of the items.
class ItemSort {
  public:
    ItemSort(const RowKeys& keys, unsigned threads) : keys_(keys), threads_(threads), workers_(threads) {}

    void operator()(std::span<Item> items, std::size_t word) const {
        keys_.put(items, word);
        cpu::sort_keys(Keys(items), Order::Ascending, threads_);
        if (word + 1 >= keys_.words()) return;
        // Each thread takes a part that ends with a run of equal words. All threads sort the long runs.
        const auto share = items.size() / (4 * std::size_t{workers_.threads()}) + 1;
        std::vector<std::span<Item>> parts, long_ones;
        for (auto rest = items; !rest.empty();) {
            auto size = std::min(share, rest.size());
            while (size < rest.size() && word_of(rest[size]) == word_of(rest[size - 1])) ++size;
            parts.push_back(rest.first(size));
            rest = rest.subspan(size);
        }
        std::mutex mutex;
        workers_.for_each(parts.size(), [&](std::size_t i) {
            sort_ties(parts[i], word, [&](std::span<Item> run) {
                if (run.size() < std::max(2 * share, long_run)) return false;
                const std::lock_guard lock(mutex);
                long_ones.push_back(run);
                return true;
            });
        });
        for (const auto run : long_ones) (*this)(run, word + 1);
    }

  private:
    static constexpr std::size_t long_run = std::size_t{1} << 16U, short_run = 32;
    static bool no_run(std::span<Item> /*run*/) { return false; }

    // Sorts each run of equal words by the next word, unless `leave` takes it.
    void sort_ties(std::span<Item> items, std::size_t word, const std::function<bool(std::span<Item>)>& leave) const {
        for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
            for (end = begin + 1; end < items.size() && word_of(items[end]) == word_of(items[begin]);) ++end;
            const auto run = items.subspan(begin, end - begin);
            if (run.size() == 1 || leave(run)) continue;
            keys_.put(run, word + 1);
            if (run.size() <= short_run) {
                std::ranges::sort(run);
            } else {
                cpu::sort_keys(Keys(run), Order::Ascending);
            }
            if (word + 2 < keys_.words()) sort_ties(run, word + 1, no_run);
        }
    }

    const RowKeys& keys_;
    unsigned threads_;
    Workers workers_;
};

std::vector<Item> sorted_items(const RowKeys& keys, std::size_t n, unsigned threads) {
    std::vector<Item> items(n);
    std::iota(items.begin(), items.end(), Item{0});
    if (keys.words() > 0) ItemSort(keys, threads)(items, 0);
    return items;
}

// The first k in order. What comes after k others is dropped from time to time, and then lets no later row in.
std::vector<Item> first_items(const RowKeys& keys, std::size_t n, std::size_t k) {
    constexpr std::size_t at_once = 4096;
    const auto before = [&](Item a, Item b) { return keys.before(a, b); };
    std::vector<Item> best, some;
    std::uint32_t bound = std::numeric_limits<std::uint32_t>::max();  // of the first word
    for (std::size_t begin = 0; begin < n && k > 0; begin += at_once) {
        some.resize(std::min(at_once, n - begin));
        std::iota(some.begin(), some.end(), Item{begin});
        keys.put(some, 0);
        std::ranges::copy_if(some, std::back_inserter(best), [&](Item item) { return word_of(item) <= bound; });
        if (best.size() < 2 * k + at_once) continue;
        const auto last = best.begin() + static_cast<std::ptrdiff_t>(k) - 1;
        std::ranges::nth_element(best, last, before);
        bound = word_of(*last);
        best.resize(k);
    }
    std::ranges::sort(best, before);
    best.resize(std::min(best.size(), k));
    return best;
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
    RowKeys keys(rows);
    for (const auto& one : by) keys.add(table, one);
    constexpr std::size_t few = 16;  // of so many, it is faster to look for the first one than to sort all
    const auto wanted = begin + count;
    auto found = wanted < n / few ? first_items(keys, n, wanted) : sorted_items(keys, n, threads);
    found.resize(wanted);
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(begin));
    for (auto& item : found) item = rows[index_of(item)];
    return RowList(std::move(found));
}

GroupNumbers group_numbers(const query::TableData& table, const RowList& rows, const std::vector<std::size_t>& columns,
                           unsigned threads) {
    const auto n = rows.size();
    check_rows(n);
    if (columns.empty()) return {.groups = 1};
    GroupNumbers found{.of_row = std::vector<std::uint32_t>(n)};
    RowKeys keys(rows);
    for (const auto column : columns) keys.add(table, column, false, true);
    const auto items = sorted_items(keys, n, threads);
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0 && !keys.are_equal(items[i - 1], items[i])) ++found.groups;
        found.of_row[index_of(items[i])] = static_cast<std::uint32_t>(found.groups);
    }
    if (n > 0) ++found.groups;
    return found;
}

}  // namespace quadmill::detail::sql
