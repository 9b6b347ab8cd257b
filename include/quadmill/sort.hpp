/// Sorting with the graphics pipeline: keys in memory, windows and segments of them, and textures and buffers of the
/// caller. sort() (line 33) sorts one array, Sorter (line 135) many, and textures. Between them are the options, and
/// paper.hpp has those that reproduce the papers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/crossings.hpp"
#include "quadmill/keys.hpp"
#include "quadmill/paper.hpp"

namespace quadmill {

class WindowSorter;
enum class SortCall;
struct BufferKeys;
struct Plane;
struct SortOptions;
struct SortStats;
struct TextureRegion;

/// Sorts the keys in place, once. Use a Sorter for several sorts: it reuses shader programs and memory.
/// Guarantee, Memory, Throws: as Sorter.
///
///     sort(Context::headless(), keys);  // {3, 1, 2} become {1, 2, 3}
QUADMILL_API SortStats sort(const Context& context, Keys keys);

/// sort() with options: another order, engine or number of threads.
QUADMILL_API SortStats sort(const Context& context, Keys keys, const SortOptions& options);

/// The engine that sorts.
enum class Engine {
    Auto,     ///< chosen by crossover points: the CPU for few keys or on a software renderer, otherwise the GPU
    Cpu,      ///< CPU threads: Highway's vqsort, or std::sort if the library was built without it
    Pbsn,     ///< the periodic balanced sorting network of SIGMOD'05, using blending; floats of 16 and 32 bits
    Merge,    ///< merge sort: a network in registers makes runs of 64 keys (of large keys fewer), then merges; any type
    Bitonic,  ///< GPUTeraSort's bitonic network of SIGMOD'06, comparing in a fragment shader; any type
    Hybrid    ///< the merge engine and CPU threads at the same time, which take parts from one queue (segments of more
              ///< than 2^17 keys go to the GPU); the CPU merges the parts; no index
};

/// The precision in which keys of type float and Half are sorted. With Engine::Pbsn it is also the format of textures.
/// Only sort() and sort_windows() convert keys. Other functions of Sorter throw InvalidArgument if the precision
/// differs from the type of the keys.
enum class Precision {
    Native,   ///< that of the keys: 32 bits for float, 16 for Half
    Float32,  ///< 32 bits
    Float16,  ///< 16 bits, as in the paper; for float input see Rounding
};

/// What Precision::Float16 does with a float that is not exactly a 16-bit float.
enum class Rounding {
    Refuse,   ///< throw InvalidArgument and leave the keys unchanged
    Nearest,  ///< round: the keys themselves become the nearest 16-bit floats
};

/// The shaders of Engine::Merge. The results are the same.
enum class MergeKernel {
    Auto,      ///< Subgroup if available, otherwise Fragment
    Fragment,  ///< each fragment alone; it writes 32 words, or 16 if there are fewer than 8 render targets
    Subgroup,  ///< 32 fragments together, which exchange keys. It needs GL_KHR_shader_subgroup, and a driver that forms
    ///< subgroups of 4 x 8 fragments; the library tests this at the first use. It sorts keys of up to 64 bits (with an
    ///< index up to 32). Segments must have one length. Fragment sorts the rest.
};

/// Options of Engine::Merge.
struct MergeOptions {
    MergeKernel kernel = MergeKernel::Auto;  ///< which shaders run
};

/// Options of sorts.
struct SortOptions {
    Order order = Order::Ascending;           ///< of the result
    Engine engine = Engine::Auto;             ///< the engine
    Precision precision = Precision::Native;  ///< of floats, for every engine
    Rounding rounding = Rounding::Refuse;     ///< for Precision::Float16
    /// Number of CPU threads for packing, merging and Engine::Cpu, including the caller's; 0: as many as the machine
    /// has. Engine::Hybrid sorts with two fewer, at least one.
    unsigned threads = 0;
    /// Limit of GPU memory in bytes; 0: the free memory that the driver reports (on a software renderer, the
    /// machine's). Engine::Merge refuses keys that need more, Engine::Hybrid cuts them into smaller parts, and
    /// Engine::Auto sorts them on the CPU.
    std::size_t gpu_memory = 0;
    MergeOptions merge{};  ///< for Engine::Merge, and for Auto and Hybrid when they use it
    /// Crossover points of Engine::Auto, measured on this machine with the same number of threads; unset: estimates
    /// that are built in.
    std::optional<SortCrossings> crossings{};
    SortPaperOptions paper{};  ///< for Engine::Pbsn and Engine::Bitonic: the algorithms as in the papers
};

/// How the four channels of a texture are sorted.
enum class TexelChannels {
    EachByItself,  ///< each channel is a separate array
    AllAsOne       ///< the channels are one array, four consecutive values in a texel
};

/// The types of keys that Sorter::sample_texture() reads back.
template <class T>
concept TexelKey = std::same_as<T, float> || std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t>;

/// Sorts in one context. A Sorter keeps its textures and its memory for transfers (staging memory) for later calls. Its
/// shader programs belong to the context. Each call sorts in SortOptions::order, unless the call names another order.
///
/// Guarantee: the output is a permutation of the input's bits, in the order that Order describes, on every driver. If a
/// call throws InvalidArgument, GlError or ContextError, the keys are unchanged or a permutation of what they were.
/// There is one exception: if the GPU is reset while results are read back, keys may be lost, because they arrive in
/// parts. Equal keys have equal bits, so stability matters only for an index; sort_with_index() is stable.
/// Memory: textures stay for the next call; SortStats reports the bytes.
/// - Pbsn: on the GPU at most 4 textures of PbsnOptions::max_texels texels (of 16 bytes, 8 for 16-bit floats) and the
///   same amount of staging memory; on the CPU one copy of the keys, and 16 bytes for each key that blending cannot
///   order.
/// - Merge: on the GPU a little more than three times the bytes of the keys, five times with an index, and staging
///   memory for the keys and for the result. Each window or segment is padded to a multiple of 64 keys of 32 bits. With
///   MergeKernel::Subgroup these are up to 3.7 and 6.2 times, and a window is padded to a power of two or a multiple of
///   1,024 keys (512 with an index, or for 64-bit keys). On the CPU it needs no copy of the keys, but up to 56 bytes
///   for each window or segment, and 8 bytes for each 64 of its keys.
/// - Bitonic: on the GPU one copy of the keys (and of the index), and two copies of the padded words. Words have 32
///   bits (16 for 16-bit keys). Each window, or the whole array, is padded to a power of two, at least 4.
/// - Hybrid: on the GPU what Merge needs for the keys that are sorted there, at most 2^26 or one segment at a time; on
///   the CPU one copy of the keys (none for windows and segments).
/// Throws: InvalidArgument, GlError, ContextError, std::bad_alloc.
/// Source: Pbsn: SIGMOD'05 (Govindaraju, Raghuvanshi, Manocha), section 4, routines 4.1 to 4.4. Bitonic: SIGMOD'06
/// (Govindaraju, Gray, Kumar, Manocha: GPUTeraSort), sections 4.1, 4.2 and 4.4.
///
///     Sorter sorter(Context::headless());
///     std::vector<float> keys{3, 1, 2};
///     sorter.sort(keys);  // 1, 2, 3
class QUADMILL_API Sorter {
  public:
    /// Shader programs are compiled when they are first used.
    /// Throws: InvalidArgument for invalid options.
    explicit Sorter(const Context& context, const SortOptions& options = {});
    Sorter(Sorter&&) noexcept;
    Sorter& operator=(Sorter&&) noexcept;
    ~Sorter();

