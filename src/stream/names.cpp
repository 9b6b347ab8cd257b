#include "quadmill/names.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "stream/bytes.hpp"
#include "stream/counted_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

Frequencies<std::string>::Frequencies(const FrequencyOptions& options) : eps_(options.eps) {
    check_eps("Frequencies", eps_, min_eps_of_window);
}

std::size_t Frequencies<std::string>::max_names() const {
    return static_cast<std::size_t>(std::ceil(2 / eps_));
}

void Frequencies<std::string>::add(std::string_view name, std::uint64_t weight) {
    check_merge("Frequencies::add", n_, weight);
    if (weight == 0) return;
    if (const auto found = counts_.find(name); found != counts_.end()) {
        found->second += weight;
        n_ += weight;
        return;
    }
    const auto added = counts_.emplace(name, weight).first;
    n_ += weight;
    if (counts_.size() <= max_names()) return;
    try {
        drop();
    } catch (...) {
        counts_.erase(added);
        n_ -= weight;
        throw;
    }
}

void Frequencies<std::string>::add(std::span<const std::string> names) {
    for (const auto& name : names) add(name);
}

// Subtracts m from at least half of 2 / eps counts, so the sum of all m is at most eps n.
void Frequencies<std::string>::drop() {
    std::vector<std::uint64_t> counts;
    counts.reserve(counts_.size());
    for (const auto& [name, count] : counts_) counts.push_back(count);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    missed_ += *middle;
    for (auto& [name, count] : counts_) count -= std::min(count, *middle);
    std::erase_if(counts_, [](const auto& item) { return item.second == 0; });
}

Count Frequencies<std::string>::count(std::string_view name) const {
    const auto found = counts_.find(name);
    const auto count = found == counts_.end() ? 0 : found->second;
    return {count, count, count + missed_};
}

std::vector<Frequent<std::string>> Frequencies<std::string>::sorted(std::uint64_t min) const {
    std::vector<Frequent<std::string>> found;
    for (const auto& [name, count] : counts_) {
        if (count + missed_ >= min) found.push_back({name, {count, count, count + missed_}});
    }
    std::ranges::sort(found, [](const auto& a, const auto& b) {
        return a.count.estimate != b.count.estimate ? a.count.estimate > b.count.estimate : a.value < b.value;
    });
    return found;
}

std::vector<Frequent<std::string>> Frequencies<std::string>::frequent(double support) const {
    check_part("Frequencies::frequent", "support", support, eps_);
    return sorted(min_count(support, n_));
}

std::vector<Frequent<std::string>> Frequencies<std::string>::top(std::size_t k) const {
    auto found = sorted(0);
    if (found.size() > k) found.resize(k);
    return found;
}

void Frequencies<std::string>::merge(const Frequencies& other) {
    check_merge("Frequencies::merge", n_, other.n_);
    if (&other == this) return merge(Frequencies(other));
    auto merged = *this;
    for (const auto& [name, count] : other.counts_) merged.counts_[name] += count;
    merged.n_ += other.n_;
    merged.missed_ += other.missed_;
    merged.eps_ = std::max(eps_, other.eps_);
    while (merged.counts_.size() > merged.max_names()) merged.drop();
    *this = std::move(merged);
}

std::vector<std::byte> Frequencies<std::string>::save() const {
    Writer to({Kind::NameFrequencies, KeyType{}});
    to.f64(eps_);
    to.u64(n_);
    to.u64(missed_);
    std::vector<std::pair<std::string_view, std::uint64_t>> all(counts_.begin(), counts_.end());
    std::ranges::sort(all);
    to.u64(all.size());
    for (const auto& [name, count] : all) {
        to.text(name);
        to.u64(count);
    }
    return to.take();
}

