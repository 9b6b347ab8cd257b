#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "sort/bitonic_sort.hpp"
#include "sort/choose.hpp"
#include "sort/chunk_sort.hpp"
#include "sort/cpu.hpp"
#include "sort/hybrid_sort.hpp"
#include "sort/merge_sort.hpp"
#include "sort/texture_sort.hpp"

namespace quadmill {

using namespace detail;        // NOLINT(google-build-using-namespace): this file is the front door of the rooms
using namespace detail::sort;  // NOLINT(google-build-using-namespace)

namespace {

float as_float(float value) {
    return value;
}
float as_float(Half value) {
    return value.value();
}

template <class To, class From>
To convert(From value) {
    if constexpr (std::is_same_v<To, Half>) {
        return Half::nearest(as_float(value));
    } else {
        return as_float(value);
    }
}

// Before any work: positions in the textures are counted in 31 bits.
void check_fits(const Segments& segments, Keys keys, const char* function) {
    constexpr std::size_t most_pairs = std::size_t{1} << 24;
    if (segments.pairs() <= most_pairs) return;
    const auto gigabytes = (segments.pairs() * 2 * array::Banked::block_words * 4 * 3) >> 30U;
    throw InvalidArgument(
        std::string(function) + ": Engine::Merge would need textures of " + std::to_string(gigabytes) + " GiB for " +
        std::to_string(keys.size()) +
        " keys in these windows, and holds at most 2^24 pairs of blocks, which are 12 GiB; sort parts "
        "of them, or use Engine::Cpu");
}

}  // namespace

struct Sorter::State {
    State(Context with, const SortOptions& wanted);

    // Made on first use, within a session.
    struct OnGpu {
        explicit OnGpu(gl::Device& device) : pbsn(device), lanes{Lane(device), Lane(device)} {}
        Pbsn pbsn;
        std::array<Lane, 2> lanes;
        Scratch scratch;
        std::optional<TextureSort> texture_sort;
    };
    OnGpu& on_gpu() { return gpu ? *gpu : gpu.emplace(*context.device()); }

    SortStats sort(Keys keys, std::size_t window, const char* function);
    SortStats sort_windows(Keys keys, std::size_t window);
    template <class Float>
    SortStats by_pbsn(std::span<Float> keys, std::size_t window, const char* function);
    SortStats by_engine(Keys keys, std::size_t window, const char* function);
    SortStats by_merge(Keys keys, std::span<std::uint32_t> index, std::span<const std::size_t> ends,
                       const char* function);
    SortStats by_bitonic(Keys keys, std::span<std::uint32_t> index, std::size_t window, const char* function);
    SortStats sort_with_index(Keys keys, std::span<std::uint32_t> index);
    SortStats sort_segments(Keys keys, std::span<const std::size_t> ends);
    SortStats top(Keys keys, Keys best, std::span<std::uint32_t> index);
    SortStats argsort_texture(std::uint32_t keys, std::uint32_t index, std::size_t count);
    SortStats by_hybrid(Keys keys, std::span<const std::size_t> ends, const char* function);
    Engine engine_for(Keys keys, const char* function, const char* what);
    MergeSort& on_merge() { return merge ? *merge : merge.emplace(*context.device(), workers); }
    template <class Other, class Float>
    SortStats converted(std::span<Float> keys, std::size_t window, const char* function);

