#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/sort.hpp"
#include "gl/rehearsal.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "sort/bitonic/bitonic_sort.hpp"
#include "sort/choose.hpp"
#include "sort/gpu_memory.hpp"
#include "sort/host_sort.hpp"
#include "sort/hybrid_sort.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/pbsn/chunk_sort.hpp"
#include "sort/pbsn/texture_sort.hpp"
#include "sort/task.hpp"

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
    OnGpu& on_gpu() { return gpu ? *gpu : gpu.emplace(*detail::Access::of(context)); }

    SortStats sort(const Task& task);
    SortStats top(Keys keys, Keys best, std::span<std::uint32_t> index);
    SortStats argsort_texture(std::uint32_t keys, std::uint32_t index, std::optional<std::size_t> count);
    SortStats by_buffers(const char* function, const BufferKeys& keys, std::size_t count,
                         std::optional<BufferKeys> index);
    SortStats argsort_region(const TextureRegion& keys, std::uint32_t index, int channel);
    SortStats sort_region(const TextureRegion& input, const TextureRegion& output, TexelChannels channels);
    [[nodiscard]] bool has_space_for_texels(std::uint32_t input, std::uint32_t output);
    template <class T>
    RankSample<T> sample_region(const TextureRegion& keys, double eps, int channel);
    [[nodiscard]] std::optional<std::string> no_space(const char* function, const KeyForm& form, std::size_t count,
                                                      std::size_t copy) const;
    void check_space(const char* function, const KeyForm& form, std::size_t count, std::size_t copy) const;
    void rehearse(SortCall call, KeyType type, std::size_t count);
    [[nodiscard]] KeyForm form(const Task& task) const {
        return {task.keys.type(), options.order, !task.index.empty()};
    }
    [[nodiscard]] std::optional<std::string> no_space(const Task& task) const {
        return sort::no_space(context, options, merge ? &*merge : nullptr, task);
    }
    [[nodiscard]] Engine engine_for(const Task& task);
    void check_engine(const char* function, std::initializer_list<Engine> some, const char* names) const;
    template <class Float>
    SortStats by_pbsn(const Task& task, std::span<Float> keys);
    SortStats by_pbsn(const Task& task);
    SortStats by_bitonic(const Task& task);
    SortStats by_merge(const Task& task);
    SortStats by_hybrid(const Task& task);
    SortStats on_cpu(const Task& task) const;
    SortStats argsort_on_cpu(const Task& task) const;
    [[nodiscard]] SortStats with_memory(SortStats stats) const;
    SortStats by_engine(Engine engine, const Task& task);
    MergeSort& on_merge() {
        if (!merge) merge.emplace(*detail::Access::of(context), workers).plan().kernel = options.merge.kernel;
        return *merge;
    }
    HostSort& on_host() { return host ? *host : host.emplace(*detail::Access::of(context), on_merge()); }
    BitonicSort& on_bitonic() { return bitonic ? *bitonic : bitonic.emplace(*detail::Access::of(context), workers); }
    template <class Other, class Float>
    SortStats converted(Task task, std::span<Float> keys);

    Context context;
    SortOptions options;
    cpu::Workers workers;
    SortCrossings crossings;
    std::optional<OnGpu> gpu;
    std::optional<MergeSort> merge;
    std::optional<BitonicSort> bitonic;
    std::optional<HostSort> host;
};

namespace {

// The order of one call, where it has its own.
class OrderOfCall {
  public:
    OrderOfCall(Order& order, std::optional<Order> wanted) : order_(order), usual_(order) {
        order = wanted.value_or(order);
    }
    OrderOfCall(const OrderOfCall&) = delete;
    OrderOfCall& operator=(const OrderOfCall&) = delete;
    ~OrderOfCall() { order_ = usual_; }

  private:
    Order& order_;
    Order usual_;
};

// Of what a sort of those texels copies.
std::size_t texels_bytes(const KeysInTexture& keys) {
    return 4 * keys.part.texels() * gl::info(keys.part.format).bytes;
}

}  // namespace