Frequencies<std::string> Frequencies<std::string>::load(std::span<const std::byte> bytes) {
    auto from = open("Frequencies::load", bytes, Kind::NameFrequencies, KeyType{});
    Frequencies loaded({.eps = read_eps(from, min_eps_of_window)});
    loaded.n_ = from.u64();
    loaded.missed_ = from.u64();
    from.require(loaded.n_ <= max_values, "the sum of weights");
    std::string before;
    std::uint64_t left = loaded.n_;
    const auto names = from.count(2);
    from.require(names <= loaded.max_names(), "the number of names");
    for (std::size_t i = 0; i < names; ++i) {
        auto name = from.text();
        const auto count = from.u64();
        from.require((i == 0 || before < name) && count >= 1 && count <= left, "a name or its count");
        left -= count;
        loaded.counts_.emplace(name, count);
        before = std::move(name);
    }
    from.require(static_cast<double>(loaded.missed_) <= loaded.eps_ * static_cast<double>(left) * (1 + 1e-9),
                 "the error of a count");
    from.end();
    return loaded;
}

std::size_t Frequencies<std::string>::bytes() const {
    constexpr std::size_t node = 5 * sizeof(void*);
    const std::size_t in_place = std::string().capacity();
    auto bytes = sizeof *this + counts_.bucket_count() * sizeof(void*);
    for (const auto& [name, count] : counts_)
        bytes += node + sizeof name + (name.capacity() > in_place ? name.capacity() : 0);
    return bytes;
}

namespace {

constexpr int address_bits = 128;

std::string prefix_of(const Ipv6& address, int length) {
    const auto whole = static_cast<std::size_t>(length) / 8, rest = static_cast<std::size_t>(length) % 8;
    std::string prefix(reinterpret_cast<const char*>(address.bytes.data()), whole);
    if (rest > 0) prefix += static_cast<char>(address.bytes[whole] & 0xffU << (8 - rest));
    return prefix;
}

// The address that begins with the prefix, and then has only that bit.
Ipv6 with_prefix(const std::string& prefix, int length, bool bit) {
    Ipv6 address;
    std::ranges::transform(prefix, address.bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    if (!bit) return address;
    for (auto i = static_cast<std::size_t>(length); i < address_bits; ++i)
        address.bytes[i / 8] = static_cast<std::uint8_t>(address.bytes[i / 8] | 0x80U >> (i % 8));
    return address;
}

constexpr unsigned min_bits = 4, max_bits = 18;

double deviation(unsigned bits) {
    return 1.04 / std::sqrt(std::ldexp(1, static_cast<int>(bits)));
}

// A bijection after which every bit depends on all bits (Vigna's variant 13 of MurmurHash3's).
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    return x ^ x >> 31U;
}

// Ertl's sums over the registers that are 0, and over those that are full.
double sigma(double x) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    double z = x, before = -1;
    for (double y = 1; z != before; y += y) {
        x *= x;
        before = z;
        z += x * y;
    }
    return z;
}
double tau(double x) {
    if (x == 0 || x == 1) return 0;
    double z = 1 - x, before = -1;
    for (double y = 0.5; z != before; y *= 0.5) {
        x = std::sqrt(x);
        before = z;
        z -= (1 - x) * (1 - x) * y;
    }
    return z / 3;
}

}  // namespace

HeavyPrefixes<Ipv6>::HeavyPrefixes(const HeavyPrefixOptions& options) : options_(checked(options, address_bits)) {
    for (std::size_t i = 0; i < options.lengths.size(); ++i)
        levels_.emplace_back(FrequencyOptions{.eps = each_eps(options)});
}

void HeavyPrefixes<Ipv6>::add(std::span<const Ipv6> addresses) {
    for (const auto& address : addresses) {
        for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i].add(prefix_of(address, options_.lengths[i]));
    }
}

std::vector<HeavyPrefix<Ipv6>> HeavyPrefixes<Ipv6>::heavy(double support, HeavyRule rule) const {
    check_part("HeavyPrefixes::heavy", "support", support, options_.support);
    const auto of_length = [&](std::size_t i) {
        auto prefixes = levels_[i].top(std::numeric_limits<std::size_t>::max());
        std::ranges::sort(prefixes, {}, &Frequent<std::string>::value);
        std::vector<Counted<Ipv6>> all;
        for (const auto& [prefix, count] : prefixes) {
            all.push_back({with_prefix(prefix, options_.lengths[i], false),
                           with_prefix(prefix, options_.lengths[i], true),
                           {count.lower, count.upper}});
        }
        return all;
    };
    return heavy_of<Ipv6>(options_.lengths, of_length, min_count(support, n()), rule);
}

