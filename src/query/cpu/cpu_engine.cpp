#include "query/cpu/cpu_engine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr std::size_t word_rows = 32;
// A piece of work of a thread. Sums are the same for any number of threads because this does not depend on it.
constexpr std::size_t chunk_words = 2048, chunk_rows = word_rows * chunk_words;

struct CpuBits : Bits {
    explicit CpuBits(Words all) : words(std::move(all)) {}
    Words words;
};

const Words& words_of(const Bits& bits) {
    return static_cast<const CpuBits&>(bits).words;
}

// Calls `work` with the values as a span of their type.
template <class Work>
decltype(auto) with_values(const ColumnData& column, Work&& work) {
    return visit_type(column.type, [&]<class T>(const T* /*type*/) -> decltype(auto) {
        const auto* values = std::get_if<std::vector<T>>(&column.values);
        if (!values)
            throw InvalidArgument("QueryProcessor: the CPU engine needs columns in memory, but '" + column.name +
                                  "' is a texture");
        return work(std::span<const T>(*values));
    });
}

// A key as wide as its value, so that as many as possible go into a vector register.
template <class T>
using NarrowKey = typename cpu::KeyBits<T>::Bits;
template <class T>
NarrowKey<T> narrow_key(T value) {
    return static_cast<NarrowKey<T>>(KeyOf<T>::key(value));
}

template <class Unsigned>
constexpr auto bit_of_lane = [] {
    std::array<Unsigned, word_rows> bits{};
    for (std::size_t i = 0; i < word_rows; ++i) bits[i] = Unsigned{1} << i;
    return bits;
}();

// All ones or none. GCC does not vectorize a loop in which this is a choice by ?:.
template <class Lane>
Lane mask(bool holds) {
    return static_cast<Lane>(Lane{0} - static_cast<Lane>(holds));
}
template <class Lane>
Lane lane_mask(std::uint32_t word, std::size_t lane) {
    return mask<Lane>((Lane{word} & bit_of_lane<Lane>[lane]) != 0);
}

// Bits of `holds(row)` for n rows, 32 to a word. Lane is as wide as what `holds` compares.
template <class Lane, class Holds>
void pack(std::size_t n, std::uint32_t* words, const Holds& holds) {
    const auto whole = n / word_rows;
    for (std::size_t w = 0; w < whole; ++w) {
        Lane word = 0;
        for (std::size_t i = 0; i < word_rows; ++i) word |= mask<Lane>(holds(w * word_rows + i)) & bit_of_lane<Lane>[i];
        words[w] = static_cast<std::uint32_t>(word);
    }
    if (n % word_rows == 0) return;
    std::uint32_t last = 0;
    for (auto i = whole * word_rows; i < n; ++i) last |= std::uint32_t{holds(i)} << (i % word_rows);
    words[whole] = last;
}

template <class T>
void pack_compared(Comparison op, const T* a, const T* b, std::size_t n, std::uint32_t* words) {
    using Lane = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    switch (op) {
        case Comparison::Less:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] < b[i]; });
        case Comparison::LessOrEqual:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] <= b[i]; });
        case Comparison::Equal:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] == b[i]; });
        case Comparison::NotEqual:
            return pack<Lane>(n, words, [=](std::size_t i) { return a[i] != b[i]; });
        case Comparison::GreaterOrEqual:
            return pack_compared(Comparison::LessOrEqual, b, a, n, words);
        case Comparison::Greater:
            return pack_compared(Comparison::Less, b, a, n, words);
    }
}

// Rows from `first` to first + n as numbers of another type.
template <class Number>
void load(const ColumnData& column, std::size_t first, std::size_t n, Number* out) {
    with_values(column, [&](auto values) {
        const auto* from = values.data() + first;
        for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Number>(from[i]);
    });
}

// Calls `work(first, n)` for blocks that stay in the first cache, of whole words but for the last.
constexpr std::size_t block_rows = 1024;
template <class Work>
void for_blocks(std::size_t first, std::size_t n, const Work& work) {
    for (std::size_t done = 0; done < n; done += block_rows) work(first + done, std::min(block_rows, n - done));
}

// ---- Leaves: bits of the rows from `first`, which begins a word, to first + n; NULLs and `negate` apart.

