#include "cpu/sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cpu/cut.hpp"
#include "cpu/signed_numbers.hpp"
#include "cpu/stopwatch.hpp"
#include "cpu/thread_gain.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

namespace quadmill {

namespace {

std::span<const std::byte> memory_of(Keys keys) {
    return {static_cast<const std::byte*>(keys.data()), keys.size() * detail::cpu::bytes_of(keys.type())};
}

}  // namespace

void detail::cpu::check_apart(const char* function, const char* names, std::span<const std::byte> a,
                              std::span<const std::byte> b) {
    const std::less<> before;
    if (a.empty() || b.empty() || !before(a.data(), b.data() + b.size()) || !before(b.data(), a.data() + a.size()))
        return;
    throw InvalidArgument(std::string(function) + ": " + names + " must not share memory; give a copy of one");
}

void detail::cpu::check_index_range(const char* function, std::size_t n) {
    if (n <= std::size_t{1} << 31U) return;
    throw InvalidArgument(std::string(function) + ": an index of 32 bits is for at most 2^31 keys, not " +
                          std::to_string(n) + "; sort parts of them");
}

void detail::cpu::check_index(const char* function, Keys keys, std::span<const std::uint32_t> index) {
    if (index.size() != keys.size()) {
        throw InvalidArgument(std::string(function) + ": the index must have as many elements as there are keys, " +
                              std::to_string(keys.size()) + ", not " + std::to_string(index.size()));
    }
    check_index_range(function, keys.size());
    check_apart(function, "keys and index", memory_of(keys), std::as_bytes(index));
}

void detail::cpu::check_top(const char* function, Keys keys, Keys best, std::span<const std::uint32_t> index) {
    if (best.type() != keys.type())
        throw InvalidArgument(std::string(function) + ": the best keys must be of the type of the keys");
    if (best.size() > keys.size()) {
        throw InvalidArgument(std::string(function) + ": there are no " + std::to_string(best.size()) + " best of " +
                              std::to_string(keys.size()) + " keys; ask for at most that many");
    }
    check_apart(function, "keys and best", memory_of(keys), memory_of(best));
    if (index.empty()) return;
    if (index.size() != best.size()) {
        throw InvalidArgument(std::string(function) + ": the index must have as many elements as the best keys, " +
                              std::to_string(best.size()) + ", or none, not " + std::to_string(index.size()));
    }
    check_index_range(function, keys.size());
    check_apart(function, "keys and index", memory_of(keys), std::as_bytes(index));
    check_apart(function, "best and index", memory_of(best), std::as_bytes(index));
}

void detail::cpu::check_segments(const char* function, std::size_t keys, std::span<const std::size_t> ends) {
    const auto fail = [&](const std::string& why) {
        throw InvalidArgument(std::string(function) + ": the ends of segments must ascend to the number of keys, " +
                              std::to_string(keys) + ", and " + why);
    };
    const auto broken = std::is_sorted_until(ends.begin(), ends.end());
    if (broken != ends.end()) fail(std::to_string(*broken) + " follows " + std::to_string(*std::prev(broken)));
    if (ends.empty() && keys > 0) fail("there are none");
    if (!ends.empty() && ends.back() != keys) fail("the last is " + std::to_string(ends.back()));
}

std::size_t detail::cpu::checked_window(const char* function, Keys keys, std::size_t window) {
    if (window < 1) throw InvalidArgument(std::string(function) + ": a window must hold at least 1 key, not 0");
    return std::min(window, std::max<std::size_t>(keys.size(), 1));
}

std::vector<std::size_t> detail::cpu::ends_of_windows(std::size_t n, std::size_t window) {
    std::vector<std::size_t> ends;
    ends.reserve(n / window + 1);
    for (std::size_t begin = 0; begin < n; begin += std::min(window, n - begin))
        ends.push_back(begin + std::min(window, n - begin));
    return ends;
}

namespace detail::cpu {

namespace {

// Min keys in a group of windows that is worth waking a thread for.
constexpr std::size_t min_group = std::size_t{1} << 13;
// Windows with fewer keys in total are sorted before threads would have been started.
constexpr std::size_t min_keys_for_threads = std::size_t{1} << 17;
// Loops over all keys are cut into pieces of this size.
constexpr std::size_t piece = std::size_t{1} << 16;
// Fewer numbers are not divided among threads.
constexpr std::size_t min_share = std::size_t{1} << 10;

// The keys' own memory as bits. The type of keys is known only at run time, so they are read and written as bits here.
template <class Key>
auto as_bits(std::span<Key> keys) {
    using Bits = typename KeyBits<Key>::Bits;
    static_assert(sizeof(Bits) == sizeof(Key) && alignof(Bits) == alignof(Key));
    return std::span(reinterpret_cast<Bits*>(keys.data()), keys.size());
}

// The keys' own memory as the numbers that are sorted: as signed ones if keys have a sign.
template <class Key>
auto as_numbers(std::span<Key> keys) {
    using Bits = typename KeyBits<Key>::Bits;
    using Number = std::conditional_t<is_float<Key> || std::is_signed_v<Key>, std::make_signed_t<Bits>, Bits>;
    return std::span(reinterpret_cast<Number*>(keys.data()), keys.size());
}

template <class Work>
void for_pieces(const Workers& workers, std::size_t n, const Work& work) {
    const auto item = [&](std::size_t i) { work(i * piece, std::min(piece, n - i * piece)); };
    workers.for_each((n + piece - 1) / piece, std::cref(item));  // std::cref, because a copy could need memory
}

// Numbers that a group of threads will sort.
template <class Number>
struct Share {
    std::span<Number> numbers{};
    unsigned threads = 1;
};

// A number with about `part` of `parts` of the numbers before it.
template <class Number>
Pivot<Number> pivot_of(std::span<const Number> numbers, std::size_t part, std::size_t parts) {
    constexpr std::size_t taken = 255;
    std::array<Number, taken> samples;
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < taken; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto step = numbers.size() / taken;
        samples[i] = numbers[i * step + (state >> 33U) % step];
    }
    sort_numbers(std::span<Number>(samples));
    const auto at = part * taken / parts;
    return {samples[at], (at > 0 && samples[at - 1] == samples[at]) || samples[at + 1] == samples[at]};
}

// Divides a share among its threads, in place: the numbers of the first half come before those of the second one. If
// many numbers equal the pivot, they stay between the halves, which need not be of one size then.
template <class Number>
std::pair<Share<Number>, Share<Number>> halved(const Share<Number>& share) {
    if (share.threads < 2 || share.numbers.size() < min_share) return {{share.numbers, 1}, {}};
    auto first = share.threads / 2;
    const auto pivot = pivot_of<Number>(share.numbers, first, share.threads);
    const auto [below, above] = divide(share.numbers, pivot);
    if (pivot.is_frequent) {
        const auto part = static_cast<double>(below.size()) / static_cast<double>(below.size() + above.size() + 1);
        first = std::clamp(static_cast<unsigned>(std::lround(part * share.threads)), 1U, share.threads - 1);
    }
    return {{below, first}, {above, share.threads - first}};
}

// Memory for the shares of a sort: taken before a key changes, since nothing may fail in between.
template <class Number>
struct Shares {
    explicit Shares(unsigned threads) : now(std::bit_ceil(threads)), next(now.size()) {}
    std::vector<Share<Number>> now, next;
};

// On all threads, in place. Numbers are divided among the threads before they are sorted, so that nothing is merged.
template <class Number>
void sort_together(std::span<Number> numbers, const Workers& workers, Shares<Number> memory) noexcept {
    auto &now = memory.now, &next = memory.next;
    now[0] = {numbers, workers.threads()};
    std::size_t shares = 1;
    for (unsigned threads = workers.threads(); threads > 1; threads = (threads + 1) / 2, shares *= 2) {
        workers.for_each(shares, [&](std::size_t i) { std::tie(next[2 * i], next[2 * i + 1]) = halved(now[i]); });
        std::swap(now, next);
    }
    workers.for_each(shares, [&](std::size_t i) { sort_numbers(now[i].numbers); });
}

template <class Number>
void reverse(std::span<Number> numbers, const Workers& workers) {
    const auto n = numbers.size();
    for_pieces(workers, n / 2, [&](std::size_t begin, std::size_t size) {
        for (auto i = begin; i < begin + size; ++i) std::swap(numbers[i], numbers[n - 1 - i]);
    });
}

// Keys whose bits ascend as numbers get their order. As signed numbers, the bits of negative floats are in reverse
// order, and NaNs are at both ends.
template <class Key, class Number, class Reverse>
void order_sorted(std::span<Number> numbers, Order order, const Reverse& reverse) {
    const bool down = order == Order::Descending;
    if constexpr (!is_float<Key>) {
        if (down) reverse(numbers);
    } else {
        const auto count_below = [&](auto bits) {
            const auto limit = static_cast<Number>(bits);
            return static_cast<std::size_t>(std::ranges::lower_bound(numbers, limit) - numbers.begin());
        };
        using Bits = KeyBits<Key>;
        const auto negative_nans = count_below(Bits::sign | (Bits::exponent + 1)), positive = count_below(0),
                   positive_nans = count_below(Bits::exponent + 1);
        const auto rotate_left = [&](std::size_t first) {
            std::rotate(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(first), numbers.end());
        };
        if (down) {
            reverse(numbers);
            reverse(numbers.last(positive));
            rotate_left(numbers.size() - positive_nans);
        } else {
            reverse(numbers.first(positive));
            rotate_left(positive - negative_nans);
        }
    }
}

template <class Key>
void sort_by_parts(std::span<Key> keys, Order order, const Workers& workers) {
    const auto numbers = as_numbers(keys);
    using Number = typename decltype(numbers)::value_type;
    sort_together(numbers, workers, Shares<Number>(workers.threads()));
    order_sorted<Key>(numbers, order, [&](std::span<Number> some) { reverse(some, workers); });
}

// A key and its index as one number, so that equal keys are ordered by their indices.
template <class Bits>
struct Placed {
    using Number = std::uint64_t;
    static Number of(Bits key, std::uint64_t position) { return Number{key} << 32U | position; }
    static Bits key(Number number) { return static_cast<Bits>(number >> 32U); }
    static std::uint32_t position(Number number) { return static_cast<std::uint32_t>(number); }
};
template <>
struct Placed<std::uint64_t> {
    using Number = Wide;
    static Number of(std::uint64_t key, std::uint64_t position) { return {.low = position, .high = key}; }
    static std::uint64_t key(const Number& number) { return number.high; }
    static std::uint32_t position(const Number& number) { return static_cast<std::uint32_t>(number.low); }
};

// A key without its index.
template <class Bits>
struct Alone {
    using Number = Bits;
    static Number of(Bits key, std::uint64_t /*position*/) { return key; }
    static Bits key(Number number) { return number; }
};

// The first `wanted` of n numbers, in order. Pair makes a number from a key and its index. Most keys are only compared
// with the largest one of those that are the first so far; an equal key has a larger index.
template <class Pair, class KeyAt>
auto first_of(std::size_t n, std::size_t wanted, const KeyAt& key_at) {
    using Number = typename Pair::Number;
    constexpr std::size_t block = 256;
    const auto room = std::min(2 * wanted + block, n);
    std::vector<Number> first;
    if (wanted == 0) return first;
    first.reserve(room);
    bool is_limited = false;
    decltype(key_at(n)) limit{};
    const auto keep_first = [&] {
        std::ranges::nth_element(first, first.begin() + static_cast<std::ptrdiff_t>(wanted - 1));
        first.resize(wanted);
        is_limited = true;
        limit = Pair::key(first.back());
    };
    for (std::size_t begin = 0; begin < n; begin += block) {
        const auto end = std::min(begin + block, n);
        if (is_limited) {
            bool any = false;
            for (auto i = begin; i < end; ++i) any |= key_at(i) < limit;
            if (!any) continue;
        }
        for (auto i = begin; i < end; ++i) {
            const auto key = key_at(i);
            if (is_limited && !(key < limit)) continue;
            first.push_back(Pair::of(key, i));
            if (first.size() == room && room < n) keep_first();
        }
    }
    if (first.size() > wanted) keep_first();
    sort_numbers(std::span<Number>(first));
    return first;
}

template <class Key>
void sort_places_of(std::span<Key> keys, std::span<Key> sorted, std::span<std::uint32_t> index, Order order,
                    const Workers& workers) {
    const TotalOrder<Key> rule(order);
    using Bits = typename KeyBits<Key>::Bits;
    using Pair = Placed<Bits>;
    using Number = typename Pair::Number;
    const auto n = keys.size(), wanted = index.size();
    const auto from = as_bits(keys), to = as_bits(sorted);
    const auto key_at = [&](std::size_t i) { return rule.encode(from[i]); };
    const auto take = [&](std::size_t i, const Number& number) {
        index[i] = Pair::position(number);
        if (!to.empty()) to[i] = rule.decode(Pair::key(number));
    };
    if (wanted < n) {
        const auto first = first_of<Pair>(n, wanted, key_at);
        for (std::size_t i = 0; i < wanted; ++i) take(i, first[i]);
        return;
    }
    const auto memory = std::make_unique_for_overwrite<Number[]>(n);
    const std::span<Number> numbers(memory.get(), n);
    const auto for_all = [&](const auto& work) {
        for_pieces(workers, n, [&](std::size_t begin, std::size_t size) {
            for (auto i = begin; i < begin + size; ++i) work(i);
        });
    };
    for_all([&](std::size_t i) { numbers[i] = Pair::of(key_at(i), i); });
    sort_together(numbers, workers, Shares<Number>(workers.threads()));
    for_all([&](std::size_t i) { take(i, numbers[i]); });
}

}  // namespace

void sort_keys(Keys keys, Order order) {
    visit(keys, [&]<class Key>(std::span<Key> values) {
        const auto numbers = as_numbers(values);
        sort_numbers(numbers);
        order_sorted<Key>(numbers, order, [](auto some) { std::reverse(some.begin(), some.end()); });
    });
}

void sort_keys(Keys keys, Order order, const Workers& workers) {
    visit(keys, [&](auto values) { sort_by_parts(values, order, workers); });
}

void sort_keys(Keys keys, Order order, unsigned threads) {
    const auto gain = visit(keys, [&]<class Key>(std::span<Key> values) {
        return threads_that_gain_here<typename KeyBits<Key>::Bits>(values.size(), threads);
    });
    if (gain < 2) return sort_keys(keys, order);
    sort_keys(keys, order, Workers(gain));
}

void sort_segments(Keys keys, std::span<const std::size_t> ends, Order order, const Workers& workers) {
    // Threads take groups of about this many keys. If a segment is a large part of all keys, all threads sort it.
    const auto share = std::max(keys.size() / (4 * std::size_t{workers.threads()}), min_group);
    struct Group {
        std::size_t first, last;  // segments [first, last)
    };
    std::vector<Group> groups;
    std::vector<std::size_t> long_ones;
    const auto begin_of = [&](std::size_t i) { return i == 0 ? 0 : ends[i - 1]; };
    std::size_t first = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const bool is_long = ends[i] - begin_of(i) > 2 * share && workers.threads() > 1;
        if (is_long) long_ones.push_back(i);
        if (!is_long && i + 1 < ends.size() && ends[i] - begin_of(first) < share) continue;
        const auto last = is_long ? i : i + 1;
        if (first < last) groups.push_back({first, last});
        first = i + 1;
    }
    for (const auto i : long_ones) sort_keys(part(keys, begin_of(i), ends[i] - begin_of(i)), order, workers.threads());
    workers.for_each(groups.size(), [&](std::size_t g) {
        for (auto i = groups[g].first; i < groups[g].last; ++i)
            sort_keys(part(keys, begin_of(i), ends[i] - begin_of(i)), order);
    });
}

