/// Summaries of streams in little memory: quantiles, frequent values, both over sliding windows, heavy prefixes and
/// correlated sums, each with bounds that hold for every stream.
///
/// A stream is cut into windows; a WindowSorter sorts them (CPU threads, or the graphics pipeline, see
/// window_sorter.hpp), and a summary takes what it needs from each. Values have the types that sort.hpp sorts, in its
/// order, but -0 counts as 0. NaNs are not values: they are counted separately (nans()). One thread at a time may
/// change a summary. While none does, any number of threads may call its const functions; but if its sorter works on
/// the GPU, only the thread of the context may.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/error.hpp"
#include "quadmill/keys.hpp"
#include "quadmill/paper.hpp"
#include "quadmill/quantiles.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill {

namespace detail::stream {

class FrequencySummary;
class QuantileSummary;
struct CorrelatedState;
struct FrequenciesState;
struct HeavyPrefixesState;
template <class Summary>
class SlidingState;

}  // namespace detail::stream

/// A value that occurs often.
template <class T>
struct Frequent {
    T value;      ///< of the stream
    Count count;  ///< the estimate is the lower bound, as in lossy counting
};

/// Options of frequencies.
struct FrequencyOptions {
    double eps = 0.001;      ///< the error of a count, as a fraction of n; from 1e-9 to 0.5
    std::size_t window = 0;  ///< as for quantiles, but at least 1 / eps (up to 2^24), the window of the paper
};