    Context context;
    SortOptions options;
    array::Workers workers;
    std::optional<OnGpu> gpu;
    std::optional<MergeSort> merge;
    std::optional<BitonicSort> bitonic;
};

Sorter::State::State(Context with, const SortOptions& wanted)
    : context(std::move(with)), options(wanted), workers(wanted.threads) {
    if (options.max_texels < 1) throw InvalidArgument("Sorter: max_texels must be at least 1, not 0");
    if (options.max_run == 0) options.max_run = paper_run;
    options.max_run = std::bit_floor(options.max_run);
    const auto side = std::bit_floor(static_cast<std::size_t>(context.info().max_texture_size));
    options.max_texels = std::bit_floor(std::min(options.max_texels, side * side));
    if (auto& block = options.bitonic.block) block = std::bit_floor(*block);
    if (options.bitonic.steps_per_pass < 1 || options.bitonic.steps_per_pass > 3) {
        throw InvalidArgument("Sorter: bitonic.steps_per_pass must be 1, 2 or 3, not " +
                              std::to_string(options.bitonic.steps_per_pass));
    }
}

template <class Float>
SortStats Sorter::State::by_pbsn(std::span<Float> keys, std::size_t window, const char* function) {
    const gl::Scope scope(*context.device(), function);
    auto& gpu_side = on_gpu();
    ChunkSort<Float> sort({*context.device(), gpu_side.pbsn, gpu_side.lanes, workers, gpu_side.scratch, options}, keys,
                          window);
    const auto stats = sort.run(window == 0 ? cut(keys.size(), options.max_texels, options.max_run)
                                            : cut_windows(keys.size(), window, options.max_texels));
    scope.check();
    return stats;
}

SortStats Sorter::State::by_merge(Keys keys, std::span<std::uint32_t> index, std::span<const std::size_t> ends,
                                  const char* function) {
    Segments segments(KeyForm{keys.type(), options.order, !index.empty()}.pair_keys());
    std::size_t begin = 0;
    for (const auto end : ends) {
        segments.add(begin, end - begin);
        begin = end;
    }
    check_fits(segments, keys, function);
    const gl::Scope scope(*context.device(), function);
    const auto stats = on_merge().run(keys, index, options.order, segments);
    scope.check();
    return stats;
}

SortStats Sorter::State::by_bitonic(Keys keys, std::span<std::uint32_t> index, std::size_t window,
                                    const char* function) {
    if (keys.size() == 0) return {.n = 0, .engine = Engine::Bitonic};
    const auto job = BitonicSort::job(context.info(), keys, window, !index.empty(), options, function);
    const gl::Scope scope(*context.device(), function);
    if (!bitonic) bitonic.emplace(*context.device(), workers);
    const auto stats = bitonic->run(keys, index, job);
    scope.check();
    return stats;
}

SortStats Sorter::State::by_hybrid(Keys keys, std::span<const std::size_t> ends, const char* function) {
    const gl::Scope scope(*context.device(), function);
    const auto stats = hybrid_sort(on_merge(), workers, keys, ends, options.order);
    scope.check();
    return stats;
}

// For what the engines of keys alone cannot do.
Engine Sorter::State::engine_for(Keys keys, const char* function, const char* what) {
    if (options.engine == Engine::Hybrid) {
        throw InvalidArgument(std::string(function) +
                              ": Engine::Hybrid sorts keys alone, and all of them; use Engine::Merge, Engine::Auto or "
                              "Engine::Cpu");
    }
    if (options.engine == Engine::Pbsn) {
        throw InvalidArgument(std::string(function) + ": Engine::Pbsn sorts by blending, " + what +
                              "; use Engine::Merge, Engine::Auto or Engine::Cpu");
    }
    if (options.engine == Engine::Bitonic) {
        throw InvalidArgument(std::string(function) +
                              ": Engine::Bitonic sorts all keys, with an index or not, or windows of one length; use "
                              "Engine::Merge, Engine::Auto or Engine::Cpu");
    }
    if (options.engine == Engine::Auto) return choose_engine(context.info(), {keys.type(), keys.size(), 0});
    return options.engine;
}

SortStats Sorter::State::sort_with_index(Keys keys, std::span<std::uint32_t> index) {
    constexpr const char* function = "Sorter::sort_with_index";
    check_index(function, keys, index);
    if (options.engine == Engine::Bitonic) return by_bitonic(keys, index, 0, function);
    if (engine_for(keys, function, "which cannot carry an index") == Engine::Cpu)
        return sort_with_index_on_cpu(keys, index, options.order);
    return by_merge(keys, index, std::array{keys.size()}, function);
}

SortStats Sorter::State::sort_segments(Keys keys, std::span<const std::size_t> ends) {
    constexpr const char* function = "Sorter::sort_segments";
    check_segments(function, keys, ends);
    if (options.engine == Engine::Hybrid) return by_hybrid(keys, ends, function);
    if (engine_for(keys, function, "in windows of one length") == Engine::Cpu)
        return sort_segments_on_cpu(keys, ends, options.order);
    return by_merge(keys, {}, ends, function);
}

SortStats Sorter::State::top(Keys keys, Keys best, std::span<std::uint32_t> index) {
    constexpr const char* function = "Sorter::top";
    check_top(function, keys, best, index);
    if (best.size() == 0 || engine_for(keys, function, "and all of the keys") == Engine::Cpu)
        return top_on_cpu(keys, best, index, options.order);
    Segments segments(KeyForm{keys.type(), options.order, !index.empty()}.pair_keys());
    segments.add(0, keys.size());
    check_fits(segments, keys, function);
    const gl::Scope scope(*context.device(), function);
    const auto stats = on_merge().top(keys, best, index, options.order);
    scope.check();
    return stats;
}

SortStats Sorter::State::argsort_texture(std::uint32_t keys, std::uint32_t index, std::size_t count) {
    constexpr const char* function = "Sorter::argsort_texture";
    auto& device = *context.device();
    const gl::Scope scope(device, function);
    const auto from =
        gl::host_texture(device, keys, {gl::Format::R32f, gl::Format::R32ui, gl::Format::R32i}, function, "keys");
    const auto to = gl::host_texture(device, index, {gl::Format::R32ui}, function, "index");
    const auto texels = [](const gl::Texture& texture) {
        return static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height());
    };
    if (count == 0) count = texels(from);
    constexpr std::size_t most = std::size_t{1} << 28U;
    if (count > std::min({texels(from), texels(to), most})) {
        throw InvalidArgument(std::string(function) + ": " + std::to_string(count) +
                              " keys do not fit: the texture of keys has " + std::to_string(texels(from)) +
                              " texels, that of the index " + std::to_string(texels(to)) + ", and 2^28 is the most");
    }
    if (keys == index) throw InvalidArgument(std::string(function) + ": keys and index must be two textures");
    const gl::LevelZeroAccess read(device, from), write(device, to);
    const auto stats = on_merge().argsort(from, to, count, options.order);
    scope.check();
    return stats;
}