void sort_places(Keys keys, Keys sorted, std::span<std::uint32_t> index, Order order, const Workers& workers) {
    visit(keys, [&]<class Key>(std::span<Key> values) {
        const std::span<Key> out(static_cast<Key*>(sorted.data()), sorted.size());
        sort_places_of(values, out, index, order, workers);
    });
}

void sort_places(Keys keys, Keys sorted, std::span<std::uint32_t> index, Order order, unsigned threads) {
    const auto gain = visit(keys, [&]<class Key>(std::span<Key> values) {
        using Number = typename Placed<typename KeyBits<Key>::Bits>::Number;
        return threads_that_gain_here<Number>(values.size(), threads);
    });
    sort_places(keys, sorted, index, order, Workers(gain));
}

}  // namespace detail::cpu

using namespace detail;  // NOLINT(google-build-using-namespace)

namespace {

template <class Sort>
SortStats timed(Keys keys, const Sort& sort) {
    const cpu::Stopwatch total;
    SortStats stats{.n = keys.size(), .engine = Engine::Cpu};
    sort();
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}

}  // namespace

SortStats sort_on_cpu(Keys keys, Order order, unsigned threads) {
    return timed(keys, [&] { cpu::sort_keys(keys, order, cpu::threads_or_all(threads)); });
}

