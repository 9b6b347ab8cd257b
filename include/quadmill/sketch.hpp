/// Count-min sketches: how often keys occur, in a table of counters of any size that stores no keys.
/// Sketch (line 88) counts keys. HeavyHitters (line 226) finds the most frequent ones.
///
/// The family of QSketch (Qin, Zhang, Yan, Govindaraju, Chiu: 'QSketch: GPU-Aware Probabilistic Sketch Data
/// Structures'). Each key increments `depth` counters that a hash chooses; its estimate is their minimum. On the GPU an
/// insert is a point drawn with additive blending, and a query gathers the counters and takes their min in a fragment
/// shader. Counters are exact integers: all engines fill equal tables, counter by counter.
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

/// The layout of a key's counters. A table has width * depth counters of 32 bits, unless a kind says otherwise.
enum class SketchKind {
    Thread,   ///< one in each of `depth` rows of `width` counters: the classic count-min sketch
    Warp,     ///< `depth` of the 32 in one bucket; the hash chooses a mask
    Half,     ///< Warp with 16 in a bucket
    Quarter,  ///< Warp with 8 in a bucket
    /// Multi-level: 28 counters of 8 bits and an index in the 32 bytes of a bucket of Quarter; a bucket with a counter
    /// that would pass 128 gets a bucket of wide counters, too.
    Msws,
    /// Slim and fat: each counter of Quarter is the max of `fat` counters; a second hash chooses one of them. The fat
    /// table is on the CPU, and the slim one, made from it, on the GPU.
    Sf
};

/// The engine of a sketch.
enum class SketchEngine {
    Auto,           ///< estimated to be the fastest; the CPU on software renderers and without a context
    Cpu,            ///< loops on CPU threads
    BlendCounters,  ///< one point per counter, `depth` points per key, into one channel; not for Sf
    BlendBuckets,   ///< one point per key, with the mask as its colour: Quarter writes 2 render targets, Half 4, Warp 8
    BlendPacked,    ///< BlendBuckets with two counters of 12 bits in a channel: 1, 2 or 4 render targets
    Sort  ///< sorts the counter numbers of a batch, and each texel counts those of its counters; not for Msws, Sf
};

/// Options of sketches.
struct SketchOptions {
    SketchKind kind = SketchKind::Quarter;  ///< the layout
    std::uint64_t width = 0;  ///< counters per row (buckets: all counters / depth), at least 1; see suggest_width
    int depth = 3;            ///< counters per key, from 1 to 16 and at most those of a bucket; see suggest_depth
    int fat = 3;              ///< for Sf, from 1 to 255
    std::uint64_t seed = 0;   ///< of the hash functions
    SketchEngine engine = SketchEngine::Auto;  ///< the engine
    unsigned threads = 0;                      ///< CPU threads; 0: as many as the machine has
};

/// The inserts of a key minus its removes: at most upper, which is the estimate, and at least lower with the
/// probability in the class's guarantee.
struct SketchCount {
    std::uint64_t lower = 0, estimate = 0, upper = 0;  ///< see above
    bool operator==(const SketchCount&) const = default;
};