Sorter::State::State(Context with, const SortOptions& wanted)
    : context(std::move(with)),
      options(checked_options("Sorter", context.info(), wanted)),
      workers(wanted.threads),
      crossings(crossings_for(context.info(), options)) {}

Engine Sorter::State::engine_for(const Task& task) {
    if (!can(options.engine, task.what)) throw cannot(options.engine, task);
    const bool is_auto = options.engine == Engine::Auto;
    const auto engine = is_auto ? choose(crossings, task.work()) : options.engine;
    if (engine != Engine::Merge && !(is_auto && engine == Engine::Hybrid)) return engine;
    const auto why = no_space(task);
    if (why && !is_auto) throw InvalidArgument(std::string(task.function) + ": " + *why);
    return why ? Engine::Cpu : engine;
}

// For what some engines alone can do: another one that was asked for would be ignored. `names` are theirs.
void Sorter::State::check_engine(const char* function, std::initializer_list<Engine> some, const char* names) const {
    if (options.engine == Engine::Auto || std::ranges::find(some, options.engine) != some.end()) return;
    throw InvalidArgument(std::string(function) + ": only " + names + " can sort so; use it or Engine::Auto");
}

template <class Float>
SortStats Sorter::State::by_pbsn(const Task& task, std::span<Float> keys) {
    const gl::Scope scope(*detail::Access::of(context), task.function);
    auto& gpu_side = on_gpu();
    const auto& pbsn = options.pbsn;
    const auto channels = task.window == 0 ? Channels::Windows : channels_for(pbsn.channels);
    ChunkSort<Float> sort({*detail::Access::of(context), gpu_side.pbsn, workers, gpu_side.scratch, options}, keys,
                          {task.keys.type(), task.window, channels});
    const auto stats = sort.run(task.window == 0 ? cut(keys.size(), pbsn.max_texels, pbsn.max_run)
                                                 : cut_windows(keys.size(), task.window, pbsn.max_texels, channels),
                                gpu_side.lanes);
    scope.check();
    return stats;
}

SortStats Sorter::State::by_pbsn(const Task& task) {
    const auto keys = task.keys;
    if (keys.type() == KeyType::F32) return by_pbsn(task, std::span(static_cast<float*>(keys.data()), keys.size()));
    if (keys.type() == KeyType::F16) return by_pbsn(task, std::span(static_cast<Half*>(keys.data()), keys.size()));
    throw InvalidArgument(std::string(task.function) +
                          ": Engine::Pbsn sorts by blending, which orders floats of 16 and 32 bits only; use "
                          "Engine::Merge or Engine::Auto for other keys");
}

SortStats Sorter::State::by_merge(const Task& task) {
    Segments segments(form(task).pair_keys());
    if (task.what == Task::What::Segments) {
        std::size_t begin = 0;
        for (const auto end : task.ends) {
            segments.add(begin, end - begin);
            begin = end;
        }
    } else {
        segments.add_windows(task.keys.size(), task.window == 0 ? task.keys.size() : task.window);
    }
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const bool argsort = task.what == Task::What::Argsort && task.keys.size() > 0;
    const auto stats = argsort ? on_merge().argsort(task.keys, task.index, options.order)
                               : on_merge().run(task.keys, task.index, options.order, std::move(segments));
    scope.check();
    return stats;
}

SortStats Sorter::State::by_bitonic(const Task& task) {
    if (task.keys.size() == 0) return {.n = 0, .engine = Engine::Bitonic};
    auto job = BitonicSort::job(context.info(), form(task), task.keys.size(), task.window, options, task.function);
    if (task.what == Task::What::Argsort) job.kind = BitonicJob::Kind::Argsort;
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const auto stats = on_bitonic().run(task.keys, task.index, job);
    scope.check();
    return stats;
}