    /// Sorts the keys in place.
    /// Cost: one upload, one read-back; waits for the GPU. Pbsn: k * k steps of two draws and a copy for a run of 2^k
    /// elements in each channel, fewer if it stops early. Bitonic: k (k + 1) / 2 steps for up to 2^k keys, which are k
    /// (k - 1) / 2 passes in the paper's form and about a third of that by default. Merge: one pass that sorts runs of
    /// 64 keys, then one level of passes for each doubling of the runs.
    /// Throws: InvalidArgument before any work for more keys than the engine can hold, padding included. Merge and
    /// Bitonic hold 2^30 keys, 2^29 if they have 64 bits; with an index Merge holds half as many. Merge throws it also
    /// for more keys than fit into the GPU's free memory.
    SortStats sort(Keys keys, std::optional<Order> order = {});

    /// Sorts the keys in place, stably, and reports where each key was: index[i] receives the index, from 0, that the
    /// i-th sorted key had before. Equal keys keep the order of the input, also for Order::Descending.
    /// Shape: index has keys.size() elements, which are at most 2^31.
    /// Guarantee: stable with every engine. Engine::Bitonic, whose network is not stable, compares (key, index), so no
    /// two are equal.
    /// Cost: as for sort(), with keys of twice the size.
    /// Throws: InvalidArgument if `index` has another size or shares memory with the keys, and for Engine::Pbsn and
    /// Engine::Hybrid, which cannot carry an index.
    ///
    ///     std::vector<std::uint32_t> index(keys.size());
    ///     sorter.sort_with_index(keys, index);  // {3, 1, 2}: index becomes {1, 2, 0}
    SortStats sort_with_index(Keys keys, std::span<std::uint32_t> index, std::optional<Order> order = {});

