/// Count-min sketches: how often keys occur, in a table of counters of any size, where no key is kept.
///
/// The family of QSketch (Qin, Zhang, Yan, Govindaraju, Chiu: 'QSketch: GPU-Aware Probabilistic Sketch Data
/// Structures'). Each key increments `depth` counters that a hash chooses; its estimate is the least of them. On the
/// GPU an insert is a point drawn with additive blending, and a query a gather and a minimum in a fragment program.
/// Counters are exact integers whatever holds them: a table filled by one engine equals that of another, counter by
/// counter.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/stream.hpp"

namespace quadmill {

/// Where the counters of a key are. There are width * depth of them, of 32 bits, where a kind does not say otherwise.
enum class SketchKind {
    Thread,   ///< one in each of `depth` rows of `width` counters: the count-min sketch itself
    Warp,     ///< `depth` of the 32 in one bucket, by a mask that the hash chooses
    Half,     ///< the same with 16 in a bucket
    Quarter,  ///< the same with 8
    /// Multi-level: 28 counters of 8 bits and an index in the 32 bytes of a bucket of Quarter; a bucket one of whose
    /// counters would pass 128 gets one of wide counters as well.
    Msws,
    /// Slim and fat: each counter of Quarter is the largest of `fat` counters, of which a second hash chooses one. The
    /// fat table is on the CPU, and the slim one, made from it, on the GPU.
    Sf
};

/// What fills the table and answers.
enum class SketchEngine {
    Auto,           ///< what was measured fastest; the CPU on software renderers and where there is no context
    Cpu,            ///< loops on CPU threads
    BlendCounters,  ///< a point a counter: `depth` points a key into one channel; but for Sf
    BlendBuckets,   ///< a point a key, the mask its colour: Quarter writes 2 render targets, Half 4, Warp 8
    BlendPacked,    ///< the same with two counters of 12 bits in a channel: 1, 2 or 4 render targets
    Sort  ///< no scatter: a batch's places are sorted, and each texel of the table counts its run; but for Msws, Sf
};

/// What a sketch is made of.
struct SketchOptions {
    SketchKind kind = SketchKind::Quarter;  ///< where a key's counters are
    std::uint64_t width = 0;  ///< counters a row, of buckets all over depth; at least 1; see suggest_width
    int depth = 3;            ///< counters a key, from 1 to 16, no more than a bucket has; see suggest_depth
    int fat = 3;              ///< of Sf, from 1 to 255
    std::uint64_t seed = 0;   ///< of the hash functions
    SketchEngine engine = SketchEngine::Auto;  ///< who fills and asks it
    unsigned threads = 0;                      ///< of the CPU; 0 takes as many as the machine has
};

/// How often a key was inserted, less how often it was removed: never more than upper, which is the estimate; at least
/// lower with the probability that the class says.
struct SketchCount {
    std::uint64_t lower = 0, estimate = 0, upper = 0;  ///< see above
    bool operator==(const SketchCount&) const = default;
};

/// Counts keys of type T: std::uint32_t, std::uint64_t, float (-0 is 0, all NaNs are one key) or std::string_view.
///
/// Guarantee: while every remove follows an insert of the same key and weight, no estimate is less than the true count.
/// With N the sum of all weights inserted less those removed, and of seeds chosen at random: the estimate of Thread is
/// at most the true count + e N / width with probability 1 - e^-depth (to within width / 2^32 of it). Of the other
/// kinds, whose counters of a key lie in one bucket and are not independent, with the same probability it is at most
/// the true count + e^depth N depth / counters, where Sf counts its slim ones; docs/notes/sketches.md says how much
/// nearer they are. `lower` is the estimate less that error. Nothing depends on the order of inserts, on batches or on
/// the engine.
/// Memory: Thread, Warp, Half and Quarter 4 width depth bytes on the CPU, from a sum of weights of 2^32 on 8; on the
/// GPU three times that, and two batches of keys, of 2^22 each or a quarter of the table's counters, but no more than
/// 2^24. Msws 4 width depth bytes, and 224 for each bucket with a counter above 128; on the GPU twice that, and while
/// points are drawn 14 width depth. Sf `fat` times that of Quarter.
/// Throws: InvalidArgument, GlError, ContextError, std::bad_alloc. After an error of the GPU the counters are lost:
/// every later call but for those of moving and destroying throws.
/// Source: QSketch, algorithms 1 to 6 (with `id * m + i` in line 19 of algorithm 2).
///
///     Sketch<std::uint32_t> ports({.width = suggest_width(0.0001)});
///     ports.insert(values);
///     const auto count = ports.query(443);  // count.lower, count.estimate, count.upper
template <class T>
class QUADMILL_API Sketch {
    static_assert(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
                      std::same_as<T, std::string_view>,
                  "keys are std::uint32_t, std::uint64_t, float or std::string_view");