SortStats Sorter::State::by_hybrid(const Task& task) {
    const auto n = task.keys.size();
    const bool windowed = task.what == Task::What::Windows;
    const auto windows = windowed ? cpu::ends_of_windows(n, task.window) : std::vector<std::size_t>{};
    const auto ends = windowed ? std::span<const std::size_t>(windows) : task.ends;
    const auto no_space_for = [&](std::size_t keys) {
        return no_space({Task::What::Sort, task.function, cpu::part(task.keys, 0, std::min(keys, n))});
    };
    // Parts as large as there is space for; a segment is not cut.
    HybridPlan plan;
    while (plan.gpu_most > plan.gpu_least && no_space_for(plan.gpu_most)) plan.gpu_most /= 2;
    std::size_t begin = 0, longest = std::min(n, plan.gpu_most);
    for (const auto end : ends) longest = std::max(longest, end - std::exchange(begin, end));
    if (const auto why = no_space_for(longest)) throw InvalidArgument(std::string(task.function) + ": " + *why);
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const auto stats = hybrid_sort(on_merge(), workers, task.keys, ends, options.order, plan);
    scope.check();
    return stats;
}

SortStats Sorter::State::argsort_on_cpu(const Task& task) const {
    const cpu::Stopwatch total;
    SortStats stats{.n = task.keys.size(), .engine = Engine::Cpu};
    cpu::sort_places(task.keys, cpu::part(task.keys, 0, 0), task.index, options.order, workers);
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}

SortStats Sorter::State::on_cpu(const Task& task) const {
    switch (task.what) {
        case Task::What::SortWithIndex:
            return sort_with_index_on_cpu(task.keys, task.index, options.order, options.threads);
        case Task::What::Argsort:
            return argsort_on_cpu(task);
        case Task::What::Windows:
            return sort_windows_on_cpu(task.keys, task.window, options.order, options.threads);
        case Task::What::Segments:
            return sort_segments_on_cpu(task.keys, task.ends, options.order, options.threads);
        default:
            return sort_on_cpu(task.keys, options.order, options.threads);
    }
}

SortStats Sorter::State::top(Keys keys, Keys best, std::span<std::uint32_t> index) {
    const Task task{Task::What::Top, "Sorter::top", keys, index};
    cpu::check_top(task.function, keys, best, index);
    check_no_conversion(options, task);
    const auto engine = engine_for(task);
    if (best.size() == 0 || engine == Engine::Cpu) return top_on_cpu(keys, best, index, options.order, options.threads);
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const auto stats = on_merge().top(keys, best, index, options.order);
    scope.check();
    return with_memory(stats);
}

SortStats Sorter::State::argsort_texture(std::uint32_t keys, std::uint32_t index, std::optional<std::size_t> count) {
    constexpr const char* function = "Sorter::argsort_texture";
    check_engine(function, {Engine::Merge, Engine::Bitonic}, "Engine::Merge or Engine::Bitonic");
    const bool by_bitonic = options.engine == Engine::Bitonic;
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const auto from = gl::host_texture(device, keys, {gl::Format::R32f, gl::Format::R32ui, gl::Format::R32i}, function,
                                       "the texture of keys");
    const auto to = gl::host_texture(device, index, {gl::Format::R32ui}, function, "the texture of the index");
    const auto texels = [](const gl::Texture& texture) {
        return static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height());
    };
    const auto n = count.value_or(texels(from));
    constexpr std::size_t most = std::size_t{1} << 28U;
    if (n > std::min({texels(from), texels(to), most})) {
        throw InvalidArgument(std::string(function) + ": " + std::to_string(n) +
                              " keys do not fit: the texture of keys has " + std::to_string(texels(from)) +
                              " texels, that of the index " + std::to_string(texels(to)) + ", and 2^28 is the most");
    }
    if (keys == index) throw InvalidArgument(std::string(function) + ": keys and index must be two textures");
    if (n == 0) return {.n = 0, .engine = by_bitonic ? Engine::Bitonic : Engine::Merge};
    const auto form = MergeSort::argsort_form(from.format(), options.order);
    if (!by_bitonic) check_space(function, form, n, texels(from) * sizeof(std::uint32_t));
    const gl::PlainAccess read(device, from), write(device, to);
    if (write.hides_level_zero() && !write.is_view()) {
        throw InvalidArgument(std::string(function) +
                              ": BASE_LEVEL of the index texture leaves level 0 out, and drivers may lose what is "
                              "written there; set it to 0, or make the texture by glTexStorage2D");
    }
    const auto how = write.hides_level_zero() ? IndexWrite::Copied : IndexWrite::Drawn;
    SortStats stats;
    if (by_bitonic) {
        auto job = BitonicSort::job(context.info(), form, n, 0, options, function);
        job.kind = BitonicJob::Kind::ArgsortTexture;
        stats = on_bitonic().argsort(read.texture(), write.texture(), job, how);
    } else {
        stats = on_merge().argsort(read.texture(), write.texture(), n, options.order, how);
    }
    scope.check();
    return with_memory(stats);
}