    /// Sorts an index of the keys and leaves the keys unchanged: index[i] receives the index, from 0, of the i-th key
    /// in order. Equal keys keep the order of the input. Only the index is read back from the GPU.
    /// Shape: as for sort_with_index().
    /// Cost: as for sort_with_index(), but a read-back of 4 bytes per key. Engine::Cpu takes 8 bytes per key (16 for 64
    /// bits) of memory.
    /// Throws: as sort_with_index().
    ///
    ///     sorter.argsort(keys, index);  // {3, 1, 2} stay; index becomes {1, 2, 0}
    SortStats argsort(ConstKeys keys, std::span<std::uint32_t> index, std::optional<Order> order = {});

    /// Sorts each window of `window` consecutive keys separately, in place. The last window may be shorter. A texture
    /// holds many windows.
    /// Pre: 1 <= window; for Engine::Pbsn, window <= PbsnOptions::max_texels, or four times that if windows are split
    /// (PbsnOptions::channels).
    /// Cost: as for sort(), with 2^k >= window, or a quarter of it if windows are split.
    SortStats sort_windows(Keys keys, std::size_t window, std::optional<Order> order = {});

    /// Sorts segments of any lengths separately, in place, in one call: segment i is [ends[i - 1], ends[i]); the first
    /// one begins at 0. Engine::Merge sorts them in one texture, each filling a multiple of 64 32-bit keys.
    /// Pre: `ends` is ascending, and its last element is keys.size() (or both are empty).
    /// Throws: InvalidArgument if it is not, and for Engine::Pbsn and Engine::Bitonic, whose windows have one length.
    ///
    ///     sorter.sort_segments(keys, std::array<std::size_t, 3>{2, 2, 7});  // [0, 2), an empty one, [2, 7)
    SortStats sort_segments(Keys keys, std::span<const std::size_t> ends, std::optional<Order> order = {});

    /// Finds the first best.size() keys in order, the smallest ones (with Order::Descending the largest), without
    /// sorting the others, which stay unchanged: `best` receives them, and `index`, if not empty, the index of each.
    /// Shape: `best` has at most keys.size() elements of the same type and does not overlap `keys`; `index` has the
    /// same number, or none.
    /// Cost: as for sort() until runs have k keys; then each merge pass writes half as much as the one before. One
    /// upload, a read-back of k keys.
    /// Throws: InvalidArgument for other shapes, or for Engine::Pbsn, Bitonic and Hybrid, which sort all of the keys.
    ///
    ///     std::array<float, 10> best;
    ///     sorter.top(keys, best);  // the 10 smallest
    SortStats top(ConstKeys keys, Keys best, std::span<std::uint32_t> index = {}, std::optional<Order> order = {});

