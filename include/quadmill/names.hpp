/// Summaries of names, such as paths, users or words: the frequent ones with bounds of their counts, and the number of
/// different ones; and the prefixes that many IPv6 addresses share. All can be copied, merged, saved and loaded. One
/// thread at a time may change a summary; while none does, any number of threads may call its const functions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/stream.hpp"

namespace quadmill {

/// The frequent names of a stream; each name comes with a weight, and n is the sum of all weights.
///
/// Guarantee: as for other Frequencies: a count's estimate is at most eps n too low and never too high; frequent(s) has
/// every name with a weight of s n or more, and none with less than (s - eps) n. A name that top(k) misses has at most
/// eps n more than the last name that it has.
/// Memory: at most 2 / eps names, each with about 80 bytes and its own length.
/// Source: Misra and Gries, Science of Computer Programming 1982. When there are too many names, the median count is
/// subtracted from all, and those that have nothing left are dropped: at least half of them.
///
///     Frequencies<std::string> pages({.eps = 0.001});
///     pages.add("/index.html");
///     pages.add("/film.mp4", 300);  // with a weight
///     for (const auto& page : pages.top(20)) print(page.value, page.count.estimate);
template <>
class QUADMILL_API Frequencies<std::string> {
  public:
    /// An empty summary. There is no window.
    /// Throws: InvalidArgument for an eps out of range.
    explicit Frequencies(const FrequencyOptions& options = {});

    /// Adds a name.
    /// Throws: InvalidArgument if all weights were more than 2^60; std::bad_alloc (the name is not added).
    void add(std::string_view name, std::uint64_t weight = 1);
    void add(std::span<const std::string> names);  ///< each with the weight 1

    [[nodiscard]] std::uint64_t n() const { return n_; }  ///< the sum of all weights
    [[nodiscard]] double eps() const { return eps_; }     ///< of the counts

    /// The names with at least support n, with the class's guarantee: most frequent first, equal ones by name.
    /// Pre: eps() <= support <= 1.
    [[nodiscard]] std::vector<Frequent<std::string>> frequent(double support) const;
    /// The k names with the largest estimates, in that order, or all if there are fewer.
    [[nodiscard]] std::vector<Frequent<std::string>> top(std::size_t k) const;
    /// The weight of a name.
    [[nodiscard]] Count count(std::string_view name) const;

    /// Adds the other summary. eps becomes the larger of both.
    void merge(const Frequencies& other);
    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// Loads the bytes of save().
    /// Throws: InvalidArgument if the bytes are damaged, or hold another kind of summary.
    [[nodiscard]] static Frequencies load(std::span<const std::byte> bytes);
    [[nodiscard]] std::size_t bytes() const;                 ///< of memory, about
    [[nodiscard]] static StreamTimes times() { return {}; }  ///< there is no sorter

  private:
    struct Hash {
        using is_transparent = void;  // NOLINT(readability-identifier-naming): as std::unordered_map asks
        std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
    };
    [[nodiscard]] std::size_t max_names() const;
    void drop();
    [[nodiscard]] std::vector<Frequent<std::string>> sorted(std::uint64_t min) const;

    double eps_;
    std::uint64_t n_ = 0, missed_ = 0;  // missed_: max weight of a name that its count lacks
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> counts_;
};

/// An IPv6 address, in the order of the network.
struct Ipv6 {
    std::array<std::uint8_t, 16> bytes{};           ///< the first one is the highest
    auto operator<=>(const Ipv6&) const = default;  ///< by the bytes, the first one first
};

/// Hierarchical heavy hitters of IPv6 addresses.
///
/// Guarantee: as for other HeavyPrefixes.
/// Memory: at most 2 (1 + 2 / support) / eps prefixes of each length, each with about 80 bytes. They are counted as
/// names, without a sorter.
///
///     HeavyPrefixes<Ipv6> networks({.eps = 0.001, .support = 0.01, .lengths = {0, 32, 48, 64, 128}});
///     networks.add(addresses);
///     for (const auto& p : networks.heavy(0.05)) print(p.value, p.length, p.count.estimate);
template <>
class QUADMILL_API HeavyPrefixes<Ipv6> {
  public:
    /// An empty summary. Lengths are up to 128; the window is not used.
    /// Throws: InvalidArgument for options out of range.
    explicit HeavyPrefixes(const HeavyPrefixOptions& options);