void pack_leaf(const TableData& table, const Range& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    with_values(*table.columns[leaf.column], [&]<class T>(std::span<const T> values) {
        if constexpr (std::is_floating_point_v<T>) {
            // Numbers themselves are compared in a third of the time of their keys; not so NaNs.
            if (leaf.high <= KeyOf<T>::key(std::numeric_limits<T>::infinity())) {
                const auto least = KeyOf<T>::value(leaf.low), most = KeyOf<T>::value(leaf.high);
                return pack<NarrowKey<T>>(n, words, [=, from = values.data() + first](std::size_t i) {
                    return static_cast<bool>(static_cast<int>(from[i] >= least) & static_cast<int>(from[i] <= most));
                });
            }
        }
        using Narrow = NarrowKey<T>;
        const auto low = static_cast<Narrow>(leaf.low), width = static_cast<Narrow>(leaf.high - leaf.low);
        pack<Narrow>(n, words, [=, from = values.data() + first](std::size_t i) {
            return static_cast<Narrow>(narrow_key(from[i]) - low) <= width;
        });
    });
}

void pack_leaf(const TableData& table, const Pair& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    const auto &a = *table.columns[leaf.a], &b = *table.columns[leaf.b];
    const auto compare = [&]<class Number>(Number /*type*/) {
        std::array<Number, block_rows> x, y;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
            load(a, at, rows, x.data());
            load(b, at, rows, y.data());
            pack_compared(leaf.op, x.data(), y.data(), rows, words + (at - first) / word_rows);
        });
    };
    // Numbers that hold all values of a type compare as its keys do, and NaNs as they should.
    const bool is_float = a.type == ColumnType::F32 || a.type == ColumnType::F64;
    if (leaf.as == Pair::As::Doubles || (leaf.as == Pair::As::Keys && is_float)) {
        compare(double{});
    } else {
        compare(std::int64_t{});
    }
}

void pack_leaf(const TableData& table, const Linear& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    std::array<double, block_rows> sum, x, constant;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    constant.fill(leaf.constant);
    for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
        std::fill_n(sum.data(), rows, 0.0);
        for (std::size_t term = 0; term < leaf.factors.size(); ++term) {
            load(*table.columns[leaf.columns[term]], at, rows, x.data());
            for (std::size_t i = 0; i < rows; ++i) sum[i] += leaf.factors[term] * x[i];
        }
        pack_compared(leaf.op, sum.data(), constant.data(), rows, words + (at - first) / word_rows);
    });
}

// The operands on a stack, a block each; the sides of the comparison are what is left.
template <class T>
void pack_formula(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    std::vector<std::array<T, block_rows>> stack;
    const auto constant = [](const Numeral& number) {
        return std::visit([](auto value) { return static_cast<T>(value); }, number);
    };
    for_blocks(first, n, [&](std::size_t at, std::size_t rows) {
        std::size_t size = 0;
        const auto each = [&](auto compute) {
            auto &a = stack[size - 1], &b = stack[size];
            for (std::size_t i = 0; i < rows; ++i) a[i] = compute(a[i], b[i]);
        };
        for (const auto& step : leaf.steps) {
            const bool fresh = step.kind == Arithmetic::Column || step.kind == Arithmetic::Constant;
            if (fresh && ++size > stack.size()) stack.emplace_back();
            if (!fresh && step.kind != Arithmetic::Negate) --size;
            switch (step.kind) {
                case Arithmetic::Column:
                    load(*table.columns[step.column], at, rows, stack[size - 1].data());
                    break;
                case Arithmetic::Constant:
                    std::fill_n(stack[size - 1].data(), rows, constant(step.constant));
                    break;
                case Arithmetic::Negate:
                    for (std::size_t i = 0; i < rows; ++i) stack[size - 1][i] = -stack[size - 1][i];
                    break;
                case Arithmetic::Add:
                    each([](T a, T b) { return a + b; });
                    break;
                case Arithmetic::Subtract:
                    each([](T a, T b) { return a - b; });
                    break;
                case Arithmetic::Multiply:
                    each([](T a, T b) { return a * b; });
                    break;
            }
        }
        pack_compared(leaf.op, stack[0].data(), stack[1].data(), rows, words + (at - first) / word_rows);
    });
}

void pack_leaf(const TableData& table, const Formula& leaf, std::size_t first, std::size_t n, std::uint32_t* words) {
    if (leaf.as == Formula::As::Integers) return pack_formula<Integer>(table, leaf, first, n, words);
    pack_formula<double>(table, leaf, first, n, words);
}

// Whether keys are in a list: by comparing with each of a few, else by a table where the keys lie close together, else
// by binary search.
template <class T>
class Finder {
  public:
    using Narrow = NarrowKey<T>;
    explicit Finder(const std::vector<Key>& list) : keys_(list.size()) {
        for (std::size_t i = 0; i < list.size(); ++i) keys_[i] = static_cast<Narrow>(list[i]);
        if (keys_.size() <= few) {
            few_.fill(keys_[0]);
            std::copy(keys_.begin(), keys_.end(), few_.begin());
        } else if (list.back() - list.front() < most_places) {
            is_in_.resize(static_cast<std::size_t>(list.back() - list.front()) + 1);
            for (const auto key : list) is_in_[static_cast<std::size_t>(key - list.front())] = 1;
        }
    }