void HeavyPrefixes<Ipv6>::merge(const HeavyPrefixes& other) {
    auto merged = *this;
    merged.options_ = of_both(options_, other.options_);
    for (std::size_t i = 0; i < levels_.size(); ++i) merged.levels_[i].merge(other.levels_[i]);
    *this = std::move(merged);
}

std::vector<std::byte> HeavyPrefixes<Ipv6>::save() const {
    Writer to({Kind::Ipv6Prefixes, KeyType{}});
    to.f64(options_.eps);
    to.f64(options_.support);
    to.u64(levels_.size());
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        to.u64(static_cast<std::uint64_t>(options_.lengths[i]));
        const auto level = levels_[i].save();
        to.text({reinterpret_cast<const char*>(level.data()), level.size()});
    }
    return to.take();
}

HeavyPrefixes<Ipv6> HeavyPrefixes<Ipv6>::load(std::span<const std::byte> bytes) {
    auto from = open("HeavyPrefixes::load", bytes, Kind::Ipv6Prefixes, KeyType{});
    HeavyPrefixOptions options;
    read_errors(from, options);
    const auto count = from.count(2);
    from.require(count >= 1, "the number of lengths");
    std::vector<Frequencies<std::string>> levels;
    options.lengths.clear();
    for (std::size_t i = 0; i < count; ++i) {
        read_length(from, options, address_bits);
        const auto length = options.lengths.back();
        const auto level = from.text();
        auto& names = levels.emplace_back(Frequencies<std::string>::load(std::as_bytes(std::span(level))));
        from.require(names.n() == levels.front().n(), "the number of addresses");
        for (const auto& prefix : names.top(std::numeric_limits<std::size_t>::max())) {
            from.require(prefix.value.size() == static_cast<std::size_t>(length + 7) / 8 &&
                             prefix_of(with_prefix(prefix.value, 0, false), length) == prefix.value,
                         "a prefix");
        }
    }
    from.end();
    HeavyPrefixes loaded(options);
    for (const auto& level : levels)
        from.require(level.eps() <= each_eps(options) * (1 + 1e-9), "the error of a count");
    loaded.levels_ = std::move(levels);
    return loaded;
}

std::size_t HeavyPrefixes<Ipv6>::bytes() const {
    auto bytes = sizeof *this;
    for (const auto& level : levels_) bytes += level.bytes();
    return bytes;
}

Distinct::Distinct(double error) {
    for (bits_ = min_bits; bits_ < max_bits && deviation(bits_) > error;) ++bits_;
    if (!(error >= deviation(max_bits) && error <= deviation(min_bits)))
        throw InvalidArgument("Distinct: the error must be from 0.0021 to 0.26, not " + text_of(error));
}

// Eight bytes at a time, lowest first; the last ones with zeros. The length begins the hash.
void Distinct::add(std::string_view name) {
    auto hash = mixed(name.size() + 0x9e3779b97f4a7c15U);
    for (std::size_t i = 0; i < name.size(); i += 8) {
        std::uint64_t word = 0;
        for (std::size_t k = 0; k < std::min<std::size_t>(8, name.size() - i); ++k)
            word |= std::uint64_t{static_cast<unsigned char>(name[i + k])} << (8 * k);
        hash = mixed(hash ^ word) + 0x9e3779b97f4a7c15U;
    }
    add_hash(mixed(hash));
}

template <class T>
void Distinct::add_value(T value) {
    if (!KeyOf<T>::is_nan(value)) add_hash(mixed(KeyOf<T>::key(value) + 0x9e3779b97f4a7c15U));
}
template void Distinct::add_value(Half);
template void Distinct::add_value(float);
template void Distinct::add_value(double);
template void Distinct::add_value(std::int32_t);
template void Distinct::add_value(std::uint32_t);
template void Distinct::add_value(std::int64_t);
template void Distinct::add_value(std::uint64_t);