    /// Adds addresses.
    /// Throws: std::bad_alloc (the summary must not be used any more).
    void add(std::span<const Ipv6> addresses);
    [[nodiscard]] std::uint64_t n() const { return levels_.front().n(); }         ///< addresses so far
    [[nodiscard]] const HeavyPrefixOptions& options() const { return options_; }  ///< after merges, those of both
    /// The prefixes that are heavy, with the class's guarantee: longest first, those of one length by value.
    /// Pre: options().support <= support <= 1.
    [[nodiscard]] std::vector<HeavyPrefix<Ipv6>> heavy(double support, HeavyRule rule = HeavyRule::Discounted) const;
    /// Adds the other summary. eps and support become the larger of both.
    /// Pre: the same lengths.
    void merge(const HeavyPrefixes& other);
    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// Loads the bytes of save().
    /// Throws: InvalidArgument if the bytes are damaged, or hold another kind of summary.
    [[nodiscard]] static HeavyPrefixes load(std::span<const std::byte> bytes);
    [[nodiscard]] std::size_t bytes() const;                 ///< of memory, about
    [[nodiscard]] static StreamTimes times() { return {}; }  ///< there is no sorter

  private:
    HeavyPrefixOptions options_;
    std::vector<Frequencies<std::string>> levels_;  // the prefixes of each length
};

/// The number of different values or names of a stream.
///
/// Let p be the smallest number with 1.04 / 2^(p/2) <= `error`; it is 14 for 1 %.
///
/// Guarantee: exact for up to 2^p / 8 different ones, unless two have the same hash of 64 bits. Otherwise the estimate
/// has no bias and a standard error of 1.04 / 2^(p/2), at most `error`. `lower` and `upper` are three standard errors
/// away: the true number is between them with a probability of about 99.7 %.
/// Memory: at most 2^p bytes, 16 KiB for an error of 1 %.
/// Source: Flajolet, Fusy, Gandouet and Meunier, AofA 2007 (HyperLogLog); the estimator is that of Ertl,
/// arXiv:1702.01284.
///
///     Distinct users;
///     users.add("ann");
///     const auto number = users.count();  // number.lower, number.estimate, number.upper
class QUADMILL_API Distinct {
  public:
    /// Counts nothing yet.
    /// Throws: InvalidArgument unless the error is from 0.0021 to 0.26.
    explicit Distinct(double error = 0.01);

    void add(std::string_view name);  ///< a name
    /// Adds values. NaNs are not values, and -0 counts as 0. All values must have one type.
    template <class T>
    void add(std::span<const T> values) {
        static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");
        for (const auto& value : values) add_value<T>(value);
    }

    [[nodiscard]] Count count() const;                                  ///< the number of different ones
    [[nodiscard]] bool is_exact() const { return registers_.empty(); }  ///< whether count() is exact

    /// Adds all that the other one has counted.
    /// Throws: InvalidArgument if the other has another p.
    void merge(const Distinct& other);
    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// Loads the bytes of save().
    /// Throws: InvalidArgument if the bytes are damaged, or hold another kind of summary.
    [[nodiscard]] static Distinct load(std::span<const std::byte> bytes);
    [[nodiscard]] std::size_t bytes() const {
        return sizeof *this + 8 * few_.capacity() + registers_.capacity();
    }  ///< of memory

  private:
    template <class T>
    void add_value(T value);
    void add_hash(std::uint64_t hash);
    void set(std::uint64_t hash);

    unsigned bits_ = 14;                   // p
    std::vector<std::uint64_t> few_;       // the hashes, sorted, until there are many
    std::vector<std::uint8_t> registers_;  // 2^p, then
};

}  // namespace quadmill
