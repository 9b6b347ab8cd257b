// Sorts of keys in textures and buffers of the application.
#include <algorithm>
#include <bit>

#include "cpu/sort.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "sort/sorter_state.hpp"

namespace quadmill {

using namespace detail;        // NOLINT(google-build-using-namespace): this file is a front door of the room
using namespace detail::sort;  // NOLINT(google-build-using-namespace)

namespace {

constexpr const char* index_name = "the texture of the index";

// Bytes of the copies that a sort of those texels makes.
std::size_t texels_bytes(const KeysInTexture& keys) {
    return 4 * keys.part.texels() * gl::info(keys.part.format).bytes;
}

}  // namespace

// Space for that many keys as one array in memory.
MergeSpace Sorter::State::space_for(const char* function, const KeyForm& form, std::size_t count) const {
    const auto each = form.pair_keys();
    return {.function = function,
            .form = form,
            .pairs = (count + each - 1) / each,
            .tiles = tiles_for(context, options, form, {{1, count, count}})};
}

// If the merge engine has no space on the GPU for that many keys and `copy` bytes of copies, the reason.
std::optional<std::string> Sorter::State::no_space(const char* function, const KeyForm& form, std::size_t count,
                                                   std::size_t copy) const {
    auto space = space_for(function, form, count);
    space.slots = 0;
    space.copy = copy;
    return no_space(space);
}

// Throws InvalidArgument if there is no space.
void Sorter::State::check_space(const char* function, const KeyForm& form, std::size_t count, std::size_t copy) const {
    if (const auto why = no_space(function, form, count, copy))
        throw InvalidArgument(std::string(function) + ": " + *why);
}

SortStats Sorter::State::argsort_texture(const TextureRegion& keys, const std::optional<Plane>& plane,
                                         std::uint32_t index, int channel, Order order) {
    constexpr const char* function = "Sorter::argsort_texture";
    check_engine(function, {Engine::Merge, Engine::Bitonic}, "Engine::Merge or Engine::Bitonic");
    const bool by_bitonic = options.engine == Engine::Bitonic;
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the texture of keys", keys, channel, plane);
    const auto to = index_texture(device, index, from.count, function, index_name);
    if (keys.texture == index)
        throw InvalidArgument(std::string(function) + ": keys and index must be different textures");
    if (by_bitonic) from.refuse_counter(function);
    if (by_bitonic && from.copied_to(true) != gl::Format::R32ui) {
        throw InvalidArgument(std::string(function) + ": Engine::Bitonic sorts R32F, R32I and R32UI, not " +
                              gl::info(from.part.format).name + "; use Engine::Merge or Engine::Auto");
    }
    if (from.count == 0) return {.n = 0, .engine = by_bitonic ? Engine::Bitonic : Engine::Merge};
    const auto form = from.form(order, true);
    if (!by_bitonic) check_space(function, form, from.count, from.copied_bytes());
    const gl::PlainAccess write(device, to);
    const auto how = index_write(write, function, index_name);
    CallerSort::Argsort bitonic_argsort;
    if (by_bitonic) {
        auto job = BitonicSort::job(context.info(), form, from.count, 0, options_with(order), function);
        job.kind = BitonicJob::Kind::ArgsortTexture;
        bitonic_argsort = [&, job](const gl::Texture& raw, const gl::Framebuffer& target) {
            bitonic_sort().argsort(raw, target, job);
        };
    }
    auto stats = caller_sort().argsort(from, write.texture(), how, order, bitonic_argsort);
    if (by_bitonic) stats.engine = Engine::Bitonic;
    scope.check();
    return with_memory(stats);
}

SortStats Sorter::State::argsort_segments(const char* function, const TextureRegion& keys,
                                          std::span<const std::size_t> ends, std::uint32_t index, int channel,
                                          Order order) {
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the texture of keys", keys, channel);
    const auto to = index_texture(device, index, from.count, function, index_name);
    if (keys.texture == index)
        throw InvalidArgument(std::string(function) + ": keys and index must be different textures");
    from.refuse_counter(function);
    cpu::check_segments(function, from.count, ends);
    if (from.count == 0) return {.n = 0, .engine = Engine::Merge};
    check_space(function, CallerSort::segments_form, from.count, from.copied_bytes());
    const gl::PlainAccess write(device, to);
    const auto stats =
        caller_sort().argsort(from, ends, write.texture(), index_write(write, function, index_name), order);
    scope.check();
    return with_memory(stats);
}

SortStats Sorter::State::sort_region(const TextureRegion& input, const TextureRegion& output, TexelChannels channels,
                                     Order order, NoSpace if_none) {
    constexpr const char* function = "Sorter::sort_texture";
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the input texture", input, 0),
        to(device, function, "the output texture", output, 0);
    check_pair(function, from, to);
    if (from.count == 0) return {.n = 0, .engine = Engine::Merge};
    from.refuse_counter(function);
    to.refuse_counter(function);
    const auto keys =
        channels == TexelChannels::AllAsOne ? from.count * static_cast<std::size_t>(from.channels) : from.count;
    const auto why = no_space(function, from.form(order, false), keys, texels_bytes(from));
    if (why && if_none == NoSpace::Blend && blends(device))
        return sort_by_blending(input.texture, output.texture, order);
    if (why) throw InvalidArgument(std::string(function) + ": " + *why);
    const auto stats = caller_sort().sort(from, to, channels, order);
    scope.check();
    return with_memory(stats);
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
            " are keys of another type: unsigned integers of std::uint32_t, signed ones of std::int32_t, all else of "
            "float");
    from.refuse_counter(function);
    if (from.count == 0) return {};
    check_space(function, from.form(Order::Ascending, true), from.count, from.copied_bytes());
    const auto words = caller_sort().sample(from, eps);
    scope.check();
    RankSample<T> sample{.n = words.n, .nans = words.nans, .step = words.step};
    for (const auto word : words.values) sample.values.push_back(std::bit_cast<T>(word));
    return sample;
}