    /// Sorts the caller's texture without reading it back: each channel is a separate array in row-major order (element
    /// i at texel i mod width, i div width), and `output` receives the four sorted arrays. Level 0 of both is used;
    /// both may be the same texture. Engine::Merge is used, as for regions. Engine::Pbsn is used if SortOptions::engine
    /// requests it, or if Auto finds too little memory for Merge; it sorts one run per channel.
    /// Shape: RGBA32F, 2-D, of at most 2^28 texels, both of the same size. Filters, BASE_LEVEL, swizzle and other
    /// parameters are ignored and restored. After an image store into the input, the program calls
    /// glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT) first.
    /// Guarantee: as for sort(). For a texture with values that blending cannot order, PBSN compares in a shader.
    /// Cost: as for sort(), with no upload and no read-back. Pbsn waits for the GPU: the CPU reads the occlusion query
    /// that finds such values, and those that tell whether a stage has finished the sort. Merge does not wait. GPU
    /// memory: Pbsn 5 textures of the padded size, Merge as for regions.
    /// Throws: InvalidArgument if an id is not such a texture, the sizes differ, or SortOptions::engine is not Auto,
    /// Pbsn or Merge.
    ///
    ///     sorter.sort_texture(texture, texture);  // in place, in the program's own context
    SortStats sort_texture(std::uint32_t input, std::uint32_t output, std::optional<Order> order = {});

    /// Finds the order of the caller's keys without reading them back. The keys are the first `count` texels of `keys`,
    /// in row-major order. Texel i of `index` receives the index, from 0, of the i-th key in order. Equal keys keep
    /// their order. Both textures stay on the GPU, so a program can draw with the index directly: sprites from back to
    /// front with Order::Descending of their distance. Level 0 of both is used; other texels of `index` are unchanged.
    /// Uses Engine::Merge, or Engine::Bitonic if SortOptions::engine requests it.
    /// Shape: `keys` as for a region below (channel 0), `index` R32UI and 2-D, both of any size that holds `count`
    /// texels (at most 2^28; not given: all of `keys`). Otherwise as for sort_texture(); in addition, `index` is
    /// immutable, or its BASE_LEVEL is 0.
    /// Cost: as for sort_with_index(), with no upload and no read-back, and does not wait for the GPU: total_ms is the
    /// time that issuing took. OpenGL ES 3.0 cannot report the size of a texture, so there one texel for each texture
    /// is drawn and read back first, which waits; ES 3.1 does not. GPU memory: 4 bytes per texel of `keys`, and 22
    /// bytes per key (26 with MergeKernel::Subgroup). Bitonic: 16 bytes times `count`, rounded up to a power of two.
    /// Throws: InvalidArgument if an id is not such a texture, `count` texels do not fit, SortOptions::engine is not
    /// Auto, Merge or Bitonic, or Merge needs more memory than SortOptions::gpu_memory, or, if that is 0, than the
    /// driver reports as free.
    ///
    ///     sorter.argsort_texture(distance, order);  // in the program's own context, each frame
    SortStats argsort_texture(std::uint32_t keys, std::uint32_t index, std::optional<std::size_t> count = {},
                              std::optional<Order> order = {});