/// The frequent values of a stream so far: lossy counting.
///
/// Guarantee: a count's estimate is at most eps n too low and never too high; frequent(s) has every value that occurs s
/// n times or more, and none that occurs less than (s - eps) n times. Values of an unfinished window are counted
/// exactly.
/// Memory: at most (1 / eps) log(eps n) entries of 24 bytes, and a few more, often far fewer.
/// Source: SIGMOD'05 section 5.1; Manku and Motwani, VLDB 2002, whose rule of compression is used: a value is dropped
/// if its upper bound is at most eps n. (Deleting counts of one, as printed in SIGMOD'05, breaks the bound on memory.)
/// Windows of more than 1 / eps values are several of theirs, counted together.
///
///     Frequencies<std::uint32_t> ports({.eps = 0.0001});
///     ports.add(values);
///     for (const auto& port : ports.frequent(0.01)) print(port.value, port.count.estimate);
template <class T>
class QUADMILL_API Frequencies : public StreamSummary {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// An empty summary. Throws: as that of Quantiles.
    explicit Frequencies(const FrequencyOptions& options = {},
                         std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    void add(std::span<const T> values) { add_values(values.data(), values.size()); }  ///< as for Quantiles
    void add(T value);                                                                 ///< one value
    void add(std::span<const T> values, std::span<const std::uint64_t> weights);       ///< as for Quantiles

    /// The values that occur at least support n times, with the class's guarantee: most frequent first, equal ones by
    /// value.
    /// Pre: eps() <= support <= 1.
    [[nodiscard]] std::vector<Frequent<T>> frequent(double support) const;
    /// The count of a value.
    /// Pre: not NaN.
    [[nodiscard]] Count count(T value) const;

    /// Adds the other summary, which is not changed. eps becomes the larger of both.
    void merge(const Frequencies& other);
    /// As Quantiles::load().
    [[nodiscard]] static Frequencies load(std::span<const std::byte> bytes,
                                          std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

  private:
    template <class>
    friend class SlidingFrequencies;
    using State = detail::stream::FrequenciesState;
    friend detail::Access;
    [[nodiscard]] State& state() const { return state_as<State>(); }
    explicit Frequencies(std::unique_ptr<detail::stream::SummaryState> state) : StreamSummary(std::move(state)) {}
};

/// The widths that a sliding window can answer for.
enum class Widths {
    Fixed,     ///< the last `window` values
    Variable,  ///< the last W values for any W up to `window`, with an error of eps W; takes more memory
};

/// Options of sliding windows.
struct SlidingOptions {
    double eps = 0.01;              ///< the error of a rank or count, as a fraction of the window; from 1e-6 to 0.5
    std::uint64_t window = 0;       ///< values; from 1 to 2^40
    Widths widths = Widths::Fixed;  ///< which widths may be requested
    /// A summary that may take more memory than this is refused; the message says how many bytes it may take.
    std::uint64_t max_bytes = std::uint64_t{1} << 33U;
    SlidingPaperOptions paper{};  ///< the forms of SIGMOD'05
};

/// Quantiles of the last values of a stream.
///
/// Guarantee: not counting NaNs, the rank of every answer among the last W values (W = window, or fewer at the start of
/// the stream) is within eps W of the requested rank, and the answer is one of these values.
/// Memory: let L = log2(4 / eps). A window of up to 4 (L + 1)^2 / eps values is kept as it is, and answers are exact,
/// except with RawValues::Never. (An answer then merges the values since the last answer into the sorted window.) Longer
/// windows, Widths::Fixed: blocks of few levels have about 6 / eps^1.5 entries of 4 or 8 bytes, or 13 / eps^(4/3) if eps
/// < 1e-4; up to max(2^18, 32 / eps) values wait for each of the sorter's threads. Windows of more than about 10^8
/// values (2^19 / eps if that is less), and those with RawValues::Never, have L + 1 levels: 2 (L + 1)^2 / eps entries of
/// 12 to 24 bytes. At most 4 (L + 1)^2 / eps more are being merged, and half of that again while the stream is shorter
/// than the window. The sorter has five batches, each of max(32 (L + 1) / eps, 2^14) values or, if that is more, 512
/// KiB for each of its threads. Widths::Variable: about 6 (L + 1) ln(8 / eps) log2(window eps) / eps entries, and the
/// last 128 / eps values.
/// Throws: InvalidArgument if all this may exceed max_bytes; otherwise as Quantiles.
/// Source: SIGMOD'05 section 5.3; Arasu and Manku, PODS 2004: with L + 1 levels, the error of a block on level l is eps
/// / (2 (2 L + 2)) 2^(L - l) of its values.
template <class T>
class QUADMILL_API SlidingQuantiles : public StreamSummary {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// An empty summary.
    /// Throws: InvalidArgument for options out of range, or too much memory.
    explicit SlidingQuantiles(const SlidingOptions& options,
                              std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    void add(std::span<const T> values) { add_values(values.data(), values.size()); }  ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }                          ///< one value

    [[nodiscard]] const SlidingOptions& options() const;  ///< as given

    /// A quantile of the last `width` values, by default the whole window; bounds of ranks are among these.
    /// Pre: 0 <= phi <= 1; 1 <= width <= window, and width = window unless widths are variable; n() > 0.
    [[nodiscard]] Quantile<T> quantile(double phi, std::optional<std::uint64_t> width = {}) const;
    /// Answers for all phis, in that order.
    [[nodiscard]] std::vector<Quantile<T>> quantiles(std::span<const double> phis,
                                                     std::optional<std::uint64_t> width = {}) const;
    /// The window as a separate summary, which can be merged with those of other streams: the last `width` values, or
    /// up to eps width / 4 fewer.
    /// Pre: `width` as for quantile().
    [[nodiscard]] Quantiles<T> summary(std::optional<std::uint64_t> width = {}) const;

    /// As Quantiles::load().
    [[nodiscard]] static SlidingQuantiles load(std::span<const std::byte> bytes,
                                               std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

  private:
    using State = detail::stream::SlidingState<detail::stream::QuantileSummary>;
    friend detail::Access;
    [[nodiscard]] State& state() const { return state_as<State>(); }
    explicit SlidingQuantiles(std::unique_ptr<detail::stream::SummaryState> state) : StreamSummary(std::move(state)) {}
};

/// The frequent values among the last values of a stream; otherwise as SlidingQuantiles.
///
/// Guarantee: among the last W values, a count's estimate is at most eps W too low and never too high; frequent(s) has
/// every value that occurs s W times or more, and none that occurs less than (s - eps) W times.
template <class T>
class QUADMILL_API SlidingFrequencies : public StreamSummary {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// An empty summary.
    /// Throws: InvalidArgument for options out of range, or too much memory.
    explicit SlidingFrequencies(const SlidingOptions& options,
                                std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    void add(std::span<const T> values) { add_values(values.data(), values.size()); }  ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }                          ///< one value

    [[nodiscard]] const SlidingOptions& options() const;  ///< as given

    /// The frequent values among the last `width`, in the order of Frequencies::frequent().
    /// Pre: eps <= support <= 1; `width` as for SlidingQuantiles::quantile().
    [[nodiscard]] std::vector<Frequent<T>> frequent(double support, std::optional<std::uint64_t> width = {}) const;
    /// As SlidingQuantiles::summary().
    [[nodiscard]] Frequencies<T> summary(std::optional<std::uint64_t> width = {}) const;

    /// As Quantiles::load().
    [[nodiscard]] static SlidingFrequencies load(std::span<const std::byte> bytes,
                                                 std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

  private:
    using State = detail::stream::SlidingState<detail::stream::FrequencySummary>;
    friend detail::Access;
    [[nodiscard]] State& state() const { return state_as<State>(); }
    explicit SlidingFrequencies(std::unique_ptr<detail::stream::SummaryState> state)
        : StreamSummary(std::move(state)) {}
};

/// Options of heavy prefixes.
struct HeavyPrefixOptions {
    double eps = 0.001;          ///< the error of a count, as a fraction of n; from 1e-6 to 0.5
    double support = 0.01;       ///< the smallest support that heavy() may be called with; from 2 eps to 1
    std::vector<int> lengths{};  ///< of the prefixes, in bits, ascending, from 0 to 32 (64 for 64-bit values)
    std::size_t window = 0;      ///< as for quantiles
};

/// The rule for heavy prefixes.
enum class HeavyRule {
    Discounted,  ///< prefixes with enough values outside of longer heavy prefixes
    All,         ///< as in SIGMOD'05, section 5.4: all prefixes with enough values
};

/// A prefix of some values: the first `length` bits of `value`.
template <class T>
struct HeavyPrefix {
    T value{};         ///< its other bits are 0
    int length = 0;    ///< in bits
    Count count;       ///< of all values with that prefix
    Count discounted;  ///< of values without a longer heavy prefix
};

/// Hierarchical heavy hitters: prefixes with many values that no longer heavy prefix counts already. T is std::uint32_t
/// or std::uint64_t.
///
/// Guarantee: let H be the prefixes that heavy(s) returns and d(p) the number of values under p that are not under a
/// longer prefix of H. Every prefix with d(p) >= s n is in H, and no prefix of H has d(p) < (s - eps) n. The bounds of
/// `count` and `discounted` hold and are at most eps n apart.
/// Memory: a lossy count (see Frequencies) for each length, with an error of eps / (1 + 2 / support), so that the
/// errors of subtracted prefixes sum up to eps.
/// Source: SIGMOD'05 section 5.4; Cormode, Korn, Muthukrishnan and Srivastava, VLDB 2003.
///
///     HeavyPrefixes<std::uint32_t> sources({.eps = 0.001, .support = 0.01, .lengths = {0, 8, 16, 24, 32}});
template <class T>
class QUADMILL_API HeavyPrefixes : public StreamSummary {
    static_assert(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>,
                  "values are std::uint32_t or std::uint64_t");

  public:
    /// An empty summary. Throws: as that of Quantiles.
    explicit HeavyPrefixes(const HeavyPrefixOptions& options,
                           std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    void add(std::span<const T> values) { add_values(values.data(), values.size()); }  ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }                          ///< one value

    [[nodiscard]] const HeavyPrefixOptions& options() const;  ///< as given, or as merged

    /// The heavy prefixes, longest first, those of equal length by value. With HeavyRule::All the guarantee holds for
    /// all values under p instead of d(p).
    /// Pre: options().support <= support <= 1.
    [[nodiscard]] std::vector<HeavyPrefix<T>> heavy(double support, HeavyRule rule = HeavyRule::Discounted) const;

    /// Adds the other summary, which is not changed. eps and support become the larger ones.
    /// Pre: the same lengths.
    void merge(const HeavyPrefixes& other);
    /// As Quantiles::load().
    [[nodiscard]] static HeavyPrefixes load(std::span<const std::byte> bytes,
                                            std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

  private:
    using StreamSummary::nans;  // integers have none
    friend detail::Access;
    using State = detail::stream::HeavyPrefixesState;
    [[nodiscard]] State& state() const { return state_as<State>(); }
    explicit HeavyPrefixes(std::unique_ptr<detail::stream::SummaryState> state) : StreamSummary(std::move(state)) {}
};

/// The aggregate of x in the threshold.
struct Aggregate {
    /// Which aggregate of x.
    enum class Kind { Quantile, Min, Max, Average, Count, Sum };
    Kind kind = Kind::Quantile;  ///< which one
    double phi = 0.5;            ///< for Kind::Quantile
};

/// f(v) = scale v + offset.
struct Affine {
    double scale = 1, offset = 0;  ///< of the line
};

/// A sum with its bounds.
template <class T>
struct CorrelatedSum {
    double threshold;        ///< f(AGG(x)), estimated; the nearest double
    std::optional<T> exact;  ///< the threshold, if a value of x's type equals it exactly
    double sum;              ///< estimated
    double lower, upper;     ///< the exact sum is from here to here
};

/// Options of correlated sums.
struct CorrelatedSumOptions {
    double eps = 0.001;                 ///< the error of ranks and sums, see CorrelatedSums; from 1e-9 to 0.5
    std::optional<std::uint64_t> n{};   ///< as for quantiles
    std::size_t window = 0;             ///< as for quantiles
    std::function<double(double)> g{};  ///< of y; unset: the identity
    std::string formula{};              ///< a name for g; it is saved, and summaries with different ones do not merge
};

/// SUM(g(y) : x <= f(AGG(x))) over pairs (x, y); T is the type of x. The sorter sorts 64-bit keys of x and index.
/// 64-bit x takes two sorts, by the lower half and then by the upper half.
///
/// Guarantee: the exact sum is from `lower` to `upper`. `sum` is within eps sum(|g(y)|) of the sum for a threshold
/// f(v), where the rank of v is within eps n of that of AGG(x). Until values are dropped (see Quantiles) all three are
/// exact, if the sums of positive and of negative g(y) fit into 106 bits each, none below 2^-1010; otherwise the bounds
/// include the rounding errors. Average, sum and number of x are exact, and x is compared exactly, also with 64 bits. A
/// pair whose x or y is NaN is not added; nans() counts it.
/// Source: SIGMOD'05 section 5.4; Ananthakrishna et al., TKDE 2003.
template <class T>
class QUADMILL_API CorrelatedSums : public StreamSummary {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// An empty summary. Throws: as that of Quantiles.
    explicit CorrelatedSums(const CorrelatedSumOptions& options = {},
                            std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    /// Adds pairs.
    /// Pre: as many y as x, each g(y) finite; the pairs before one that is not are added.
    /// Throws: as for Quantiles; but if memory ran out while pairs were added to the summary, all later questions throw
    /// Error.
    void add(std::span<const T> x, std::span<const double> y);

    /// The sum for the threshold f(AGG(x)).
    /// Pre: n() > 0; for a quantile, `f` is monotonic over all of x.
    /// Throws: InvalidArgument if f is NaN, or is seen to rise and to fall.
    [[nodiscard]] CorrelatedSum<T> sum(const Aggregate& aggregate, const std::function<double(double)>& f) const;
    /// sum() for a line, by default f(v) = v. Neither AGG(x) nor the threshold is rounded.
    /// Throws: InvalidArgument for a scale or offset that is not finite.
    [[nodiscard]] CorrelatedSum<T> sum(const Aggregate& aggregate, const Affine& f = {}) const;

    /// Adds all pairs of the other summary, which is not changed. eps becomes the larger of both.
    /// Pre: the same g.
    /// Throws: InvalidArgument if formula() differs.
    void merge(const CorrelatedSums& other);
    [[nodiscard]] const std::string& formula() const;  ///< from the options or saved bytes
    /// As Quantiles::load(); `g` is not in the bytes, only its formula, and must be given again.
    [[nodiscard]] static CorrelatedSums load(std::span<const std::byte> bytes, std::function<double(double)> g = {},
                                             std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

  private:
    using State = detail::stream::CorrelatedState;
    [[nodiscard]] State& state() const { return state_as<State>(); }
};

/// The facts in saved bytes, without loading them.
struct SavedSummary {
    /// The kinds, with their numbers in saved bytes.
    enum class Kind {
        Quantiles = 1,
        Frequencies = 2,
        SlidingQuantiles = 3,
        SlidingFrequencies = 4,
        HeavyPrefixes = 5,
        CorrelatedSums = 6,
        TailQuantiles = 7,    ///< Quantiles with a tail
        NameFrequencies = 8,  ///< of names.hpp; the type is KeyType{}, as for the next one
        Distinct = 9,
        Ipv6Prefixes = 10,  ///< HeavyPrefixes of names.hpp; the type is KeyType{}
        Groups = 11,        ///< Grouped of concurrent.hpp
        LastSeconds = 12    ///< Recent of concurrent.hpp
    };
    Kind kind;                    ///< which summary
    KeyType type;                 ///< of its values
    std::optional<Kind> parts{};  ///< for Groups and LastSeconds: the kind of each part
};
/// Reads which summary the bytes hold.
/// Throws: InvalidArgument if they are damaged or not a summary.
[[nodiscard]] QUADMILL_API SavedSummary saved_summary(std::span<const std::byte> bytes);

namespace detail::stream {

QUADMILL_API void write_file(const std::string& path, std::span<const std::byte> bytes);
[[nodiscard]] QUADMILL_API std::vector<std::byte> read_file(const std::string& path);

}  // namespace detail::stream

/// Saves a summary to a file, which gets its name when it is complete.
/// Throws: IoError.
template <class Summary>
void save_file(const Summary& summary, const std::string& path) {
    detail::stream::write_file(path, summary.save());
}
/// Loads the file of save_file(); `how` are further arguments of Summary::load(), such as a sorter.
/// Throws: IoError; otherwise as Summary::load(), with the name of the file.
///
///     const auto monday = load_file<Quantiles<float>>("monday.summary");
template <class Summary, class... How>
[[nodiscard]] Summary load_file(const std::string& path, How&&... how) {
    const auto bytes = detail::stream::read_file(path);
    try {
        return Summary::load(bytes, std::forward<How>(how)...);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(path + ": " + error.what());
    }
}
/// A copy, by save() and load().
template <class Summary, class... How>
[[nodiscard]] Summary copy_of(const Summary& summary, How&&... how) {
    return Summary::load(summary.save(), std::forward<How>(how)...);
}

}  // namespace quadmill