SortStats Sorter::State::percentiles(const TextureRegion& keys, std::span<const double> phi, std::uint32_t output,
                                     int channel) {
    constexpr const char* function = "Sorter::percentiles_texture";
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInTexture from(device, function, "the texture of keys", keys, channel);
    if (from.count != 0) {
        check_space(function, from.form(Order::Ascending, true), from.count, from.copied_bytes());
    }
    const auto stats = caller_sort().percentiles(function, from, phi, output);
    scope.check();
    return with_memory(stats);
}

// With an index, writes the index of the sorted keys; otherwise sorts the keys themselves.
SortStats Sorter::State::run_on_buffers(const char* function, const BufferKeys& keys, const std::optional<Plane>& plane,
                                        std::size_t count, std::optional<BufferKeys> index, Order order) {
    check_engine(function, {Engine::Merge}, "Engine::Merge");
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const KeysInBuffer from(device, function, "the buffer of keys", keys, count, plane);
    const auto to =
        index ? std::optional<KeysInBuffer>(std::in_place, device, function, "the buffer of the index", *index, count)
              : std::nullopt;
    if (to) check_pair(function, from, *to);
    if (count == 0) return {.n = 0, .engine = Engine::Merge};
    check_space(function, CallerSort::form(from, order, to.has_value()), count, to ? count * sizeof(std::uint32_t) : 0);
    const auto stats =
        to ? caller_sort().argsort(from, to->buffer, to->offset, order) : caller_sort().sort(from, order);
    scope.check();
    return with_memory(stats);
}