    /// argsort_texture() for the keys in one channel of any rectangle, layer or face: texel i of `index` receives the
    /// index of the i-th key, counted within the rectangle. Engine::Bitonic takes R32F, R32I and R32UI only.
    /// Shape: keys R32F, R32UI, R32I, RGBA32F, RGBA16F, R16F, R16, R8, RGBA8, DEPTH_COMPONENT16, 24 or 32F, or
    /// DEPTH24_STENCIL8 (its depths); 2-D, array, cube map, cube map array or rectangle. Also, in 2-D textures only,
    /// which are read in place: RG8, RG16, RG16F, RG32F, RGB8, RGB16F, RGB32F, R11F_G11F_B10F, RGB10_A2, RGBA16, SRGB8,
    /// SRGB8_ALPHA8, and integers of 8, 16 and 32 bits with one, two or four channels. Integers are compared as
    /// integers. Other keys of less than 32 bits are compared as the floats that a shader reads. In an sRGB texture
    /// these floats are linear light, so red, green and blue have the order of their bytes.
    /// Throws: InvalidArgument as above, and for a channel that the texture does not have.
    ///
    ///     sorter.argsort_texture({.texture = positions, .width = 64, .height = 64}, order, 3);  // by alpha
    SortStats argsort_texture(const TextureRegion& keys, std::uint32_t index, int channel = 0,
                              std::optional<Order> order = {});

    /// argsort_texture() by depth: the texture has positions (r, g, b) instead of keys. The GPU computes the key of a
    /// position, its distance from the plane. See Plane.
    /// Shape: positions RGB32F, RGB16F, RGBA32F, RGBA16F, or another format above with at least three channels of
    /// floats.
    /// Guarantee: the computed key is off by at most 2^-21 of |plane.x r| + |plane.y g| + |plane.z b| + |plane.w|.
    /// Throws: InvalidArgument as above, and for another shape.
    ///
    ///     sorter.argsort_texture({.texture = positions}, Plane::of_depths(view), order, Order::Descending);
    SortStats argsort_texture(const TextureRegion& positions, const Plane& plane, std::uint32_t index,
                              std::optional<Order> order = {});

    /// Sorts the texels of a rectangle, layer or face into those of another, or in place, without reading them back.
    /// Uses Engine::Merge; any values are allowed.
    /// Shape: both R32F, R32I, R32UI, RGBA32F or RGBA16F, with the same format, width and height (or count and width).
    /// Guarantee: as for sort().
    /// Cost: no upload, no read-back, does not wait (except in OpenGL ES 3.0, as argsort_texture()). GPU memory: 4
    /// copies of the texels, and 12 bytes per key (6 for 16 bits).
    /// Throws: InvalidArgument for another shape, if SortOptions::engine is neither Auto nor Merge, or memory is too
    /// small.
    ///
    ///     sorter.sort_texture({.texture = depths, .count = n}, {.texture = depths, .count = n});
    SortStats sort_texture(const TextureRegion& input, const TextureRegion& output,
                           TexelChannels channels = TexelChannels::EachByItself, std::optional<Order> order = {});

    /// Finds exact percentiles of the keys in one channel of a rectangle, layer or face without reading them back:
    /// texel i of row 0 of `output` receives the key of index round(phi[i] (n - 1)), from 0, of the n sorted keys that
    /// are not NaN. It receives NaN if all keys are NaN. phi[i] is rounded to a multiple of 2^-32. A shader can read
    /// the texture directly, for example to choose a frame's exposure by the frame's own luminances.
    /// Shape: `keys` as for argsort_texture(); `output` another texture, R32I for signed integers, R32UI for unsigned
    /// ones, otherwise R32F, 2-D and at least phi.size() texels wide; 1 to 1024 fractions from 0 to 1. Percentiles of
    /// an sRGB texture are linear light.
    /// Cost: a sort_texture() of one channel, and one texel per fraction; no read-back, does not wait.
    /// Throws: InvalidArgument for another shape, no keys, if SortOptions::engine is neither Auto nor Merge, or memory
    /// is too small.
    ///
    ///     sorter.percentiles_texture({.texture = luminances}, std::array{0.01, 0.5, 0.99}, exposure);
    SortStats percentiles_texture(const TextureRegion& keys, std::span<const double> phi, std::uint32_t output,
                                  int channel = 0);

