/// Summaries of streams in little memory: quantiles, frequent values, both over sliding windows, heavy prefixes and
/// correlated sums, each with bounds that hold for every stream.
///
/// A stream is cut into windows; a WindowSorter sorts them (CPU threads, or the graphics pipeline, see
/// window_sorter.hpp), and a summary takes what it needs from each. Values are of the types that sort.hpp sorts, in its
/// order, but -0 counts as 0. NaNs are no values: they are counted apart (nans()). One thread at a time may change a
/// summary; while none does, any number may call its const functions, but with a sorter on the GPU only the thread of
/// its context. Copying a summary is saving and loading it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/keys.hpp"
#include "quadmill/paper.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill {

struct Count;
struct StreamTimes;
struct TextureRegion;
template <class T>
struct Bar;
template <class T>
struct Quantile;

/// How a summary of quantiles is made.
struct QuantileOptions {
    double eps = 0.001;                ///< the error of a rank, as a part of n; from 1e-9 to 0.5
    std::optional<std::uint64_t> n{};  ///< of the whole stream, where it is known: the summary is smaller
    /// Values that are sorted at once, at most 2^28. 0 takes what the sorter is good at, WindowSorter::window(eps).
    std::size_t window = 0;
};

/// Quantiles of all values so far.
///
/// Guarantee: the rank of every answer is within eps n of the one asked for, and within the bounds given with it, for
/// every stream, whether n was given, wrong or unknown. The least and the greatest value are exact; so is every answer
/// while nothing was dropped, as before the first window is full. The same values in the same order and windows of the
/// same length give the same answers, whatever the sorter.
/// Memory: with w windows of n values, for n known (1 + log2 w)^2 / eps entries; for n unknown, 10 (1 + log2 w) / eps
/// up to 2^12 windows, 2,550 / eps up to 2^36; of random values half of that and less. An entry has 12 bytes (16 for
/// 64-bit types; 24 from 2^16 entries a bucket or 2^32 values on), 5 to 11 when it is saved. Besides, the values of
/// four batches of the sorter, of at least one window each; of these no more than 4 / eps are saved as they are.
/// Merging summaries that were made with another eps or n keeps eps, but may keep all their entries.
/// Throws: InvalidArgument for options out of range, or what is asked of no values; what the sorter throws (no value is
/// lost then); std::bad_alloc (windows that there was no memory for are lost, n() does not count them, and the summary
/// is as good as ever for the others).
/// Source: SIGMOD'05 section 5.2; Greenwald and Khanna, PODS 2004. The error of bucket b is eps / 4 + 3 eps (b - 1) /
/// (4 (log w + 1)), in their place of eps / 2 + eps b / (2 (log w + 1)); the formula that is printed there breaks eps.
///
///     Quantiles<float> latencies({.eps = 0.001});
///     latencies.add(values);
///     const auto median = latencies.quantile(0.5);  // median.value, median.rank_lower, median.rank_upper
template <class T>
class QUADMILL_API Quantiles {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// A summary of no values yet.
    /// Throws: InvalidArgument for options out of range.
    explicit Quantiles(const QuantileOptions& options = {},
                       std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    Quantiles(Quantiles&&) noexcept;
    Quantiles& operator=(Quantiles&&) noexcept;
    ~Quantiles();

    /// Adds the values. May return before all are sorted; the next call waits for it where it must.
    void add(std::span<const T> values);
    void add(T value) { add(std::span<const T>(&value, 1)); }  ///< one value

    /// Adds values that were sorted elsewhere, of which only a sample is at hand. -0 counts as 0, as everywhere here.
    /// Guarantee: as for add().
    /// Throws: InvalidArgument when they do not ascend or one is a NaN, when there are not as many as n and step ask
    /// for, and when a step passes over more than 2 sample_eps() n ranks.
    void add_sample(const RankSample<T>& sample);
    /// How far, as a part of n, a rank may be from those that add_sample()'s samples have.
    [[nodiscard]] double sample_eps() const;
    /// Adds the keys in a texture of the caller's, one window of the stream: `sorter`, a Sorter, sorts them on the GPU,
    /// and a sample alone is read back. Shape, Cost, Throws: as Sorter::sample_texture(). (A template, so that programs
    /// without OpenGL need no Sorter.)
    ///
    ///     heights.add_texture(sorter, {.texture = terrain});
    template <class TextureSorter>
    void add_texture(TextureSorter& sorter, const TextureRegion& keys, int channel = 0) {
        add_sample(sorter.template sample_texture<T>(keys, sample_eps(), channel));
    }

    [[nodiscard]] std::uint64_t n() const;     ///< values so far, without NaNs
    [[nodiscard]] std::uint64_t nans() const;  ///< NaNs so far
    [[nodiscard]] double eps() const;          ///< of the answers, from the options or what was merged

    /// The phi-quantile, within eps n ranks of the one asked for.
    /// Pre: 0 <= phi <= 1; n() > 0.
    [[nodiscard]] Quantile<T> quantile(double phi) const;
    /// As many answers, in that order.
    [[nodiscard]] std::vector<Quantile<T>> quantiles(std::span<const double> phis) const;
    /// How many values are at most that.
    /// Pre: no NaN.
    [[nodiscard]] Count rank(T value) const;
    /// A Count as a part of n.
    struct Part {
        double lower, estimate, upper;  ///< lower <= the part <= upper
    };
    /// rank() as a part of n.
    /// Pre: no NaN; n() > 0.
    [[nodiscard]] Part cdf(T value) const;
    /// Bars that hold about as many values each; fewer where a value is so frequent that it would fill several.
    /// Pre: bars > 0.
    [[nodiscard]] std::vector<Bar<T>> histogram(std::size_t bars) const;

    /// Takes over all values of the other, which stays as it is. eps becomes the larger of both.
    void merge(const Quantiles& other);
    /// The summary as bytes, which docs/stream-format.md describes.
    [[nodiscard]] std::vector<std::byte> save() const;
    /// The summary that save() made the bytes of, which goes on with that sorter.
    /// Throws: InvalidArgument when the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static Quantiles load(std::span<const std::byte> bytes,
                                        std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    /// The bytes of all memory, values on their way and the CPU's sorter included.
    [[nodiscard]] std::size_t bytes() const;
    /// The bytes of the summary of all whole windows so far.
    [[nodiscard]] std::size_t summary_bytes() const;
    [[nodiscard]] StreamTimes times() const;  ///< since it was made or loaded

  private:
    template <class>
    friend class SlidingQuantiles;
    struct State;
    explicit Quantiles(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A number of values that is not known exactly: it is surely from lower to upper.
struct Count {
    std::uint64_t lower = 0, estimate = 0, upper = 0;  ///< lower <= the number <= upper
    bool operator==(const Count&) const = default;
};

/// The phi-quantile of n values is the one of rank ceil(phi n), the least for phi = 0 (ranks count from 1).
template <class T>
struct Quantile {
    double phi;                            ///< as asked
    T value;                               ///< one of the stream's values
    std::uint64_t rank;                    ///< that was asked for
    std::uint64_t rank_lower, rank_upper;  ///< the rank of `value` is from here to here
};

/// A bar of an equi-depth histogram: values above `from` (the first bar: from it on) up to `to`.
template <class T>
struct Bar {
    T from, to;   ///< values of the stream
    Count count;  ///< of values in the bar
};

/// A value that occurs often.
template <class T>
struct Frequent {
    T value;      ///< of the stream
    Count count;  ///< the estimate is the lower bound, as in lossy counting
};

/// Where the time went, in milliseconds, as in Fig. 6 of SIGMOD'05. Sorting overlaps with the others, unless it is done
/// on the caller's thread. The last three are all that the summary takes, answers about an unfinished window included.
struct StreamTimes {
    double upload = 0, sort = 0, readback = 0;  ///< of the sorter
    double sample = 0;                          ///< sorted windows to summaries: sampling, or the histogram
    double merge = 0, compress = 0;             ///< summaries with each other, and what each drops
};

/// How frequent values are counted.
struct FrequencyOptions {
    double eps = 0.001;      ///< the error of a count, as a part of n; from 1e-9 to 0.5
    std::size_t window = 0;  ///< as for quantiles, but at least 1 / eps (up to 2^24), which is the paper's own
};

/// The frequent values of all so far: lossy counting.
///
/// Guarantee: a count's estimate is at most eps n too low and never too high; frequent(s) has every value that occurs s
/// n times or more, and none that occurs less than (s - eps) n times. Values of an unfinished window are counted
/// exactly.
/// Memory: at most (1 / eps) log(eps n) entries of 24 bytes, and a few, often far fewer.
/// Source: SIGMOD'05 section 5.1; Manku and Motwani, VLDB 2002, whose rule of compressing is the one used: a value goes
/// when its upper bound is at most eps n. (Deleting counts of one, as printed there, breaks the bound on memory.)
/// Windows of more than 1 / eps values are several of theirs, counted together.
///
///     Frequencies<std::uint32_t> ports({.eps = 0.0001});
///     ports.add(values);
///     for (const auto& port : ports.frequent(0.01)) print(port.value, port.count.estimate);
template <class T>
class QUADMILL_API Frequencies {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// A summary of no values yet.
    /// Throws: InvalidArgument for options out of range.
    explicit Frequencies(const FrequencyOptions& options = {},
                         std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    Frequencies(Frequencies&&) noexcept;
    Frequencies& operator=(Frequencies&&) noexcept;
    ~Frequencies();

    void add(std::span<const T> values);                       ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }  ///< one value

    [[nodiscard]] std::uint64_t n() const;     ///< values so far, without NaNs
    [[nodiscard]] std::uint64_t nans() const;  ///< NaNs so far
    [[nodiscard]] double eps() const;          ///< of the counts

    /// The values that occur support n times or more, as the class guarantees: most frequent first, equal ones by
    /// value.
    /// Pre: eps() <= support <= 1.
    [[nodiscard]] std::vector<Frequent<T>> frequent(double support) const;
    /// How often a value occurs.
    /// Pre: no NaN.
    [[nodiscard]] Count count(T value) const;

    /// Takes over all of the other, which stays as it is. eps becomes the larger of both.
    void merge(const Frequencies& other);
    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// The summary that save() made the bytes of, which goes on with that sorter.
    /// Throws: InvalidArgument when the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static Frequencies load(std::span<const std::byte> bytes,
                                          std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    [[nodiscard]] std::size_t bytes() const;          ///< of memory, values on their way included
    [[nodiscard]] std::size_t summary_bytes() const;  ///< of the summary of whole windows
    [[nodiscard]] StreamTimes times() const;          ///< since it was made or loaded

  private:
    template <class>
    friend class SlidingFrequencies;
    struct State;
    explicit Frequencies(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Which widths a sliding window answers for.
enum class Widths {
    Fixed,     ///< the last `window` values
    Variable,  ///< the last W values for any W up to `window`, with an error of eps W; takes more memory
};

/// How a sliding window is kept.
struct SlidingOptions {
    double eps = 0.01;              ///< the error of a rank or count, as a part of the window; from 1e-6 to 0.5
    std::uint64_t window = 0;       ///< values; from 1 to 2^40
    Widths widths = Widths::Fixed;  ///< which widths may be asked for
    /// A summary that may take more memory than this is refused; the message says how many bytes it may take.
    std::uint64_t max_bytes = std::uint64_t{1} << 33U;
    SlidingPaperOptions paper{};  ///< the forms of SIGMOD'05
};

/// Quantiles of the last values of a stream.
///
/// Guarantee: for all but NaNs, the rank of every answer among the last W values (W = window, or fewer at the start of
/// the stream) is within eps W of the one asked for, and the answer is one of them.
/// Memory: L = log2(4 / eps) levels of blocks. A window of up to 4 (L + 1)^2 / eps values is kept as it is, and answers
/// are exact, but for RawValues::Never; where few values came since the last one, they are merged into what was sorted.
/// Fixed: blocks of 2 (L + 1)^2 / eps entries of 12 to 24 bytes in all, and 4 (L + 1)^2 / eps more at most that are
/// being merged, half as much again while the stream is shorter than the window; and four batches of max(32 (L + 1) /
/// eps, 2^14) values, however long the window. Variable: blocks of some 6 (L + 1) ln(8 / eps) log2(window eps) /
/// eps entries, and the last 128 / eps values.
/// Throws: InvalidArgument where all this may be more than max_bytes; else as Quantiles.
/// Source: SIGMOD'05 section 5.3; Arasu and Manku, PODS 2004: the error of a block on level l is eps / (2 (2 L + 2))
/// 2^(L - l) of its values.
template <class T>
class QUADMILL_API SlidingQuantiles {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// A summary of no values yet.
    /// Throws: InvalidArgument for options out of range, or too much memory.
    explicit SlidingQuantiles(const SlidingOptions& options,
                              std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    SlidingQuantiles(SlidingQuantiles&&) noexcept;
    SlidingQuantiles& operator=(SlidingQuantiles&&) noexcept;
    ~SlidingQuantiles();

    void add(std::span<const T> values);                       ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }  ///< one value

    [[nodiscard]] std::uint64_t n() const;                ///< of the whole stream, without NaNs
    [[nodiscard]] std::uint64_t nans() const;             ///< of the whole stream
    [[nodiscard]] const SlidingOptions& options() const;  ///< as given

    /// A quantile of the last `width` values, by default the whole window; bounds of ranks are among these.
    /// Pre: 0 <= phi <= 1; 1 <= width <= window, and width = window unless widths are variable; n() > 0.
    [[nodiscard]] Quantile<T> quantile(double phi, std::optional<std::uint64_t> width = {}) const;
    /// As many answers, in that order.
    [[nodiscard]] std::vector<Quantile<T>> quantiles(std::span<const double> phis,
                                                     std::optional<std::uint64_t> width = {}) const;
    /// The window as a summary of its own, which can be merged with those of other streams and asked for more: the last
    /// `width` values, or up to eps width / 4 fewer.
    /// Pre: `width` as for quantile().
    [[nodiscard]] Quantiles<T> summary(std::optional<std::uint64_t> width = {}) const;

    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// The summary that save() made the bytes of, which goes on with that sorter.
    /// Throws: InvalidArgument when the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static SlidingQuantiles load(std::span<const std::byte> bytes,
                                               std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    [[nodiscard]] std::size_t bytes() const;          ///< of memory, values on their way included
    [[nodiscard]] std::size_t summary_bytes() const;  ///< of the summary of whole windows
    [[nodiscard]] StreamTimes times() const;          ///< since it was made or loaded

  private:
    struct State;
    explicit SlidingQuantiles(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// The frequent values of the last ones of a stream; otherwise as SlidingQuantiles.
///
/// Guarantee: among the last W values, a count's estimate is at most eps W too low and never too high; frequent(s) has
/// every value that occurs s W times or more, and none that occurs less than (s - eps) W times.
template <class T>
class QUADMILL_API SlidingFrequencies {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// A summary of no values yet.
    /// Throws: InvalidArgument for options out of range, or too much memory.
    explicit SlidingFrequencies(const SlidingOptions& options,
                                std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    SlidingFrequencies(SlidingFrequencies&&) noexcept;
    SlidingFrequencies& operator=(SlidingFrequencies&&) noexcept;
    ~SlidingFrequencies();

    void add(std::span<const T> values);                       ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }  ///< one value

    [[nodiscard]] std::uint64_t n() const;                ///< of the whole stream, without NaNs
    [[nodiscard]] std::uint64_t nans() const;             ///< of the whole stream
    [[nodiscard]] const SlidingOptions& options() const;  ///< as given

    /// The frequent ones of the last `width` values, in the order of Frequencies::frequent().
    /// Pre: eps <= support <= 1; `width` as for SlidingQuantiles::quantile().
    [[nodiscard]] std::vector<Frequent<T>> frequent(double support, std::optional<std::uint64_t> width = {}) const;
    /// As SlidingQuantiles::summary().
    [[nodiscard]] Frequencies<T> summary(std::optional<std::uint64_t> width = {}) const;

    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// The summary that save() made the bytes of, which goes on with that sorter.
    /// Throws: InvalidArgument when the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static SlidingFrequencies load(std::span<const std::byte> bytes,
                                                 std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    [[nodiscard]] std::size_t bytes() const;          ///< of memory, values on their way included
    [[nodiscard]] std::size_t summary_bytes() const;  ///< of the summary of whole windows
    [[nodiscard]] StreamTimes times() const;          ///< since it was made or loaded

  private:
    struct State;
    explicit SlidingFrequencies(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Which prefixes are counted, and how well.
struct HeavyPrefixOptions {
    double eps = 0.001;          ///< the error of a count, as a part of n; from 1e-6 to 0.5
    double support = 0.01;       ///< the least that heavy() will be asked for; from 2 eps to 1
    std::vector<int> lengths{};  ///< of the prefixes, in bits, ascending, from 0 to 32 (64 for 64-bit values)
    std::size_t window = 0;      ///< as for quantiles
};

/// Which prefixes are heavy.
enum class HeavyRule {
    Discounted,  ///< those of which enough is left without the longer prefixes that are heavy themselves
    All,         ///< as SIGMOD'05 section 5.4 has it: all under which enough values are
};

/// A prefix of some values: the first `length` bits are those of `value`, whose other bits are 0.
template <class T>
struct HeavyPrefix {
    T value{};         ///< its other bits are 0
    int length = 0;    ///< in bits
    Count count;       ///< of all values with that prefix
    Count discounted;  ///< of those that have no longer prefix that is heavy itself
};

/// Hierarchical heavy hitters: the prefixes under which values are frequent that are not accounted for by a longer
/// heavy prefix already. T is std::uint32_t or std::uint64_t.
///
/// Guarantee: with H the prefixes that heavy(s) returns and d(p) the values under p that are under no longer prefix of
/// H: every prefix with d(p) >= s n is in H, and none of H has d(p) < (s - eps) n; the bounds of `count` and
/// `discounted` hold and are at most eps n apart.
/// Memory: a lossy count (see Frequencies) a length, of an error of eps / (1 + 2 / support) each, so that the
/// errors of those prefixes that are taken off sum up to eps.
/// Source: SIGMOD'05 section 5.4; Cormode, Korn, Muthukrishnan and Srivastava, VLDB 2003.
///
///     HeavyPrefixes<std::uint32_t> sources({.eps = 0.001, .support = 0.01, .lengths = {0, 8, 16, 24, 32}});
template <class T>
class QUADMILL_API HeavyPrefixes {
    static_assert(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>,
                  "values are std::uint32_t or std::uint64_t");

  public:
    /// A summary of no values yet.
    /// Throws: InvalidArgument for options out of range.
    explicit HeavyPrefixes(const HeavyPrefixOptions& options,
                           std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    HeavyPrefixes(HeavyPrefixes&&) noexcept;
    HeavyPrefixes& operator=(HeavyPrefixes&&) noexcept;
    ~HeavyPrefixes();

    void add(std::span<const T> values);                       ///< as for Quantiles
    void add(T value) { add(std::span<const T>(&value, 1)); }  ///< one value

    [[nodiscard]] std::uint64_t n() const;                    ///< values so far
    [[nodiscard]] const HeavyPrefixOptions& options() const;  ///< as given, or as merging made them

    /// The heavy prefixes, longest first, equal ones by value. With HeavyRule::All the guarantee is about all values
    /// under p, not d(p).
    /// Pre: options().support <= support <= 1.
    [[nodiscard]] std::vector<HeavyPrefix<T>> heavy(double support, HeavyRule rule = HeavyRule::Discounted) const;

    /// Takes over all of the other, which stays as it is. eps and support become the larger ones.
    /// Pre: the same lengths.
    void merge(const HeavyPrefixes& other);
    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// The summary that save() made the bytes of, which goes on with that sorter.
    /// Throws: InvalidArgument when the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static HeavyPrefixes load(std::span<const std::byte> bytes,
                                            std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    [[nodiscard]] std::size_t bytes() const;          ///< of memory, values on their way included
    [[nodiscard]] std::size_t summary_bytes() const;  ///< of the summaries of whole windows
    [[nodiscard]] StreamTimes times() const;          ///< since it was made or loaded

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// An aggregate of the first of two columns.
struct Aggregate {
    /// Which aggregate of x.
    enum class Kind { Quantile, Min, Max, Average, Count, Sum };
    Kind kind = Kind::Quantile;  ///< the one that is meant
    double phi = 0.5;            ///< of Kind::Quantile
};

/// f(v) = scale v + offset.
struct Affine {
    double scale = 1, offset = 0;  ///< of the line
};

/// A sum, and where it may be.
template <class T>
struct CorrelatedSum {
    double threshold;        ///< f(AGG(x)), estimated; the double that is nearest to it
    std::optional<T> exact;  ///< the same, where a value of x's type is just that
    double sum;              ///< estimated
    double lower, upper;     ///< the exact sum is from here to here
};

/// How correlated sums are kept.
struct CorrelatedSumOptions {
    double eps = 0.001;                 ///< the error of ranks and sums, see CorrelatedSums; from 1e-9 to 0.5
    std::optional<std::uint64_t> n{};   ///< as for quantiles
    std::size_t window = 0;             ///< as for quantiles
    std::function<double(double)> g{};  ///< of y; the identity when there is none
};

/// SUM(g(y) : x <= f(AGG(x))) over pairs (x, y); T is the type of x. The sorter sorts 64-bit keys of x and place; where
/// x has 64 bits, by its lower half first, and then by its upper half and the place that this led to.
///
/// Guarantee: the exact sum is from `lower` to `upper`. `sum` is within eps sum(|g(y)|) of the sum for a threshold
/// f(v), where the rank of v is within eps n of that of AGG(x). While nothing was dropped (see Quantiles) all three are
/// exact, if the sums of positive and of negative g(y) fit into 106 bits each, none below 2^-1010; else what rounding
/// may lose is in the bounds. Average, sum and number of x are exact, and x is compared exactly, of 64 bits too. A pair
/// whose x or y is NaN is no value, and counted by nans().
/// Source: SIGMOD'05 section 5.4; Ananthakrishna et al., TKDE 2003.
template <class T>
class QUADMILL_API CorrelatedSums {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// A summary of no pairs yet.
    /// Throws: InvalidArgument for options out of range.
    explicit CorrelatedSums(const CorrelatedSumOptions& options = {},
                            std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    CorrelatedSums(CorrelatedSums&&) noexcept;
    CorrelatedSums& operator=(CorrelatedSums&&) noexcept;
    ~CorrelatedSums();

    /// Adds pairs.
    /// Pre: as many y as x, each g(y) finite; the pairs before one that is not are added.
    /// Throws: as for Quantiles; but where memory ended while pairs were on their way into the summary, all that is asked
    /// of it afterwards throws Error.
    void add(std::span<const T> x, std::span<const double> y);

    [[nodiscard]] std::uint64_t n() const;     ///< pairs so far, without NaNs
    [[nodiscard]] std::uint64_t nans() const;  ///< pairs with a NaN
    [[nodiscard]] double eps() const;          ///< of ranks and sums

    /// The sum for the threshold f(AGG(x)).
    /// Pre: n() > 0; for a quantile, `f` rises or falls over all of x.
    /// Throws: InvalidArgument where f is not a number, or is seen to rise and to fall.
    [[nodiscard]] CorrelatedSum<T> sum(const Aggregate& aggregate, const std::function<double(double)>& f) const;
    /// The same for a line, by default f(v) = v, without any rounding of AGG(x) or of the threshold that x is compared
    /// to.
    /// Throws: InvalidArgument for a scale or offset that is not finite.
    [[nodiscard]] CorrelatedSum<T> sum(const Aggregate& aggregate, const Affine& f = {}) const;

    /// Takes over all pairs of the other, which stays as it is. eps becomes the larger of both.
    /// Pre: the same g.
    void merge(const CorrelatedSums& other);
    [[nodiscard]] std::vector<std::byte> save() const;  ///< as Quantiles::save()
    /// As Quantiles::load(); `g` is not in the bytes and must be given again.
    [[nodiscard]] static CorrelatedSums load(std::span<const std::byte> bytes, std::function<double(double)> g = {},
                                             std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    [[nodiscard]] std::size_t bytes() const;          ///< of memory, values on their way included
    [[nodiscard]] std::size_t summary_bytes() const;  ///< of the summary of whole windows
    [[nodiscard]] StreamTimes times() const;          ///< since it was made or loaded

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What saved bytes hold, without loading them.
struct SavedSummary {
    /// As saved bytes name them.
    enum class Kind {
        Quantiles = 1,
        Frequencies = 2,
        SlidingQuantiles = 3,
        SlidingFrequencies = 4,
        HeavyPrefixes = 5,
        CorrelatedSums = 6
    };
    Kind kind;     ///< which summary
    KeyType type;  ///< of its values
};
/// Says what summary the bytes hold.
/// Throws: InvalidArgument when they are damaged or no summary.
[[nodiscard]] QUADMILL_API SavedSummary saved_summary(std::span<const std::byte> bytes);

}  // namespace quadmill