  public:
    /// A sketch of no keys yet, on the CPU alone.
    /// Throws: InvalidArgument for options out of range, and for an engine of the GPU.
    explicit Sketch(const SketchOptions& options);
    /// The same in a context.
    /// Throws: InvalidArgument for options out of range, an engine that the kind does not go with, or a table larger
    /// than textures.
    Sketch(const Context& context, const SketchOptions& options);
    Sketch(Sketch&&) noexcept;
    Sketch& operator=(Sketch&&) noexcept;
    ~Sketch();

    /// Counts each key once.
    /// Cost: one upload of the keys; does not wait for the GPU but where the driver must free memory for transfers, or
    /// where packed counters are checked.
    void insert(std::span<const T> keys);
    void insert(T key) { insert(std::span<const T>(&key, 1)); }  ///< one key, once
    /// Counts each key as often as its weight says.
    /// Shape: as many weights as keys.
    /// Cost: weights of more than 256 in the mean are added by the CPU, whatever the engine.
    void insert(std::span<const T> keys, std::span<const std::uint32_t> weights);
    /// Takes back what was inserted.
    /// Pre: each key was inserted as often, else estimates may be too low.
    /// Throws: InvalidArgument, before any work, for more than n().
    void remove(std::span<const T> keys);
    void remove(T key) { remove(std::span<const T>(&key, 1)); }  ///< one key, once
    /// Takes back each key as often as its weight says.
    /// Shape: as many weights as keys.
    void remove(std::span<const T> keys, std::span<const std::uint32_t> weights);

    /// How often each key occurs.
    /// Shape: as many counts as keys, in their order.
    [[nodiscard]] std::vector<SketchCount> query(std::span<const T> keys) const;
    [[nodiscard]] SketchCount query(T key) const { return query(std::span<const T>(&key, 1)).front(); }  ///< of one key

    /// Counts the keys in the caller's texture, each once: the first `count` texels in row-major order, all when it is
    /// not given; level 0.
    /// Shape: 2-D; R32UI for std::uint32_t, RG32UI (low word first) for std::uint64_t, R32F for float.
    /// Cost: no upload; does not wait for the GPU.
    /// Throws: InvalidArgument when the id is no such texture, there are fewer texels, the sketch has no context, or
    /// its engine is Cpu.
    ///
    ///     sketch.insert_texture(keys);  // in the program's own context
    void insert_texture(std::uint32_t keys,
                        std::optional<std::size_t> count = {}) requires(!std::is_same_v<T, std::string_view>);
    /// Takes back the keys in a texture. Shape, Pre, Cost, Throws: as insert_texture() and remove().
    void remove_texture(std::uint32_t keys,
                        std::optional<std::size_t> count = {}) requires(!std::is_same_v<T, std::string_view>);
    /// Writes the estimates into the first `count` texels of `estimates`, row after row; other texels are untouched.
    /// Shape: `keys` as for insert_texture(), `estimates` R32UI, 2-D, of any size that holds `count` texels.
    /// Cost: no read-back; does not wait for the GPU.
    /// Throws: as insert_texture(), and InvalidArgument when n() is 2^32 or more.
    void query_texture(std::uint32_t keys, std::uint32_t estimates, std::optional<std::size_t> count = {}) const
        requires(!std::is_same_v<T, std::string_view>);

    /// The sum of all weights inserted, less those removed. At most 2^63 - 1.
    [[nodiscard]] std::uint64_t n() const;
    /// As given, also where the table's width is rounded up.
    [[nodiscard]] const SketchOptions& options() const;
    /// The table: row after row, or bucket after bucket, of Sf the fat one. Waits for the GPU.
    [[nodiscard]] std::vector<std::uint64_t> counters() const;
    /// The bytes of the table, on the CPU and on the GPU.
    [[nodiscard]] std::size_t bytes() const;
    /// What the last insert, remove or query ran on.
    [[nodiscard]] SketchEngine ran_on() const;