    /// Sorts the keys in one channel of a rectangle, layer or face on the GPU, and reads back a sample of them. Each
    /// rank of the n keys that are not NaN is within eps * n of the rank of a sampled key. The texture is not changed.
    /// Shape: as for argsort_texture(); T is std::uint32_t for unsigned integers, std::int32_t for signed ones,
    /// otherwise float.
    /// Cost: as for argsort_buffer(), plus two read-backs that wait for the GPU: 1 / (2 eps) values, and for floats the
    /// number of NaNs.
    /// Throws: as argsort_texture(), for another T, and for an eps outside [0, 1].
    ///
    ///     const auto sample = sorter.sample_texture<float>({.texture = heights}, 0.01);
    template <TexelKey T>
    [[nodiscard]] QUADMILL_API RankSample<T> sample_texture(const TextureRegion& keys, double eps, int channel = 0);

    /// argsort_texture() with keys and index in buffers. The buffer `index` receives `count` indices of 32 bits, from
    /// byte `index_offset` on: the i-th one is the index, from 0, of the i-th key in order. glDrawElements takes them
    /// as GL_UNSIGNED_INT. Other bytes of `index` are unchanged. Uses Engine::Merge.
    /// Shape: keys of any type; offset and stride are multiples of 4 (of 2 for 16-bit keys). `index` is another buffer,
    /// or another part of the same one. Neither buffer is mapped, except with GL_MAP_PERSISTENT_BIT.
    /// Cost: as argsort_texture(): no upload, no read-back, does not wait. GPU memory: 26 bytes per key (50 for 64
    /// bits), and up to 64 MiB for a copy of a part of the buffer.
    /// Throws: InvalidArgument if an id is not such a buffer, keys or index do not fit into it, SortOptions::engine is
    /// neither Auto nor Merge, or memory is too small.
    ///
    ///     sorter.argsort_buffer({.buffer = particles, .offset = 12, .stride = 16}, n, elements);
    ///
    ///     sorter.argsort_buffer({.buffer = depths, .counted = CountInBuffer{draws, 0}}, max, elements);
    SortStats argsort_buffer(const BufferKeys& keys, std::size_t count, std::uint32_t index,
                             std::size_t index_offset = 0, std::optional<Order> order = {});

    /// argsort_buffer() by depth: the buffer has positions instead of keys, three floats x, y and z each. The GPU
    /// computes the key of a position, its distance from the plane. See Plane.
    /// Shape: as for argsort_buffer(), with positions.type KeyType::F32, and a stride of at least 12 bytes (0: 12).
    /// Guarantee: the error of a key, as for argsort_texture() by depth.
    ///
    ///     sorter.argsort_buffer({.buffer = vertices, .stride = 32}, Plane::of_depths(view), n, elements);
    SortStats argsort_buffer(const BufferKeys& positions, const Plane& plane, std::size_t count, std::uint32_t index,
                             std::size_t index_offset = 0, std::optional<Order> order = {});

    /// Sorts `count` keys in the caller's buffer, in place; the bytes between them (BufferKeys::stride) are not
    /// changed.
    /// Shape: as for argsort_buffer().
    /// Guarantee: as for sort().
    /// Cost: no upload, no read-back, does not wait. GPU memory: 12 bytes per key (24 for 64 bits), and 16 MB.
    /// Throws: as argsort_buffer().
    ///
    ///     sorter.sort_buffer({.buffer = depths}, n);
    SortStats sort_buffer(const BufferKeys& keys, std::size_t count, std::optional<Order> order = {});

    /// Compiles at most `programs` of the shader programs that such a call on `count` keys needs, and allocates its
    /// memory. For floats this also prepares the calls with a Plane. Returns true if everything is ready. Call it
    /// repeatedly to draw a loading screen in between. Shader programs belong to the context: those that another sorter
    /// has compiled are ready.
    /// Cost: it runs the call on zeros and draws one texel per pass. Nothing if the CPU would sort.
    /// Throws: as the prepared call.
    ///
    ///     while (!sorter.prepare(SortCall::ArgsortBuffer, KeyType::F32, n, 1)) draw_loading_screen();
    bool prepare(SortCall call, KeyType type, std::size_t count, std::size_t programs = ~std::size_t{0});