// Converts the keys, sorts those, and converts back. Every half is a float; a float that is no half is refused or
// rounded.
template <class Other, class Float>
SortStats Sorter::State::converted(std::span<Float> keys, std::size_t window, const char* function) {
    const Stopwatch total;
    std::vector<Other> others(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        others[i] = convert<Other>(keys[i]);
        const auto back = convert<Float>(others[i]);
        if (options.rounding == Rounding::Nearest || KeyBits<Float>::of(back) == KeyBits<Float>::of(keys[i])) continue;
        throw InvalidArgument(std::string(function) + ": the key " + std::to_string(as_float(keys[i])) + " at index " +
                              std::to_string(i) +
                              " is no 16-bit float and would be changed; use 32-bit precision, or allow rounding");
    }
    auto stats = by_engine(std::span(others), window, function);
    std::transform(others.begin(), others.end(), keys.begin(), convert<Float, Other>);
    stats.total_ms = total.ms();
    return stats;
}

SortStats Sorter::State::sort(Keys keys, std::size_t window, const char* function) {
    if (options.precision == Precision::Float16 && keys.type() == KeyType::F32)
        return converted<Half>(std::span(static_cast<float*>(keys.data()), keys.size()), window, function);
    if (options.precision == Precision::Float32 && keys.type() == KeyType::F16)
        return converted<float>(std::span(static_cast<Half*>(keys.data()), keys.size()), window, function);
    return by_engine(keys, window, function);
}

SortStats Sorter::State::sort_windows(Keys keys, std::size_t window) {
    if (window < 1) throw InvalidArgument("Sorter::sort_windows: a window must hold at least 1 key, not 0");
    window = std::min(window, std::max<std::size_t>(keys.size(), 1));
    if (options.engine == Engine::Pbsn && window > options.max_texels) {
        throw InvalidArgument("Sorter::sort_windows: a window of " + std::to_string(window) +
                              " keys does not fit into a texture of " + std::to_string(options.max_texels) +
                              " texels (max_texels, or the driver's limit); use smaller windows or Engine::Cpu");
    }
    return sort(keys, window, "Sorter::sort_windows");
}