void Distinct::add_hash(std::uint64_t hash) {
    if (!is_exact()) return set(hash);
    const auto at = std::ranges::lower_bound(few_, hash);
    if (at != few_.end() && *at == hash) return;
    if (few_.size() < std::size_t{1} << (bits_ - 3)) {
        few_.insert(at, hash);
        return;
    }
    registers_.resize(std::size_t{1} << bits_);
    for (const auto one : few_) set(one);
    few_ = std::vector<std::uint64_t>();  // {} would keep its memory
    set(hash);
}

// A register has the max number of leading zeros, plus one, in the hashes whose first bits are its index.
void Distinct::set(std::uint64_t hash) {
    auto& max = registers_[static_cast<std::size_t>(hash >> (64 - bits_))];
    const auto zeros = std::min<int>(std::countl_zero(hash << bits_), static_cast<int>(64 - bits_));
    max = std::max(max, static_cast<std::uint8_t>(zeros + 1));
}

Count Distinct::count() const {
    if (is_exact()) return {few_.size(), few_.size(), few_.size()};
    std::array<double, 66> registers{};  // how many have each value
    for (const auto value : registers_) ++registers[value];
    const auto all = static_cast<double>(registers_.size());
    const std::size_t full = 65 - bits_;
    auto z = all * tau(1 - registers[full] / all);
    for (auto k = full - 1; k >= 1; --k) z = 0.5 * (z + registers[k]);
    z += all * sigma(registers[0] / all);
    const auto estimate = all * all / (2 * std::numbers::ln2 * z);
    const auto three = 3 * deviation(bits_);
    const auto number = [](double x) { return static_cast<std::uint64_t>(std::min(std::round(x), 0x1p63)); };
    return {number(estimate / (1 + three)), number(estimate), number(three < 1 ? estimate / (1 - three) : 0x1p63)};
}

void Distinct::merge(const Distinct& other) {
    if (other.bits_ != bits_)
        throw InvalidArgument("Distinct::merge: both must have the same error, not 2^" + std::to_string(bits_) +
                              " and 2^" + std::to_string(other.bits_) + " registers");
    if (&other == this) return;
    for (const auto hash : other.few_) add_hash(hash);
    if (other.is_exact()) return;
    registers_.resize(other.registers_.size());
    for (const auto hash : few_) set(hash);
    few_ = std::vector<std::uint64_t>();
    for (std::size_t i = 0; i < registers_.size(); ++i) registers_[i] = std::max(registers_[i], other.registers_[i]);
}

std::vector<std::byte> Distinct::save() const {
    Writer to({Kind::Distinct, KeyType{}});
    to.u64(bits_);
    to.u64(is_exact() ? 1 : 0);
    if (is_exact()) {
        to.u64(few_.size());
        for (std::size_t i = 0; i < few_.size(); ++i) to.u64(few_[i] - (i > 0 ? few_[i - 1] : 0));
    } else {
        for (const auto value : registers_) to.u64(value);
    }
    return to.take();
}

Distinct Distinct::load(std::span<const std::byte> bytes) {
    auto from = open("Distinct::load", bytes, Kind::Distinct, KeyType{});
    const auto bits = from.u64(), exact = from.u64();
    from.require(bits >= min_bits && bits <= max_bits && exact <= 1, "the number of registers");
    Distinct loaded;
    loaded.bits_ = static_cast<unsigned>(bits);
    if (exact == 1) {
        loaded.few_.resize(from.count());
        from.require(loaded.few_.size() <= std::size_t{1} << (bits - 3), "the number of hashes");
        for (std::size_t i = 0; i < loaded.few_.size(); ++i) {
            const auto before = i > 0 ? loaded.few_[i - 1] : 0, more = from.u64();
            from.require((i == 0 || more > 0) && more <= ~std::uint64_t{0} - before, "a hash");
            loaded.few_[i] = before + more;
        }
    } else {
        loaded.registers_.resize(from.count_of(std::uint64_t{1} << bits));
        std::uint64_t set = 0;
        for (auto& value : loaded.registers_) {
            const auto most = from.u64();
            from.require(most <= 65 - bits, "a register");
            value = static_cast<std::uint8_t>(most);
            set += most > 0 ? 1U : 0U;
        }
        from.require(set > 0, "the registers");
    }
    from.end();
    return loaded;
}

}  // namespace quadmill