    [[nodiscard]] const SortOptions& options() const noexcept;  ///< as given

  private:
    friend class PairSorter;
    struct State;
    std::unique_ptr<State> state_;
};

/// The calls of Sorter that Sorter::prepare() can prepare.
enum class SortCall { Sort, SortWithIndex, Argsort, ArgsortTexture, ArgsortBuffer, SortBuffer };

/// Statistics of a sort. Times are wall-clock milliseconds from memory to memory. The times of the parts overlap, and
/// add up to more than the total, in two cases: with several textures, and if Engine::Merge uses subgroups. With
/// subgroups the first pass may draw during the upload, the last one during the read-back, and sort_ms includes those
/// transfers.
struct SortStats {
    std::uint64_t n = 0;              ///< keys
    Engine engine = Engine::Cpu;      ///< the engine that ran
    std::uint64_t textures = 0;       ///< number of textures sorted, one after the other
    std::uint64_t steps = 0;          ///< of the network, over all textures
    int stages_run = 0;               ///< max of all textures
    int stages_max = 0;               ///< log2 of the longest run
    std::uint64_t passes = 0;         ///< draws and texture copies issued
    std::uint64_t cpu_keys = 0;       ///< sorted by the CPU's threads, for Engine::Hybrid
    std::uint64_t merge_moves = 0;    ///< keys that merges on the CPU wrote, all rounds together, for Engine::Pbsn
    std::uint64_t set_aside = 0;      ///< keys that blending cannot order (NaN, -0, denormals), sorted on the CPU
    std::uint64_t texture_bytes = 0;  ///< bytes of textures that the library has in this context after the sort
    std::uint64_t staging_bytes = 0;  ///< bytes of memory for transfers
    double upload_ms = 0;             ///< packing and sending
    double sort_ms = 0;               ///< passes on the GPU, or the CPU's threads
    double readback_ms = 0;           ///< waiting and copying out
    double merge_ms = 0;              ///< merging on the CPU, or separating windows
    double total_ms = 0;              ///< from call to return
};

/// A number that only the GPU knows, such as the count of an indirect draw: a 32-bit unsigned integer in the caller's
/// buffer.
struct CountInBuffer {
    std::uint32_t buffer = 0;  ///< its name
    std::size_t offset = 0;    ///< in bytes, a multiple of 4
};

/// Keys in a buffer object of the caller (vertices, elements, storage: any), by its OpenGL name.
struct BufferKeys {
    std::uint32_t buffer = 0;     ///< its name
    KeyType type = KeyType::F32;  ///< of the keys
    std::size_t offset = 0;       ///< of the first key, in bytes
    std::size_t stride = 0;       ///< from one key to the next, in bytes; 0: they follow each other
    /// The number of keys, if only the GPU knows it. The `count` of a call is then the max number of keys, and the call
    /// takes as long as for that many. Keys beyond the number are not changed, and their indices follow those of the
    /// others.
    std::optional<CountInBuffer> counted{};
};

/// A plane. The distance of a position p from it is x p.x + y p.y + z p.z + w, in multiples of the length of (x, y, z).
struct Plane {
    float x = 0, y = 0, z = 0, w = 0;  ///< the coefficients, finite
    /// The distances from it are the depths in front of a camera with that view matrix (from world to view space, 16
    /// floats, column after column, as glUniformMatrix4fv takes them). Order::Descending is from back to front. For
    /// other orders take a row of a matrix: a fourth row of a projection times a view gives w of clip space.
    [[nodiscard]] static constexpr Plane of_depths(std::span<const float, 16> view) {
        return {-view[2], -view[6], -view[10], -view[14]};
    }
};

/// Texels of the caller's texture, by its OpenGL name: of level 0, a rectangle of one layer.
struct TextureRegion {
    std::uint32_t texture = 0;           ///< its name
    int layer = 0;                       ///< of an array; of a cube map the face, 0 for GL_TEXTURE_CUBE_MAP_POSITIVE_X
    int x = 0, y = 0;                    ///< the first texel
    int width = 0, height = 0;           ///< 0: up to the edge
    std::optional<std::size_t> count{};  ///< number of texels of the rectangle, row after row; unset: all
    std::optional<CountInBuffer> counted{};  ///< for argsort_texture() by Engine::Merge: as BufferKeys::counted
};

/// Sorts with Engine::Cpu, without a context, in the library's total order: with Highway's vqsort if the library was
/// built with it, otherwise with std::sort. `threads` is the number of threads; 0: as many as the machine has.
/// Memory: none, as keys are sorted in place; with an index 8 bytes per key (16 for 64 bits).
QUADMILL_API SortStats sort_on_cpu(Keys keys, Order order = Order::Ascending, unsigned threads = 0);
/// sort_on_cpu() with an index, stably, as Sorter::sort_with_index().
QUADMILL_API SortStats sort_with_index_on_cpu(Keys keys, std::span<std::uint32_t> index, Order order = Order::Ascending,
                                              unsigned threads = 0);
/// sort_on_cpu() of windows, as Sorter::sort_windows().
QUADMILL_API SortStats sort_windows_on_cpu(Keys keys, std::size_t window, Order order = Order::Ascending,
                                           unsigned threads = 0);
/// sort_on_cpu() of segments, as Sorter::sort_segments().
QUADMILL_API SortStats sort_segments_on_cpu(Keys keys, std::span<const std::size_t> ends,
                                            Order order = Order::Ascending, unsigned threads = 0);
/// Finds the first best.size() keys, as Sorter::top(), with std::nth_element.
/// Memory: twice best.size() keys, and 256 more; with an index 8 or 16 bytes for each of these.
QUADMILL_API SortStats top_on_cpu(ConstKeys keys, Keys best, std::span<std::uint32_t> index = {},
                                  Order order = Order::Ascending, unsigned threads = 0);

/// A sorter of windows on the graphics pipeline, for streams. begin() and finish() are sessions of the context
/// (context.hpp); between them the application may draw. For a stream at full speed, keep a Session open: without one,
/// each call waits for the GPU before it returns, if the context was not current. The engines:
/// - Auto: the merge engine on a GPU; CPU threads on a software renderer or for short windows.
/// - Cpu: cpu_window_sorter(options.threads).
/// - Merge, Bitonic: as for Sorter.
/// - Hybrid: CPU threads sort as many windows of each batch as they can before the GPU is done.
/// - Pbsn: the stream path of SIGMOD'05. Four windows at a time, or the quarters of one, are in the channels of a
///   texture (PbsnOptions::channels) and are sorted together using blending: 16-bit floats as they are, 32-bit integers
///   as the floats of the same rank. For 64-bit keys the upper words are sorted, then the CPU restores the lower words
///   and sorts keys of equal upper words. The CPU sorts keys that blending cannot order.
/// Memory: three times the bytes of a batch of GPU memory and four times of staging memory. Each window is padded to a
/// multiple of 256 bytes (128 for 16-bit floats). A sample adds its own bytes to both. Pbsn: 16 bytes per texel (8 for
/// 16-bit floats) of two textures for each of two batches, and the same for transfers. Bitonic: as Sorter, with staging
/// memory twice.
/// Throws: InvalidArgument for Precision other than Native, and for Order::Descending. WindowSorter::begin() throws
/// InvalidArgument for what Sorter would refuse, and if depth() batches are in flight; then nothing has begun.
[[nodiscard]] QUADMILL_API std::unique_ptr<WindowSorter> window_sorter(const Context& context,
                                                                       const SortOptions& options = {});

}  // namespace quadmill