    void pack_found(const T* values, std::size_t n, std::uint32_t* words) const {
        if (keys_.size() <= few) {
            pack<Narrow>(n, words, [values, list = few_](std::size_t i) {
                const auto key = narrow_key(values[i]);
                bool found = false;
                for (const auto one : list) found |= key == one;
                return found;
            });
        } else if (!is_in_.empty()) {
            pack<std::uint32_t>(n, words, [&](std::size_t i) {
                const auto place = static_cast<Narrow>(narrow_key(values[i]) - keys_[0]);
                return place < is_in_.size() && is_in_[place];
            });
        } else {
            pack<std::uint32_t>(n, words, [&](std::size_t i) {
                return std::binary_search(keys_.begin(), keys_.end(), narrow_key(values[i]));
            });
        }
    }

  private:
    static constexpr std::size_t few = 8, most_places = std::size_t{1} << 22U;
    std::vector<Narrow> keys_;
    std::array<Narrow, few> few_{};
    std::vector<std::uint8_t> is_in_;
};

// ---- Aggregates of a chunk

// Calls `work(word, values, lanes)` for words with rows selected; `lanes` is a constant but for the last word.
template <class T, class Work>
void for_words(std::span<const T> values, const Words& words, std::size_t chunk, const Work& work) {
    const auto end = std::min(words.size(), (chunk + 1) * chunk_words);
    for (auto w = chunk * chunk_words; w < end; ++w) {
        if (words[w] == 0) continue;
        const auto* from = values.data() + w * word_rows;
        if ((w + 1) * word_rows <= values.size()) {
            work(words[w], from, std::integral_constant<std::size_t, word_rows>{});
        } else {
            work(words[w], from, values.size() - w * word_rows);
        }
    }
}

template <class Work>
void for_bits(std::uint32_t word, const Work& work) {
    for (; word; word &= word - 1) work(static_cast<std::size_t>(std::countr_zero(word)));
}

template <class T>
std::pair<Key, Key> chunk_extremes(std::span<const T> values, const Words& words, std::size_t chunk) {
    using Narrow = NarrowKey<T>;
    auto least = static_cast<Narrow>(~Narrow{0});
    Narrow most = 0;
    for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const auto key = narrow_key(from[i]), in = lane_mask<Narrow>(word, i);
            least = std::min(least, static_cast<Narrow>(key | ~in));
            most = std::max(most, static_cast<Narrow>(key & in));
        }
    });
    return {least, most};
}

// high * 2^32 + low, low below 2^32; exact for up to 2^32 rows.
struct IntegerSum {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    void add(const IntegerSum& other) {
        low += other.low;
        high += other.high + static_cast<std::int64_t>(low >> 32U);
        low &= 0xffffffffU;
    }
};

template <class T>
IntegerSum chunk_sum(std::span<const T> values, const Words& words, std::size_t chunk) {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const auto in = lane_mask<NarrowKey<T>>(word, i);
            const std::int64_t value{static_cast<T>(static_cast<NarrowKey<T>>(from[i]) & in)};
            high += value >> 32;
            low += static_cast<std::uint32_t>(value);
        }
    });
    IntegerSum sum;
    sum.add({.high = high, .low = low});
    return sum;
}

// Pairwise, over blocks of 64 in 8 lanes: no value goes through more than 10 roundings in its block and one for each
// doubling after it, which is log2 n + 5 at most.
class PairwiseSum {
  public:
    // Room for 32 values; say with taken() how many were written.
    [[nodiscard]] double* room() { return values_.data() + size_; }
    void taken(std::size_t n) {
        size_ += n;
        if (size_ < block) return;
        add(block_sum(), 0);
        std::copy(values_.begin() + block, values_.begin() + static_cast<std::ptrdiff_t>(size_), values_.begin());
        size_ -= block;
    }
    [[nodiscard]] double total() {
        std::fill(values_.begin() + static_cast<std::ptrdiff_t>(size_), values_.begin() + block, 0.0);
        auto sum = block_sum();
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            if ((blocks_ >> level) & 1U) sum += levels_[level];
        }
        return sum;
    }

  private:
    static constexpr std::size_t block = 64, lanes = 8;

    [[nodiscard]] double block_sum() const {
        std::array<double, lanes> sum{};
        for (std::size_t i = 0; i < block; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] += values_[i + lane];
        }
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    // Like adding 1 to a binary number: level i holds the sum of 2^i blocks where blocks_ has that bit.
    void add(double sum, std::size_t level) {
        for (; (blocks_ >> level) & 1U; ++level) sum += levels_[level];
        levels_[level] = sum;
        ++blocks_;
    }

    std::array<double, block + word_rows> values_{};
    std::size_t size_ = 0;
    std::array<double, std::bit_width(chunk_rows / block)> levels_{};
    std::size_t blocks_ = 0;
};