SortStats Sorter::State::sort_by_blending(std::uint32_t input, std::uint32_t output, Order order) {
    constexpr const char* function = "Sorter::sort_texture";
    const cpu::Stopwatch total;
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, function);
    const auto from = gl::host_texture(device, input, {gl::Format::Rgba32f}, function, "the input texture");
    const auto to = gl::host_texture(device, output, {gl::Format::Rgba32f}, function, "the output texture");
    if (from.width() != to.width() || from.height() != to.height()) {
        const auto size = [](const gl::Texture& t) {
            return std::to_string(t.width()) + " x " + std::to_string(t.height());
        };
        throw InvalidArgument(std::string(function) + ": both textures must have the same size, not " + size(from) +
                              " and " + size(to));
    }
    const gl::PlainAccess read(device, from), write(device, to);
    auto& by = pbsn_tools();
    if (!by.texture_sort) by.texture_sort.emplace(device, by.pbsn);
    const auto passes_before = device.passes;
    auto stats = by.texture_sort->run(read.texture(), write.texture(), options_with(order));
    stats.passes = device.passes - passes_before;
    stats.sort_ms = stats.total_ms = total.ms();
    scope.check();
    return with_memory(stats);
}

SortStats Sorter::argsort_texture(std::uint32_t keys, std::uint32_t index, std::optional<std::size_t> count,
                                  std::optional<Order> order) {
    return argsort_texture({.texture = keys, .count = count}, index, 0, order);
}

SortStats Sorter::sort_texture(std::uint32_t input, std::uint32_t output, std::optional<Order> order) {
    state_->check_engine("Sorter::sort_texture", {Engine::Pbsn, Engine::Merge}, "Engine::Pbsn or Engine::Merge");
    const auto engine = state_->options.engine;
    const auto wanted = state_->order_or_usual(order);
    if (engine == Engine::Pbsn) return state_->sort_by_blending(input, output, wanted);
    return state_->sort_region({.texture = input}, {.texture = output}, TexelChannels::EachByItself, wanted,
                               engine == Engine::Auto ? State::NoSpace::Blend : State::NoSpace::Throw);
}

SortStats Sorter::argsort_texture(const TextureRegion& keys, std::uint32_t index, int channel,
                                  std::optional<Order> order) {
    return state_->argsort_texture(keys, {}, index, channel, state_->order_or_usual(order));
}

SortStats Sorter::argsort_texture(const TextureRegion& positions, const Plane& plane, std::uint32_t index,
                                  std::optional<Order> order) {
    return state_->argsort_texture(positions, plane, index, 0, state_->order_or_usual(order));
}

SortStats Sorter::sort_texture(const TextureRegion& input, const TextureRegion& output, TexelChannels channels,
                               std::optional<Order> order) {
    return state_->sort_region(input, output, channels, state_->order_or_usual(order));
}

SortStats Sorter::percentiles_texture(const TextureRegion& keys, std::span<const double> phi, std::uint32_t output,
                                      int channel) {
    return state_->percentiles(keys, phi, output, channel);
}

template <TexelKey T>
RankSample<T> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel) {
    return state_->sample_region<T>(keys, eps, channel);
}
template RankSample<float> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel);
template RankSample<std::int32_t> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel);
template RankSample<std::uint32_t> Sorter::sample_texture(const TextureRegion& keys, double eps, int channel);

namespace {

BufferKeys index_at(std::uint32_t buffer, std::size_t offset) {
    return {.buffer = buffer, .type = KeyType::U32, .offset = offset};
}

}  // namespace

SortStats Sorter::argsort_buffer(const BufferKeys& keys, std::size_t count, std::uint32_t index,
                                 std::size_t index_offset, std::optional<Order> order) {
    return state_->run_on_buffers("Sorter::argsort_buffer", keys, {}, count, index_at(index, index_offset),
                                  state_->order_or_usual(order));
}

SortStats Sorter::argsort_buffer(const BufferKeys& positions, const Plane& plane, std::size_t count,
                                 std::uint32_t index, std::size_t index_offset, std::optional<Order> order) {
    return state_->run_on_buffers("Sorter::argsort_buffer", positions, plane, count, index_at(index, index_offset),
                                  state_->order_or_usual(order));
}

SortStats Sorter::sort_buffer(const BufferKeys& keys, std::size_t count, std::optional<Order> order) {
    return state_->run_on_buffers("Sorter::sort_buffer", keys, {}, count, {}, state_->order_or_usual(order));
}

}  // namespace quadmill
