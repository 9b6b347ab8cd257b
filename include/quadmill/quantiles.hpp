/// Quantiles of a stream in little memory. stream.hpp has the other summaries, and the rules for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/keys.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill {

struct Count;
struct StreamTimes;
struct TextureRegion;
template <class T>
struct Bar;
template <class T>
struct Quantile;

namespace detail::stream {

// The public classes only forward: their states are compiled for all types.
struct SummaryState;
struct QuantilesState;

}  // namespace detail::stream

/// The ends of the order near which ranks are more exact. Let d be the distance of a rank from the end: n + 1 - rank
/// for High, the rank itself for Low, and the smaller of both for Both.
enum class Tail { Off, Low, High, Both };

/// Whether a summary also keeps the mean and the variance of all values.
enum class Moments { Off, Kept };

/// Options of quantiles.
struct QuantileOptions {
    double eps = 0.001;  ///< the error of a rank, as a fraction of n, or of d with a tail; from 1e-9 to 0.5
    std::optional<std::uint64_t> n{};  ///< number of values of the whole stream, if known: the summary is smaller
    /// Values in a window, which are sorted together; at most 2^28. 0: the sorter's choice, WindowSorter::window(eps).
    std::size_t window = 0;
    Tail tail = Tail::Off;           ///< with a tail, n is not used
    Moments moments = Moments::Off;  ///< for stats()
};

/// Count, mean and spread of all values.
template <class T>
struct Stats {
    std::uint64_t n;        ///< values, without NaNs
    T min, max;             ///< exact
    double mean, variance;  ///< up to rounding errors; the variance of a sample, divided by n - 1 (0 if n is 1)
};

/// What the summaries of this header and of stream.hpp have in common.
class QUADMILL_API StreamSummary {
  public:
    [[nodiscard]] double eps() const;          ///< error of the answers, from the options or merged summaries
    [[nodiscard]] std::uint64_t n() const;     ///< values, or pairs, of the whole stream so far, without NaNs
    [[nodiscard]] std::uint64_t nans() const;  ///< NaNs, or pairs with one, so far

    /// The summary as bytes, which docs/stream-format.md describes.
    [[nodiscard]] std::vector<std::byte> save() const;
    /// Bytes of all memory, including values in flight and the CPU's sorter. It does not count freed blocks that
    /// threads keep for later merges: at most 8 MiB a thread, and 32 MiB of all threads.
    [[nodiscard]] std::size_t bytes() const;
    /// Bytes of the summary of all complete windows so far.
    [[nodiscard]] std::size_t summary_bytes() const;
    [[nodiscard]] StreamTimes times() const;  ///< since it was made or loaded

  protected:
    explicit StreamSummary(std::unique_ptr<detail::stream::SummaryState> state);  ///< of the library
    StreamSummary(StreamSummary&&) noexcept;
    StreamSummary& operator=(StreamSummary&&) noexcept;
    ~StreamSummary();
    void add_values(const void* values, std::size_t size);  ///< for the library
    /// For the library.
    template <class State>
    [[nodiscard]] State& state_as() const {
        return static_cast<State&>(*state_);
    }

    std::unique_ptr<detail::stream::SummaryState> state_;  ///< for the library
};

/// Quantiles of all values so far.
///
/// Guarantee: the rank of every answer is within eps n of the requested rank, and within the bounds given with it, for
/// every stream, whether n was given, wrong or unknown. The smallest and the largest value are exact. Every answer is
/// exact until values are dropped, which does not happen before the first window is full. The same values in the same
/// order, in windows of the same length, give the same answers with any sorter. With a tail, the rank of every answer
/// is within eps d of the requested rank, for every stream.
/// Memory: an entry has 12 bytes (16 for 64-bit types; 24 from 2^16 entries per bucket or 2^32 values on), and 5 to 11
/// when saved. Let w be the number of windows. If n is known, there are at most (1 + log2 w)^2 / eps entries, otherwise
/// at most 10 (1 + log2 w) / eps up to 2^12 windows, and 2,550 / eps up to 2^36. For random values there are at most
/// half as many. In addition, the sorter has four batches, of at least one window each; with one thread, and up to 16
/// batches of values, only the unfinished window. Of this window at most 4 / eps values are saved as they are; more are
/// saved as a sample. A merge with summaries of another eps or n keeps eps, but may keep all entries. With a tail: a
/// merged summary of w windows has at most 16 (1 + ln(eps n)) / eps entries (twice that for both ends), and there are
/// up to 1 + log2 w of these. save() reduces them to about (1 + ln(2 eps n)) / eps entries of 5 to 9 bytes, with an
/// error of 0.8 eps. Merges of saved summaries drop fewer entries, because each merge of two may add only eps / 75 to
/// the error until it is eps.
/// Throws: InvalidArgument for options out of range, or for questions about no values; what the sorter throws (no value
/// is lost); std::bad_alloc (windows without memory are lost, n() does not count them, and the guarantee holds for the
/// others).
/// Source: SIGMOD'05 section 5.2; Greenwald and Khanna, PODS 2004. The error of bucket b is eps / 4 + 3 eps (b - 1) /
/// (4 (log w + 1)), where theirs is eps / 2 + eps b / (2 (log w + 1)); the formula printed in SIGMOD'05 exceeds eps.
///
///     Quantiles<float> latencies({.eps = 0.001});
///     latencies.add(values);
///     const auto median = latencies.quantile(0.5);  // median.value, median.rank_lower, median.rank_upper
template <class T>
class QUADMILL_API Quantiles : public StreamSummary {
    static_assert(SortableKey<T>, "values are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t");