// Why Merge has no space for that many keys, and `copy` bytes of copies, if it has none.
std::optional<std::string> Sorter::State::no_space(const char* function, const KeyForm& form, std::size_t count,
                                                   std::size_t copy) const {
    const auto each = form.pair_keys();
    const MergeSpace space{.function = function,
                           .form = form,
                           .pairs = (count + each - 1) / each,
                           .tiles = tiles_for(context, options, form, {{1, count, count}}),
                           .lanes = 0,
                           .copy = copy};
    return sort::no_space(context, options, merge ? &*merge : nullptr, space);
}

// Throws InvalidArgument where it has none.
void Sorter::State::check_space(const char* function, const KeyForm& form, std::size_t count, std::size_t copy) const {
    if (const auto why = no_space(function, form, count, copy))
        throw InvalidArgument(std::string(function) + ": " + *why);
}

SortStats Sorter::State::argsort_region(const TextureRegion& keys, std::uint32_t index, int channel) {
    constexpr const char* function = "Sorter::argsort_texture";
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the texture of keys", keys, channel);
    const auto to = gl::host_texture(device, index, {gl::Format::R32ui}, function, "the texture of the index");
    const auto most = static_cast<std::size_t>(to.width()) * static_cast<std::size_t>(to.height());
    if (keys.texture == index) throw InvalidArgument(std::string(function) + ": keys and index must be two textures");
    if (from.count > most) {
        throw InvalidArgument(std::string(function) + ": " + std::to_string(from.count) +
                              " keys do not fit: the texture of the index has " + std::to_string(most) + " texels");
    }
    if (from.count == 0) return {.n = 0, .engine = Engine::Merge};
    const auto form = from.form(options.order, true);
    check_space(function, form, from.count, from.part.texels() * gl::info(from.part.format).bytes);
    const gl::PlainAccess write(device, to);
    if (write.hides_level_zero() && !write.is_view())
        throw InvalidArgument(std::string(function) +
                              ": BASE_LEVEL of the index texture leaves level 0 out; set it to 0");
    const auto stats = on_host().argsort(
        from, write.texture(), write.hides_level_zero() ? IndexWrite::Copied : IndexWrite::Drawn, options.order);
    scope.check();
    return with_memory(stats);
}

SortStats Sorter::State::sort_region(const TextureRegion& input, const TextureRegion& output, TexelChannels channels) {
    constexpr const char* function = "Sorter::sort_texture";
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the input texture", input, 0),
        to(device, function, "the output texture", output, 0);
    check_pair(function, from, to);
    if (from.count == 0) return {.n = 0, .engine = Engine::Merge};
    const auto keys =
        channels == TexelChannels::AllAsOne ? from.count * static_cast<std::size_t>(from.channels) : from.count;
    check_space(function, from.form(options.order, false), keys, texels_bytes(from));
    const auto stats = on_host().sort(from, to, channels, options.order);
    scope.check();
    return with_memory(stats);
}

// Whether sort_region() would sort the whole texture, as far as memory goes.
bool Sorter::State::has_space_for_texels(std::uint32_t input, std::uint32_t output) {
    constexpr const char* function = "Sorter::sort_texture";
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the input texture", {.texture = input}, 0),
        to(device, function, "the output texture", {.texture = output}, 0);
    check_pair(function, from, to);
    const bool space = !no_space(function, from.form(options.order, false), from.count, texels_bytes(from));
    scope.check();
    return space;
}