SortStats sort_with_index_on_cpu(Keys keys, std::span<std::uint32_t> index, Order order, unsigned threads) {
    cpu::check_index("sort_with_index_on_cpu", keys, index);
    return timed(keys, [&] { cpu::sort_places(keys, keys, index, order, cpu::threads_or_all(threads)); });
}

SortStats top_on_cpu(ConstKeys read_only, Keys best, std::span<std::uint32_t> index, Order order, unsigned threads) {
    const Keys& keys = Access::of(read_only);
    cpu::check_top("top_on_cpu", keys, best, index);
    return timed(keys, [&] {
        if (!index.empty()) return cpu::sort_places(keys, best, index, order, cpu::threads_or_all(threads));
        cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
            using Bits = cpu::KeyBits<Key>;
            const cpu::TotalOrder<Key> rule(order);
            const auto first = cpu::first_of<cpu::Alone<typename Bits::Bits>>(
                values.size(), best.size(), [&](std::size_t i) { return rule.encode(Bits::of(values[i])); });
            auto* out = static_cast<Key*>(best.data());
            for (std::size_t i = 0; i < best.size(); ++i) out[i] = Bits::value(rule.decode(first[i]));
        });
    });
}

SortStats sort_windows_on_cpu(Keys keys, std::size_t window, Order order, unsigned threads) {
    window = cpu::checked_window("sort_windows_on_cpu", keys, window);
    if (window >= keys.size()) return sort_on_cpu(keys, order, threads);
    return sort_segments_on_cpu(keys, cpu::ends_of_windows(keys.size(), window), order, threads);
}

SortStats sort_segments_on_cpu(Keys keys, std::span<const std::size_t> ends, Order order, unsigned threads) {
    cpu::check_segments("sort_segments_on_cpu", keys.size(), ends);
    return timed(keys, [&] {
        const bool is_worth_threads = keys.size() >= cpu::min_keys_for_threads;
        cpu::sort_segments(keys, ends, order, cpu::Workers(is_worth_threads ? threads : 1));
    });
}

}  // namespace quadmill