/// Counts keys of type T: std::uint32_t, std::uint64_t, float (-0 is 0, all NaNs are one key) or std::string_view.
///
/// Guarantee: if every remove follows an insert of the same key and weight, no estimate is below the true count. Let N
/// be the sum of all inserted weights minus removed ones, and seeds be random. The estimate of Thread is at most the
/// true count + e N / width with probability 1 - e^-depth (to within width / 2^32). For the other kinds, whose counters
/// of a key are in one bucket and not independent, it is with the same probability at most the true count + e^depth N
/// depth / counters (for Sf, slim counters); docs/notes/sketches.md has the measured errors, which are much smaller.
/// `lower` is the estimate minus that error. Nothing depends on the order of inserts, on batches or on the engine.
/// Memory: Thread, Warp, Half and Quarter 4 width depth bytes on the CPU (8 from a sum of weights of 2^32 on); on the
/// GPU three times that, and two batches of keys, each of 2^22 keys or a quarter of the table's counters, at most 2^24.
/// Msws 4 width depth bytes, and 224 for each bucket with a counter above 128; on the GPU twice that, and 14 width
/// depth while points are drawn. Sf `fat` times the memory of Quarter.
/// Throws: InvalidArgument, GlError, ContextError, std::bad_alloc. After an error of the GPU the counters are lost:
/// every later call throws; the sketch can only be moved and destroyed.
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
    /// An empty sketch on the CPU.
    /// Throws: InvalidArgument for options out of range, and for a GPU engine.
    explicit Sketch(const SketchOptions& options);
    /// An empty sketch in a context.
    /// Throws: InvalidArgument for options out of range, an engine that does not support the kind, or a table larger
    /// than textures.
    Sketch(const Context& context, const SketchOptions& options);
    Sketch(Sketch&&) noexcept;
    Sketch& operator=(Sketch&&) noexcept;
    ~Sketch();

    /// Counts each key once.
    /// Cost: one upload of the keys; does not wait for the GPU, unless the driver must free memory for transfers, or
    /// packed counters are checked.
    void insert(std::span<const T> keys);
    /// Counts one key, once.
    /// Cost: up to 4,096 such keys wait until they are counted together, or until the next call of another function.
    void insert(T key);
    /// Counts each key `weight` times.
    /// Shape: as many weights as keys.
    /// Cost: if the mean weight is above 256, the CPU adds them with any engine.
    void insert(std::span<const T> keys, std::span<const std::uint32_t> weights);
    /// Removes keys that were inserted, each once. A counter never falls below 0.
    /// Pre: each key was inserted at least as often; otherwise estimates of other keys may be too low, and
    /// removed_too_often() is not 0.
    /// Throws: InvalidArgument, before any work, for more than n().
    void remove(std::span<const T> keys);
    void remove(T key) { remove(std::span<const T>(&key, 1)); }  ///< one key, once
    /// Removes each key `weight` times.
    /// Shape: as many weights as keys.
    void remove(std::span<const T> keys, std::span<const std::uint32_t> weights);

    /// The count of each key.
    /// Shape: as many counts as keys, in their order.
    [[nodiscard]] std::vector<SketchCount> query(std::span<const T> keys) const;
    void query(std::span<const T> keys, std::span<SketchCount> counts) const;  ///< into the caller's memory
    [[nodiscard]] SketchCount query(T key) const { return query(std::span<const T>(&key, 1)).front(); }  ///< of one key

    /// Counts the keys in the caller's texture, each once: the first `count` texels of level 0 in row-major order; not
    /// given: all.
    /// Shape: 2-D; R32UI for std::uint32_t, RG32UI (low word first) for std::uint64_t, R32F for float.
    /// Cost: no upload; does not wait for the GPU.
    /// Throws: InvalidArgument if the id is not such a texture, there are fewer texels, the sketch has no context, or
    /// its engine is Cpu.
    ///
    ///     sketch.insert_texture(keys);  // in the program's own context
    void insert_texture(std::uint32_t keys,
                        std::optional<std::size_t> count = {}) requires(!std::is_same_v<T, std::string_view>);
    /// Removes the keys in a texture. Shape, Pre, Cost, Throws: as insert_texture() and remove().
    void remove_texture(std::uint32_t keys,
                        std::optional<std::size_t> count = {}) requires(!std::is_same_v<T, std::string_view>);
    /// Writes the estimates into the first `count` texels of `estimates`, row after row; other texels are untouched.
    /// Shape: `keys` as for insert_texture(), `estimates` R32UI, 2-D, of any size that holds `count` texels.
    /// Cost: no read-back; does not wait for the GPU.
    /// Throws: as insert_texture(), and InvalidArgument if n() is 2^32 or more.
    void query_texture(std::uint32_t keys, std::uint32_t estimates, std::optional<std::size_t> count = {}) const
        requires(!std::is_same_v<T, std::string_view>);

    /// The sum of all inserted weights minus removed ones. At most 2^63 - 1.
    [[nodiscard]] std::uint64_t n() const;
    /// A lower bound of the weights that were removed but never inserted; 0 while every remove follows an insert. (It
    /// is not exact, because keys share counters.)
    /// Cost: a sum over the table. Waits for the GPU.
    [[nodiscard]] std::uint64_t removed_too_often() const;
    /// As given, even if the table's width is rounded up.
    [[nodiscard]] const SketchOptions& options() const;
    /// The table: row after row, or bucket after bucket; for Sf the fat one. Waits for the GPU.
    [[nodiscard]] std::vector<std::uint64_t> counters() const;
    /// The bytes of the table, on the CPU and on the GPU.
    [[nodiscard]] std::size_t bytes() const;
    /// The engine of the last insert, remove or query.
    [[nodiscard]] SketchEngine ran_on() const;

    /// Adds the counters of the other sketch, which is not changed: the result is the sketch of both streams.
    /// Pre: the same kind, width, depth, fat and seed; engines may differ.
    void merge(const Sketch& other);
    /// The sketch as bytes, which docs/sketch-format.md describes.
    [[nodiscard]] std::vector<std::byte> save() const;
    /// Loads the bytes of save(), on the CPU.
    /// Throws: InvalidArgument if the bytes are damaged, or have keys of another type.
    [[nodiscard]] static Sketch load(std::span<const std::byte> bytes, unsigned threads = 0);
    /// load() into a context.
    [[nodiscard]] static Sketch load(const Context& context, std::span<const std::byte> bytes,
                                     SketchEngine engine = SketchEngine::Auto, unsigned threads = 0);

  private:
    struct State;
    explicit Sketch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// The types of keys, as saved bytes name them.