  public:
    /// An empty summary.
    /// Throws: InvalidArgument for options out of range.
    explicit Quantiles(const QuantileOptions& options = {},
                       std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

    /// Adds the values. May return before all are sorted; later calls wait if they must.
    void add(std::span<const T> values);
    void add(T value);  ///< one value
    /// Adds each value as often as its weight says; n is the sum of all weights. The values are one window of the
    /// stream, so calls with fewer than 1 / eps values take more time per value.
    /// Throws: InvalidArgument for different lengths, or if all weights were more than 2^60.
    void add(std::span<const T> values, std::span<const std::uint64_t> weights);

    /// Adds values that were sorted elsewhere, given by a sample. -0 counts as 0.
    /// Guarantee: as for add().
    /// Throws: InvalidArgument if they do not ascend or one is NaN, if their number does not fit n and step, or if a
    /// step skips more than 2 sample_eps() n ranks.
    void add_sample(const RankSample<T>& sample);
    /// The max distance of any rank from a sampled one in add_sample(), as a fraction of n.
    [[nodiscard]] double sample_eps() const;
    /// Adds the keys in a texture of the caller as one window of the stream: `sorter`, a Sorter, sorts them on the GPU,
    /// and only a sample is read back. Shape, Cost, Throws: as Sorter::sample_texture(). (A template, so that programs
    /// without OpenGL need no Sorter.)
    ///
    ///     heights.add_texture(sorter, {.texture = terrain});
    template <class TextureSorter>
    void add_texture(TextureSorter& sorter, const TextureRegion& keys, int channel = 0) {
        add_sample(sorter.template sample_texture<T>(keys, sample_eps(), channel));
    }

    [[nodiscard]] Tail tail() const;        ///< from the options
    [[nodiscard]] Moments moments() const;  ///< whether stats() may be called; merges may turn them off

    /// Count, min, max, mean and variance.
    /// Pre: Moments::Kept; n() > 0; no merge with a summary without moments.
    [[nodiscard]] Stats<T> stats() const;

    /// The phi-quantile, within eps n ranks of the requested rank.
    /// Pre: 0 <= phi <= 1; n() > 0.
    [[nodiscard]] Quantile<T> quantile(double phi) const;
    /// Answers for all phis, in that order.
    [[nodiscard]] std::vector<Quantile<T>> quantiles(std::span<const double> phis) const;
    /// The same for quantiles({0.5, 0.99}).
    [[nodiscard]] std::vector<Quantile<T>> quantiles(std::initializer_list<double> phis) const {
        return quantiles(std::span(phis.begin(), phis.size()));
    }
    /// The number of values that are at most `value`.
    /// Pre: not NaN.
    [[nodiscard]] Count rank(T value) const;
    /// A Count as a fraction of n.
    struct Part {
        double lower, estimate, upper;  ///< lower <= the fraction <= upper
    };
    /// rank() as a fraction of n.
    /// Pre: not NaN; n() > 0.
    [[nodiscard]] Part cdf(T value) const;
    /// Bars with about equal numbers of values; fewer bars if one value is so frequent that it would fill several.
    /// Pre: bars > 0.
    [[nodiscard]] std::vector<Bar<T>> histogram(std::size_t bars) const;

    /// Adds all values of the other summary, which is not changed. eps becomes the larger of both.
    /// Pre: the same tail.
    void merge(const Quantiles& other);
    /// Merges all of them together.
    void merge(std::span<const Quantiles> others);
    /// Loads the bytes of save(); the summary goes on with that sorter.
    /// Throws: InvalidArgument if the bytes are damaged, or hold another kind of summary or type.
    [[nodiscard]] static Quantiles load(std::span<const std::byte> bytes,
                                        std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));

  private:
    template <class>
    friend class SlidingQuantiles;
    using State = detail::stream::QuantilesState;
    friend detail::Access;
    [[nodiscard]] State& state() const { return state_as<State>(); }
    explicit Quantiles(std::unique_ptr<detail::stream::SummaryState> state) : StreamSummary(std::move(state)) {}
};

/// A number of values that is not known exactly. It is guaranteed to be from lower to upper.
struct Count {
    std::uint64_t lower = 0, estimate = 0, upper = 0;  ///< lower <= the number <= upper
    bool operator==(const Count&) const = default;
};

/// The phi-quantile of n values is the value of rank ceil(phi n), the smallest value for phi = 0 (ranks count from 1).
template <class T>
struct Quantile {
    double phi;                            ///< as requested
    T value;                               ///< one of the stream's values
    std::uint64_t rank;                    ///< the requested rank
    std::uint64_t rank_lower, rank_upper;  ///< the rank of `value` is from here to here
};

/// A bar of an equi-depth histogram: values above `from` (the first bar: from it on) up to `to`.
template <class T>
struct Bar {
    T from, to;   ///< values of the stream
    Count count;  ///< of values in the bar
};

/// Times in milliseconds, as in Fig. 6 of SIGMOD'05. Sorting overlaps with the others, unless it is done on the
/// caller's thread. The last three are the whole time of the summary, including answers about an unfinished window.
struct StreamTimes {
    double upload = 0, sort = 0, readback = 0;  ///< of the sorter
    double sample = 0;                          ///< sorted windows to summaries: sampling, or the histogram
    double merge = 0, compress = 0;             ///< summaries with each other, and what each drops
};

}  // namespace quadmill