SortStats Sorter::State::by_engine(Keys keys, std::size_t window, const char* function) {
    auto engine = options.engine;
    if (engine == Engine::Auto) engine = choose_engine(context.info(), {keys.type(), keys.size(), window});
    switch (engine) {
        case Engine::Pbsn:
            if (keys.type() == KeyType::F32)
                return by_pbsn(std::span(static_cast<float*>(keys.data()), keys.size()), window, function);
            if (keys.type() == KeyType::F16)
                return by_pbsn(std::span(static_cast<Half*>(keys.data()), keys.size()), window, function);
            throw InvalidArgument(std::string(function) +
                                  ": Engine::Pbsn sorts by blending, which orders floats of 16 and 32 bits only; use "
                                  "Engine::Merge or Engine::Auto for other keys");
        case Engine::Merge:
            return window == 0 ? by_merge(keys, {}, std::array{keys.size()}, function)
                               : by_merge(keys, {}, ends_of_windows(keys.size(), window), function);
        case Engine::Bitonic:
            return by_bitonic(keys, {}, window, function);
        case Engine::Hybrid:
            return by_hybrid(keys, window == 0 ? std::vector<std::size_t>{} : ends_of_windows(keys.size(), window),
                             function);
        case Engine::Auto:
        case Engine::Cpu:
            break;
    }
    return window == 0 ? sort_on_cpu(keys, options.order) : sort_windows_on_cpu(keys, window, options.order);
}

Sorter::Sorter(Context context, const SortOptions& options)
    : state_(std::make_unique<State>(std::move(context), options)) {}
Sorter::Sorter(Sorter&&) noexcept = default;
Sorter& Sorter::operator=(Sorter&&) noexcept = default;
Sorter::~Sorter() = default;

SortStats Sorter::sort(Keys keys) {
    return state_->sort(keys, 0, "Sorter::sort");
}

SortStats Sorter::sort_with_index(Keys keys, std::span<std::uint32_t> index) {
    return state_->sort_with_index(keys, index);
}

SortStats Sorter::sort_windows(Keys keys, std::size_t window) {
    return state_->sort_windows(keys, window);
}

SortStats Sorter::sort_segments(Keys keys, std::span<const std::size_t> ends) {
    return state_->sort_segments(keys, ends);
}

SortStats Sorter::top(Keys keys, Keys best, std::span<std::uint32_t> index) {
    return state_->top(keys, best, index);
}

SortStats Sorter::argsort_texture(std::uint32_t keys, std::uint32_t index, std::size_t count) {
    return state_->argsort_texture(keys, index, count);
}

SortStats Sorter::sort_texture(std::uint32_t input, std::uint32_t output) {
    const Stopwatch total;
    auto& device = *state_->context.device();
    const gl::Scope scope(device, "Sorter::sort_texture");
    const auto from = gl::host_texture(device, input, {gl::Format::Rgba32f}, "Sorter::sort_texture", "input");
    const auto to = gl::host_texture(device, output, {gl::Format::Rgba32f}, "Sorter::sort_texture", "output");
    if (from.width() != to.width() || from.height() != to.height()) {
        const auto size = [](const gl::Texture& t) {
            return std::to_string(t.width()) + " x " + std::to_string(t.height());
        };
        throw InvalidArgument("Sorter::sort_texture: both textures must have one size, not " + size(from) + " and " +
                              size(to));
    }
    const gl::LevelZeroAccess read(device, from), write(device, to);
    auto& gpu = state_->on_gpu();
    if (!gpu.texture_sort) gpu.texture_sort.emplace(device, gpu.pbsn);
    const auto passes_before = device.passes;
    auto stats = gpu.texture_sort->run(from, to, state_->options);
    stats.passes = device.passes - passes_before;
    stats.sort_ms = stats.total_ms = total.ms();
    scope.check();
    return stats;
}

const SortOptions& Sorter::options() const noexcept {
    return state_->options;
}

SortStats sort(const Context& context, Keys keys, const SortOptions& options) {
    return Sorter(context, options).sort(keys);
}

}  // namespace quadmill