enum class SketchKeys { U32 = 1, U64 = 2, F32 = 3, Text = 4 };

/// The facts in saved bytes, without loading them.
struct SavedSketch {
    SketchKeys keys = SketchKeys::U32;  ///< their type
    SketchOptions options;              ///< engine and threads are not saved
    std::uint64_t n = 0;                ///< the sum of weights
};
/// Reads which sketch the bytes hold.
/// Throws: InvalidArgument if they are damaged or not a sketch.
[[nodiscard]] QUADMILL_API SavedSketch saved_sketch(std::span<const std::byte> bytes);

/// The smallest width with e / width <= eps. The estimate of a Thread sketch is then at most eps N too high, with the
/// probability of its depth; that of a sketch with buckets at most e^(depth - 1) times that.
/// Pre: 1e-9 <= eps <= 1.
[[nodiscard]] QUADMILL_API std::uint64_t suggest_width(double eps);
/// The smallest depth with e^-depth <= delta.
/// Pre: 1e-6 <= delta < 1.
[[nodiscard]] QUADMILL_API int suggest_depth(double delta);

/// The most frequent values of a stream.
template <class T>
struct TopCounts {
    std::vector<Frequent<T>> items;  ///< the largest estimate first, equal ones by value
    std::uint64_t others = 0;        ///< max count of any value that is not among the items
};

/// Heavy hitters. The candidates come from a lossy count (Frequencies), which misses none. Their counts come from the
/// lossy count and from a sketch. Both give guaranteed bounds.
///
/// Guarantee: every value that occurs more than eps n times is a candidate. The count of an item is certainly from
/// lower to upper, which is the intersection of the bounds of both. The estimate is the middle. If `others` is less
/// than the last item's lower bound, the items are the most frequent values. T is std::uint32_t, std::uint64_t or
/// float. It cannot be merged or saved.
/// Memory: that of Frequencies and that of Sketch.
///
///     HeavyHitters<std::uint32_t> ports({.eps = 0.001}, {.width = 1 << 16});
///     ports.add(values);
///     for (const auto& [port, count] : ports.top(10).items) print(port, count.estimate);
template <class T>
class QUADMILL_API HeavyHitters {
    static_assert(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float>,
                  "values are std::uint32_t, std::uint64_t or float");

  public:
    /// Both on the CPU; only the sorter may use a GPU.
    /// Throws: as Frequencies and Sketch.
    HeavyHitters(const FrequencyOptions& frequencies, const SketchOptions& sketch,
                 std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    /// With the sketch in a context.
    HeavyHitters(const Context& context, const FrequencyOptions& frequencies, const SketchOptions& sketch,
                 std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
    HeavyHitters(HeavyHitters&&) noexcept;
    HeavyHitters& operator=(HeavyHitters&&) noexcept;
    ~HeavyHitters();

    /// Adds the values, without NaNs, as in Frequencies.
    void add(std::span<const T> values);
    [[nodiscard]] std::uint64_t n() const;  ///< values so far, without NaNs
    /// The k items with the largest estimates, or fewer if there are fewer candidates.
    /// Pre: 1 <= k.
    [[nodiscard]] TopCounts<T> top(std::size_t k) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
