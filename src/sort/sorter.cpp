// Sorts of keys in memory: chooses the engine and runs it.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/sort.hpp"
#include "gl/rehearsal.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"
#include "sort/hybrid_sort.hpp"
#include "sort/sorter_state.hpp"

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
        return Half::from_float(as_float(value));
    } else {
        return as_float(value);
    }
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

// For functions that only `some` engines have: any other engine that was asked for would be ignored. `names` are their
// names.
void Sorter::State::check_engine(const char* function, std::initializer_list<Engine> some, const char* names) const {
    if (options.engine == Engine::Auto || std::ranges::find(some, options.engine) != some.end()) return;
    throw InvalidArgument(std::string(function) + ": only " + names + " can do this; use it or Engine::Auto");
}

template <class Float>
SortStats Sorter::State::sort_with_pbsn(const Task& task, std::span<Float> keys) {
    const gl::Scope scope(*detail::Access::of(context), task.function);
    auto& gpu_side = pbsn_tools();
    const auto& pbsn = options.paper.pbsn;
    const auto channels = task.window == 0 ? Channels::Windows : channels_for(pbsn.channels);
    const auto ordered = options_with(task.order);
    ChunkSort<Float> sort({*detail::Access::of(context), gpu_side.pbsn, workers, gpu_side.scratch, ordered}, keys,
                          {task.keys.type(), task.window, channels});
    const auto stats = sort.run(task.window == 0 ? cut(keys.size(), pbsn.max_texels, pbsn.max_run)
                                                 : cut_windows(keys.size(), task.window, pbsn.max_texels, channels),
                                gpu_side.slots);
    scope.check();
    return stats;
}

SortStats Sorter::State::sort_with_pbsn(const Task& task) {
    const auto keys = task.keys;
    if (keys.type() == KeyType::F32)
        return sort_with_pbsn(task, std::span(static_cast<float*>(keys.data()), keys.size()));
    if (keys.type() == KeyType::F16)
        return sort_with_pbsn(task, std::span(static_cast<Half*>(keys.data()), keys.size()));
    throw InvalidArgument(std::string(task.function) +
                          ": Engine::Pbsn sorts using blending, which orders floats of 16 and 32 bits only; use "
                          "Engine::Merge or Engine::Auto for other keys");
}

SortStats Sorter::State::sort_with_merge(const Task& task) {
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
    const auto stats = argsort ? merge_sort().argsort(task.keys, task.index, task.order)
                               : merge_sort().run(task.keys, task.index, task.order, std::move(segments));
    scope.check();
    return stats;
}

SortStats Sorter::State::sort_with_bitonic(const Task& task) {
    if (task.keys.size() == 0) return {.n = 0, .engine = Engine::Bitonic};
    auto job = BitonicSort::job(context.info(), form(task), task.keys.size(), task.window, options_with(task.order),
                                task.function);
    if (task.what == Task::What::Argsort) job.kind = BitonicJob::Kind::Argsort;
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const auto stats = bitonic_sort().run(task.keys, task.index, job);
    scope.check();
    return stats;
}

SortStats Sorter::State::sort_with_hybrid(const Task& task) {
    const auto n = task.keys.size();
    const bool windowed = task.what == Task::What::Windows;
    const auto windows = windowed ? cpu::ends_of_windows(n, task.window) : std::vector<std::size_t>{};
    const auto ends = windowed ? std::span<const std::size_t>(windows) : task.ends;
    const auto no_space_for = [&](std::size_t positions) {
        auto space = space_for(task.function, form(task), positions);
        space.parts = !ends.empty();
        return no_space(space);
    };
    // Max positions that a part of that many keys takes. Each segment may take an extra pair of blocks for its last few
    // keys.
    const auto places_of_part = [&](std::size_t keys) {
        return std::min(keys, n) + std::min(keys, ends.size() * form(task).pair_keys());
    };
    // Parts are as large as the space allows. Segments are not cut.
    HybridPlan plan;
    while (plan.gpu_max > plan.gpu_min && no_space_for(places_of_part(plan.gpu_max))) plan.gpu_max /= 2;
    std::size_t begin = 0, max = places_of_part(plan.gpu_max);
    for (const auto end : ends) max = std::max(max, end - std::exchange(begin, end));
    if (const auto why = no_space_for(max)) throw InvalidArgument(std::string(task.function) + ": " + *why);
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const auto stats = hybrid_sort(merge_sort(), workers, task.keys, ends, task.order, plan);
    scope.check();
    return stats;
}