template <class T>
double chunk_float_sum(std::span<const T> values, const Words& words, std::size_t chunk) {
    PairwiseSum sum;
    for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto lanes) {
        auto* to = sum.room();
        if (word == ~0U) {
            for (std::size_t i = 0; i < lanes; ++i) to[i] = static_cast<double>(from[i]);
        } else {
            for_bits(word, [&](std::size_t i) { *to++ = static_cast<double>(from[i]); });
        }
        sum.taken(static_cast<std::size_t>(std::popcount(word)));
    });
    return sum.total();
}

// Neumaier's: what each addition loses is summed too, so that many chunks cost no more than two roundings.
double compensated(std::span<const double> parts) {
    double sum = 0, lost = 0;
    for (const auto x : parts) {
        const auto next = sum + x;
        lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    return std::isfinite(sum) ? sum + lost : sum;
}

// ---- The engine

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
    template <class Work>
    void for_chunks(const Work& work) {
        if (chunk_count() > 1) return workers_->for_each(chunk_count(), work);
        if (chunk_count() == 1) work(std::size_t{0});
    }
    // What `work(chunk)` gives, in order of the chunks.
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

    template <class Pack>
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

    template <class T>
    [[nodiscard]] Key kth_of(std::span<const T> values, const Words& words, std::uint64_t k, Key least, Key most);

    std::shared_ptr<const TableData> table_;
    std::shared_ptr<cpu::Workers> workers_;
};

// `pack_rows(first, n, words)` writes bits; they hold for rows that are NULL in none of the columns.
template <class Pack>
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
    switch (op) {
        case BoolOp::And:
            each([](std::uint32_t p, std::uint32_t q) { return p & q; });
            break;
        case BoolOp::Or:
            each([](std::uint32_t p, std::uint32_t q) { return p | q; });
            break;
        case BoolOp::AndNot:
            each([](std::uint32_t p, std::uint32_t q) { return p & ~q; });
            break;
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
        for (const auto& [least, most] :
             per_chunk([&](std::size_t chunk) { return chunk_extremes(values, words_of(rows), chunk); })) {
            result.first = std::min(result.first, least);
            result.second = std::max(result.second, most);
        }
        return result;
    });
}

Key CpuColumns::kth(std::size_t column, std::uint64_t k, const Bits& rows) {
    const auto& data = *table_->columns[column];
    return with_column(column, [&](auto values) { return kth_of(values, words_of(rows), k, data.least, data.most); });
}

// By histograms of ever fewer keys, until those left are few enough to copy.
template <class T>
Key CpuColumns::kth_of(std::span<const T> values, const Words& words, std::uint64_t k, Key least, Key most) {
    constexpr std::uint64_t few = std::uint64_t{1} << 16U;
    constexpr int bucket_bits = 11;
    const auto for_keys = [&](std::size_t chunk, const auto& work) {
        for_words(values, words, chunk, [&](std::uint32_t word, const T* from, auto /*lanes*/) {
            for_bits(word, [&](std::size_t i) {
                const Key key = narrow_key(from[i]);
                if (key >= least && key <= most) work(key);
            });
        });
    };
    std::mutex mutex;
    auto left = values.size();
    while (left > few && least < most) {
        const auto shift = std::max(0, static_cast<int>(std::bit_width(most - least)) - bucket_bits);
        using Histogram = std::array<std::uint64_t, std::size_t{1} << bucket_bits>;
        Histogram all{};
        for_chunks([&](std::size_t chunk) {
            Histogram part{};
            for_keys(chunk, [&](Key key) { ++part[(key - least) >> shift]; });
            const std::lock_guard lock(mutex);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
        });
        std::size_t bucket = 0;
        for (; k >= all[bucket]; ++bucket) k -= all[bucket];
        left = all[bucket];
        least += Key{bucket} << shift;
        most = least + std::min(most - least, (Key{1} << shift) - 1);
    }
    if (least == most) return least;
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
            return {.value = compensated(
                        per_chunk([&](std::size_t chunk) { return chunk_float_sum(values, words_of(rows), chunk); }))};
        } else {
            IntegerSum sum;
            for (const auto& part :
                 per_chunk([&](std::size_t chunk) { return chunk_sum(values, words_of(rows), chunk); })) {
                sum.add(part);
            }
            return {.high = sum.high >> 32, .low = (static_cast<std::uint64_t>(sum.high) << 32U) | sum.low};
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