    /// Adds the counters of the other, which stays as it is: the sketch of both streams.
    /// Pre: the same kind, width, depth, fat and seed; engines may differ.
    void merge(const Sketch& other);
    /// The sketch as bytes, which docs/sketch-format.md describes.
    [[nodiscard]] std::vector<std::byte> save() const;
    /// The sketch that save() made the bytes of, on the CPU alone.
    /// Throws: InvalidArgument when the bytes are damaged, or are of keys of another type.
    [[nodiscard]] static Sketch load(std::span<const std::byte> bytes, unsigned threads = 0);
    /// The same, to go on in a context.
    [[nodiscard]] static Sketch load(const Context& context, std::span<const std::byte> bytes,
                                     SketchEngine engine = SketchEngine::Auto, unsigned threads = 0);

  private:
    struct State;
    explicit Sketch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// The types of keys, as saved bytes name them.
enum class SketchKeys { U32 = 1, U64 = 2, F32 = 3, Text = 4 };

/// What saved bytes hold, without loading them.
struct SavedSketch {
    SketchKeys keys = SketchKeys::U32;  ///< their type
    SketchOptions options;              ///< engine and threads are not saved
    std::uint64_t n = 0;                ///< the sum of weights
};
/// Says what sketch the bytes hold.
/// Throws: InvalidArgument when they are damaged or no sketch.
[[nodiscard]] QUADMILL_API SavedSketch saved_sketch(std::span<const std::byte> bytes);

/// The least width with e / width <= eps, so that the estimate of a Thread sketch is at most eps N too high (with the
/// probability that its depth gives). That of a sketch with buckets of the same width is at most e^(depth - 1) times as
/// much too high.
/// Pre: 1e-9 <= eps <= 1.
[[nodiscard]] QUADMILL_API std::uint64_t suggest_width(double eps);
/// The least depth with e^-depth <= delta.
/// Pre: 1e-6 <= delta < 1.
[[nodiscard]] QUADMILL_API int suggest_depth(double delta);

/// The most frequent values of a stream.
template <class T>
struct TopCounts {
    std::vector<Frequent<T>> items;  ///< the largest estimate first, equal ones by value
    std::uint64_t others = 0;        ///< a value that is not among the items occurs at most so often
};

/// Heavy hitters: the candidates come from a lossy count (Frequencies), which finds them all, and their counts from it
/// and a sketch, whose bounds of a value are both sure.
///
/// Guarantee: every value that occurs more than eps n times is a candidate. The count of an item is surely from lower
/// to upper, and the estimate is the middle of what both leave. Where `others` is less than the last item's lower
/// bound, the items are the most frequent values. T is std::uint32_t, std::uint64_t or float; neither merges nor is
/// saved.
/// Memory: that of both.
///
///     HeavyHitters<std::uint32_t> ports({.eps = 0.001}, {.width = 1 << 16});
///     ports.add(values);
///     for (const auto& [port, count] : ports.top(10).items) print(port, count.estimate);
template <class T>
class QUADMILL_API HeavyHitters {
    static_assert(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float>,
                  "values are std::uint32_t, std::uint64_t or float");

  public:
    /// Both on the CPU, but for what the sorter does.
    /// Throws: as Frequencies and Sketch.
    HeavyHitters(const FrequencyOptions& frequencies, const SketchOptions& sketch,
                 std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    /// With the sketch in a context.
    HeavyHitters(const Context& context, const FrequencyOptions& frequencies, const SketchOptions& sketch,
                 std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    HeavyHitters(HeavyHitters&&) noexcept;
    HeavyHitters& operator=(HeavyHitters&&) noexcept;
    ~HeavyHitters();

    /// Adds the values; NaNs are none, as in Frequencies.
    void add(std::span<const T> values);
    [[nodiscard]] std::uint64_t n() const;  ///< values so far, without NaNs
    /// The k items with the largest estimates, fewer where there are fewer candidates.
    /// Pre: 1 <= k.
    [[nodiscard]] TopCounts<T> top(std::size_t k) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