template <class T>
RankSample<T> Sorter::State::sample_region(const TextureRegion& keys, double eps, int channel) {
    constexpr const char* function = "Sorter::sample_texture";
    if (!(eps >= 0 && eps <= 1))
        throw InvalidArgument(std::string(function) + ": eps must be from 0 to 1, not " + std::to_string(eps));
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the texture of keys", keys, channel);
    if (from.form(Order::Ascending, true).type != Keys(std::span<T>()).type())
        throw InvalidArgument(
            std::string(function) + ": texels of " + gl::info(from.part.format).name +
            " are keys of another type: R32UI of std::uint32_t, R32I of std::int32_t, all else of float");
    if (from.count == 0) return {};
    check_space(function, from.form(Order::Ascending, true), from.count,
                from.part.texels() * gl::info(from.part.format).bytes);
    const auto words = on_host().sample(from, eps);
    scope.check();
    RankSample<T> sample{.n = words.n, .nans = words.nans, .step = words.step};
    for (const auto word : words.values) sample.values.push_back(std::bit_cast<T>(word));
    return sample;
}

// With an index, that of the keys in order; else the keys themselves.
SortStats Sorter::State::by_buffers(const char* function, const BufferKeys& keys, std::size_t count,
                                    std::optional<BufferKeys> index) {
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInBuffer from(device, function, "the buffer of keys", keys, count);
    const auto to =
        index ? std::optional<KeysInBuffer>(std::in_place, device, function, "the buffer of the index", *index, count)
              : std::nullopt;
    if (to && index->buffer == keys.buffer && overlap(from, *to)) {
        throw InvalidArgument(std::string(function) + ": keys and index share bytes of the buffer " +
                              std::to_string(keys.buffer) + "; give them parts, or buffers, of their own");
    }
    if (count == 0) return {.n = 0, .engine = Engine::Merge};
    check_space(function, HostSort::form(from, options.order, to.has_value()), count,
                to ? count * sizeof(std::uint32_t) : 0);
    const auto stats =
        to ? on_host().argsort(from, to->buffer, to->offset, options.order) : on_host().sort(from, options.order);
    scope.check();
    return with_memory(stats);
}

// The call as it will be, on zeros.
void Sorter::State::rehearse(SortCall call, KeyType type, std::size_t count) {
    auto& device = *detail::Access::of(context);
    const auto bytes = count * KeyForm{type}.key_bytes();
    const bool in_memory = call == SortCall::Sort || call == SortCall::SortWithIndex || call == SortCall::Argsort;
    if (in_memory) {
        const auto what = call == SortCall::Sort      ? Task::What::Sort
                          : call == SortCall::Argsort ? Task::What::Argsort
                                                      : Task::What::SortWithIndex;
        std::vector<std::uint32_t> index(call == SortCall::Sort ? 0 : count);
        cpu::visit_type(type, [&]<class Key>(const Key*) {
            std::vector<Key> keys(count);
            sort({what, "Sorter::prepare", keys, index});
        });
    } else if (call == SortCall::ArgsortTexture) {
        const auto format = type == KeyType::F32   ? gl::Format::R32f
                            : type == KeyType::I32 ? gl::Format::R32i
                                                   : gl::Format::R32ui;
        const auto width = static_cast<int>(std::min<std::size_t>(std::max<std::size_t>(count, 1), 4096));
        const auto height = static_cast<int>(std::max<std::size_t>((count + 4095) / 4096, 1));
        const gl::Texture keys(device, format, width, height), index(device, gl::Format::R32ui, width, height);
        argsort_texture(keys.id(), index.id(), count);
    } else {
        const std::vector<std::byte> zeros(std::max<std::size_t>(bytes, 1));
        const gl::Buffer keys(device, zeros);
        const std::vector<std::byte> places(std::max<std::size_t>(count * sizeof(std::uint32_t), 1));
        const gl::Buffer order(device, places);
        by_buffers("Sorter::prepare", {.buffer = keys.id(), .type = type}, count,
                   call == SortCall::ArgsortBuffer
                       ? std::optional<BufferKeys>({.buffer = order.id(), .type = KeyType::U32})
                       : std::nullopt);
    }
}