SortStats Sorter::State::argsort_on_cpu(const Task& task) const {
    const cpu::Stopwatch total;
    SortStats stats{.n = task.keys.size(), .engine = Engine::Cpu};
    cpu::sort_places(task.keys, cpu::part(task.keys, 0, 0), task.index, task.order, workers.threads());
    stats.sort_ms = stats.total_ms = total.ms();
    return stats;
}

SortStats Sorter::State::run_on_cpu(const Task& task) const {
    switch (task.what) {
        case Task::What::SortWithIndex:
            return sort_with_index_on_cpu(task.keys, task.index, task.order, options.threads);
        case Task::What::Argsort:
            return argsort_on_cpu(task);
        case Task::What::Windows:
            return sort_windows_on_cpu(task.keys, task.window, task.order, options.threads);
        case Task::What::Segments:
            return sort_segments_on_cpu(task.keys, task.ends, task.order, options.threads);
        default:
            return sort_on_cpu(task.keys, task.order, options.threads);
    }
}

SortStats Sorter::State::top(const Task& task, Keys best) {
    const auto keys = task.keys;
    const auto index = task.index;
    cpu::check_top(task.function, keys, best, index);
    check_no_conversion(options, task);
    const auto engine = engine_for(task);
    if (best.size() == 0 || engine == Engine::Cpu) return top_on_cpu(keys, best, index, task.order, options.threads);
    const gl::Scope scope(*detail::Access::of(context), task.function);
    const auto stats = merge_sort().top(keys, best, index, task.order);
    scope.check();
    return with_memory(stats);
}

// Makes the same call on zeros.
void Sorter::State::rehearse(SortCall call, KeyType type, std::size_t count) {
    auto& device = *detail::Access::of(context);
    const auto bytes = count * KeyForm{type}.key_bytes();
    const bool in_memory = call == SortCall::Sort || call == SortCall::SortWithIndex || call == SortCall::Argsort;
    if (in_memory) {
        const auto what = call == SortCall::Sort      ? Task::What::Sort
                          : call == SortCall::Argsort ? Task::What::Argsort
                                                      : Task::What::SortWithIndex;
        std::vector<std::uint32_t> index(call == SortCall::Sort ? 0 : count);
        cpu::visit_key_type(type, [&]<class Key>(const Key*) {
            std::vector<Key> keys(count);
            sort({what, "Sorter::prepare", keys, options.order, index});
        });
    } else if (call == SortCall::ArgsortTexture) {
        const auto format = texel_format(type);
        const auto width = static_cast<int>(std::min<std::size_t>(std::max<std::size_t>(count, 1), 4096));
        const auto height = static_cast<int>(std::max<std::size_t>((count + 4095) / 4096, 1));
        const gl::Texture keys(device, format, width, height), index(device, gl::Format::R32ui, width, height);
        argsort_texture({.texture = keys.id(), .count = count}, {}, index.id(), 0, options.order);
        if (type == KeyType::F32 && options.engine != Engine::Bitonic)
            caller_sort().keys().compile_planes_of_textures();
    } else {
        const std::vector<std::byte> zeros(std::max<std::size_t>(bytes, 1));
        const gl::Buffer keys(device, zeros);
        const std::vector<std::byte> positions(std::max<std::size_t>(count * sizeof(std::uint32_t), 1));
        const gl::Buffer order(device, positions);
        run_on_buffers("Sorter::prepare", {.buffer = keys.id(), .type = type}, {}, count,
                       call == SortCall::ArgsortBuffer
                           ? std::optional<BufferKeys>({.buffer = order.id(), .type = KeyType::U32})
                           : std::nullopt,
                       options.order);
        if (type == KeyType::F32 && call == SortCall::ArgsortBuffer) caller_sort().keys().compile_planes_of_buffers();
    }
}

