#include "cpu/sample_keys.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cpu/sort.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::cpu {

namespace {

// A bijection that spreads every bit (the finalizer of SplitMix64).
std::uint64_t mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(mix(seed + 1)) {}
    std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15U); }
    double unit() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }  // 0 <= u < 1

  private:
    std::uint64_t state_;
};

// A number in [-1, 1], before it is converted to a key.
double fraction(Distribution distribution, Random& random) {
    constexpr double ranks = 1 << 20;
    switch (distribution) {
        case Distribution::Gauss:
            return 0.2 * std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
        case Distribution::Zipf:
            return std::floor(std::pow(ranks, random.unit())) / ranks;
        case Distribution::Dup:
            return std::floor(random.unit() * 16) / 8 - 1;
        case Distribution::Equal:
            return 0.5;
        default:
            return 2 * random.unit() - 1;
    }
}

template <class Key>
Key key_of(double fraction) {
    constexpr double max = 1 - 0x1p-52;
    const double x = std::clamp(fraction, -1.0, max);
    if constexpr (std::is_same_v<Key, Half>) {
        const auto half = Half::from_float(static_cast<float>(x));
        return half.bits == KeyBits<Half>::sign ? Half{} : half;
    } else if constexpr (is_float<Key>) {
        return static_cast<Key>(x) + 0;  // turns -0 into +0
    } else {
        const auto wide = static_cast<std::int64_t>(x * 0x1p63);
        const auto value = static_cast<std::uint64_t>(wide) >> (64 - 8 * sizeof(Key));
        return static_cast<Key>(value ^ (std::is_signed_v<Key> ? 0 : KeyBits<Key>::sign));
    }
}

template <class Key>
std::vector<Key> make(Distribution distribution, std::size_t n, Random& random) {
    std::vector<Key> keys(n);
    for (auto& key : keys) key = key_of<Key>(fraction(distribution, random));
    using enum Distribution;
    if (distribution != Sorted && distribution != Reversed && distribution != Nearly) return keys;
    sort_on_cpu(keys, distribution == Reversed ? Order::Descending : Order::Ascending);
    if (distribution == Nearly) {
        for (std::size_t i = 0; i < (n + 99) / 100; ++i) std::swap(keys[random.bits() % n], keys[random.bits() % n]);
    }
    return keys;
}

}  // namespace

KeyBuffer::KeyBuffer(KeyType type, Distribution distribution, std::size_t n, std::uint64_t seed) {
    Random random(seed);
    visit_key_type(type, [&]<class Key>(const Key* /*type*/) { values_ = make<Key>(distribution, n, random); });
}

Keys KeyBuffer::keys() {
    return std::visit([](auto& values) { return Keys(values); }, values_);
}

std::uint64_t checksum(Keys keys) {
    return visit(keys, []<class Key>(std::span<Key> values) {
        std::uint64_t sum = values.size();
        for (const auto value : values) sum += mix(static_cast<std::uint64_t>(KeyBits<Key>::of(value)) + 1);
        return sum;
    });
}

bool in_order(Keys keys) {
    return visit(keys, []<class Key>(std::span<Key> values) {
        const TotalOrder<Key> rule(Order::Ascending);
        return std::ranges::is_sorted(values, {}, [&](Key key) { return rule.encode(KeyBits<Key>::of(key)); });
    });
}

}  // namespace quadmill::detail::cpu