// Converts the keys, sorts those, and converts back. Every half is a float; a float that is no half is refused or
// rounded.
template <class Other, class Float>
SortStats Sorter::State::converted(Task task, std::span<Float> keys) {
    const cpu::Stopwatch total;
    std::vector<Other> others(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        others[i] = convert<Other>(keys[i]);
        const auto back = convert<Float>(others[i]);
        if (options.rounding == Rounding::Nearest || cpu::KeyBits<Float>::of(back) == cpu::KeyBits<Float>::of(keys[i]))
            continue;
        throw InvalidArgument(std::string(task.function) + ": the key " + std::to_string(as_float(keys[i])) +
                              " at index " + std::to_string(i) +
                              " is no 16-bit float and would be changed; use 32-bit precision, or allow rounding");
    }
    task.keys = std::span(others);
    auto stats = sort(task);
    std::transform(others.begin(), others.end(), keys.begin(), convert<Float, Other>);
    stats.total_ms = total.ms();
    return stats;
}

SortStats Sorter::State::sort(const Task& task) {
    const auto keys = task.keys;
    if (task.what == Task::What::Sort || task.what == Task::What::Windows) {
        if (options.precision == Precision::Float16 && keys.type() == KeyType::F32)
            return converted<Half>(task, std::span(static_cast<float*>(keys.data()), keys.size()));
        if (options.precision == Precision::Float32 && keys.type() == KeyType::F16)
            return converted<float>(task, std::span(static_cast<Half*>(keys.data()), keys.size()));
    }
    check_no_conversion(options, task);
    return with_memory(by_engine(engine_for(task), task));
}

SortStats Sorter::State::with_memory(SortStats stats) const {
    stats.texture_bytes = detail::Access::of(context)->texture_bytes;
    stats.staging_bytes = detail::Access::of(context)->staging_bytes;
    return stats;
}

SortStats Sorter::State::by_engine(Engine engine, const Task& task) {
    switch (engine) {
        case Engine::Pbsn:
            return by_pbsn(task);
        case Engine::Bitonic:
            return by_bitonic(task);
        case Engine::Merge:
            return by_merge(task);
        case Engine::Hybrid:
            return by_hybrid(task);
        default:
            return on_cpu(task);
    }
}

Sorter::Sorter(const Context& context, const SortOptions& options)
    : state_(std::make_unique<State>(context, options)) {}
Sorter::Sorter(Sorter&&) noexcept = default;
Sorter& Sorter::operator=(Sorter&&) noexcept = default;
Sorter::~Sorter() = default;

SortStats Sorter::sort(Keys keys, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->sort({Task::What::Sort, "Sorter::sort", keys});
}

SortStats Sorter::sort_with_index(Keys keys, std::span<std::uint32_t> index, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    constexpr const char* function = "Sorter::sort_with_index";
    cpu::check_index(function, keys, index);
    return state_->sort({Task::What::SortWithIndex, function, keys, index});
}

SortStats Sorter::argsort(Keys keys, std::span<std::uint32_t> index, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    constexpr const char* function = "Sorter::argsort";
    cpu::check_index(function, keys, index);
    return state_->sort({Task::What::Argsort, function, keys, index});
}

SortStats Sorter::sort_windows(Keys keys, std::size_t window, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    constexpr const char* function = "Sorter::sort_windows";
    if (window < 1) throw InvalidArgument(std::string(function) + ": a window must hold at least 1 key, not 0");
    window = std::min(window, std::max<std::size_t>(keys.size(), 1));
    if (state_->options.engine == Engine::Pbsn) check_pbsn_window(function, state_->options.pbsn, window);
    return state_->sort({Task::What::Windows, function, keys, {}, window});
}