// Converts the keys, sorts them, and converts them back. Every half is a float. A float that is not a half is rejected
// or rounded.
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
                              " is not a 16-bit float and would be changed; use 32-bit precision, or allow rounding");
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
    return with_memory(run_with(engine_for(task), task));
}

SortStats Sorter::State::with_memory(SortStats stats) const {
    stats.texture_bytes = detail::Access::of(context)->texture_bytes;
    stats.staging_bytes = detail::Access::of(context)->staging_bytes;
    return stats;
}

SortStats Sorter::State::run_with(Engine engine, const Task& task) {
    switch (engine) {
        case Engine::Pbsn:
            return sort_with_pbsn(task);
        case Engine::Bitonic:
            return sort_with_bitonic(task);
        case Engine::Merge:
            return sort_with_merge(task);
        case Engine::Hybrid:
            return sort_with_hybrid(task);
        default:
            return run_on_cpu(task);
    }
}

Sorter::Sorter(const Context& context, const SortOptions& options)
    : state_(std::make_unique<State>(context, options)) {}
Sorter::Sorter(Sorter&&) noexcept = default;
Sorter& Sorter::operator=(Sorter&&) noexcept = default;
Sorter::~Sorter() = default;

SortStats Sorter::sort(Keys keys, std::optional<Order> order) {
    return state_->sort({Task::What::Sort, "Sorter::sort", keys, state_->order_or_usual(order)});
}

SortStats Sorter::sort_with_index(Keys keys, std::span<std::uint32_t> index, std::optional<Order> order) {
    constexpr const char* function = "Sorter::sort_with_index";
    cpu::check_index(function, keys, index);
    return state_->sort({Task::What::SortWithIndex, function, keys, state_->order_or_usual(order), index});
}

SortStats Sorter::argsort(ConstKeys read_only, std::span<std::uint32_t> index, std::optional<Order> order) {
    constexpr const char* function = "Sorter::argsort";
    const Keys& keys = detail::Access::of(read_only);
    cpu::check_index(function, keys, index);
    return state_->sort({Task::What::Argsort, function, keys, state_->order_or_usual(order), index});
}

SortStats Sorter::sort_windows(Keys keys, std::size_t window, std::optional<Order> order) {
    constexpr const char* function = "Sorter::sort_windows";
    window = cpu::checked_window(function, keys, window);
    if (state_->options.engine == Engine::Pbsn) check_pbsn_window(function, state_->options.paper.pbsn, window);
    return state_->sort({Task::What::Windows, function, keys, state_->order_or_usual(order), {}, window});
}

SortStats Sorter::sort_segments(Keys keys, std::span<const std::size_t> ends, std::optional<Order> order) {
    constexpr const char* function = "Sorter::sort_segments";
    cpu::check_segments(function, keys.size(), ends);
    return state_->sort({Task::What::Segments, function, keys, state_->order_or_usual(order), {}, 0, ends});
}

SortStats Sorter::top(ConstKeys read_only, Keys best, std::span<std::uint32_t> index, std::optional<Order> order) {
    const Keys& keys = detail::Access::of(read_only);
    return state_->top({Task::What::Top, "Sorter::top", keys, state_->order_or_usual(order), index}, best);
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

SortStats sort(const Context& context, Keys keys) {
    return Sorter(context).sort(keys);
}

SortStats sort(const Context& context, Keys keys, const SortOptions& options) {
    return Sorter(context, options).sort(keys);
}

}  // namespace quadmill