SortStats Sorter::sort_segments(Keys keys, std::span<const std::size_t> ends, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    constexpr const char* function = "Sorter::sort_segments";
    cpu::check_segments(function, keys, ends);
    return state_->sort({Task::What::Segments, function, keys, {}, 0, ends});
}

SortStats Sorter::top(Keys keys, Keys best, std::span<std::uint32_t> index, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->top(keys, best, index);
}

SortStats Sorter::argsort_texture(std::uint32_t keys, std::uint32_t index, std::optional<std::size_t> count,
                                  std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->argsort_texture(keys, index, count);
}

SortStats Sorter::sort_texture(std::uint32_t input, std::uint32_t output, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    const cpu::Stopwatch total;
    state_->check_engine("Sorter::sort_texture", {Engine::Pbsn, Engine::Merge}, "Engine::Pbsn or Engine::Merge");
    const auto engine = state_->options.engine;
    if (engine == Engine::Merge || (engine == Engine::Auto && state_->has_space_for_texels(input, output)))
        return state_->sort_region({.texture = input}, {.texture = output}, TexelChannels::EachByItself);
    auto& device = *detail::Access::of(state_->context);
    const gl::Scope scope(device, "Sorter::sort_texture");
    const auto from =
        gl::host_texture(device, input, {gl::Format::Rgba32f}, "Sorter::sort_texture", "the input texture");
    const auto to =
        gl::host_texture(device, output, {gl::Format::Rgba32f}, "Sorter::sort_texture", "the output texture");
    if (from.width() != to.width() || from.height() != to.height()) {
        const auto size = [](const gl::Texture& t) {
            return std::to_string(t.width()) + " x " + std::to_string(t.height());
        };
        throw InvalidArgument("Sorter::sort_texture: both textures must have one size, not " + size(from) + " and " +
                              size(to));
    }
    const gl::PlainAccess read(device, from), write(device, to);
    auto& gpu = state_->on_gpu();
    if (!gpu.texture_sort) gpu.texture_sort.emplace(device, gpu.pbsn);
    const auto passes_before = device.passes;
    auto stats = gpu.texture_sort->run(read.texture(), write.texture(), state_->options);
    stats.passes = device.passes - passes_before;
    stats.sort_ms = stats.total_ms = total.ms();
    scope.check();
    return state_->with_memory(stats);
}

SortStats Sorter::argsort_texture(const TextureRegion& keys, std::uint32_t index, int channel,
                                  std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->argsort_region(keys, index, channel);
}

SortStats Sorter::sort_texture(const TextureRegion& input, const TextureRegion& output, TexelChannels channels,
                               std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->sort_region(input, output, channels);
}

template <class T>
RankSample<T> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel) {
    return state_->sample_region<T>(keys, eps, channel);
}
template RankSample<float> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel);
template RankSample<std::int32_t> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel);
template RankSample<std::uint32_t> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel);

SortStats Sorter::argsort_buffer(const BufferKeys& keys, std::size_t count, std::uint32_t index,
                                 std::size_t index_offset, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->by_buffers("Sorter::argsort_buffer", keys, count,
                              BufferKeys{.buffer = index, .type = KeyType::U32, .offset = index_offset});
}

SortStats Sorter::sort_buffer(const BufferKeys& keys, std::size_t count, std::optional<Order> order) {
    const OrderOfCall in(state_->options.order, order);
    return state_->by_buffers("Sorter::sort_buffer", keys, count, {});
}

bool Sorter::prepare(SortCall call, KeyType type, std::size_t count, std::size_t programs) {
    auto& device = *detail::Access::of(state_->context);
    const gl::Scope scope(device, "Sorter::prepare");
    const bool ready = gl::rehearse(device, programs, [&] { state_->rehearse(call, type, count); });
    scope.check();
    return ready;
}

const SortOptions& Sorter::options() const noexcept {
    return state_->options;
}

SortStats sort(const Context& context, Keys keys, const SortOptions& options) {
    return Sorter(context, options).sort(keys);
}

}  // namespace quadmill
