#include "quadmill/pairs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cpu/keys.hpp"
#include "cpu/sort.hpp"
#include "cpu/workers.hpp"
#include "gl/device.hpp"
#include "gl/host_buffer.hpp"
#include "gl/host_part.hpp"
#include "gl/pass.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "quadmill/error.hpp"
#include "sort/key_form.hpp"
#include "sort/sorter_state.hpp"
#include "sort_shaders.hpp"

namespace quadmill {

using namespace detail;  // NOLINT(google-build-using-namespace): this file is a front door of the room

namespace {

constexpr std::size_t piece = std::size_t{1} << 16U;  // elements that a thread moves at a time
constexpr const char* pairs_function = "PairSorter::sort_pairs";

[[noreturn]] void refuse(const char* function, const std::string& why) {
    throw InvalidArgument(std::string(function) + ": " + why);
}

// Element i becomes element index[i].
void gather(std::span<std::byte> elements, std::size_t each, std::span<const std::uint32_t> index,
            const cpu::Workers& workers) {
    const std::vector<std::byte> before(elements.begin(), elements.end());
    workers.for_each((index.size() + piece - 1) / piece, [&](std::size_t part) {
        const auto end = std::min((part + 1) * piece, index.size());
        for (std::size_t i = part * piece; i < end; ++i)
            std::memcpy(&elements[i * each], &before[index[i] * each], each);
    });
}

void check_values(const char* function, Keys keys, std::span<std::byte> values, std::size_t each) {
    if (values.size() != keys.size() * each) {
        refuse(function, "there must be as many values as keys, " + std::to_string(keys.size()) + ", not " +
                             std::to_string(values.size() / each));
    }
    const auto* const first = static_cast<const std::byte*>(keys.data());
    cpu::check_apart(function, "keys and values", {first, keys.size() * cpu::bytes_of(keys.type())}, values);
}

// Texels of a rectangle that are to be sorted, and those that receive them.
struct TexelsInOut {
    TexelsInOut(gl::Device& device, const TextureRegion& in, const TextureRegion& out,
                std::initializer_list<gl::Format> formats, const char* which)
        : from(device, {in.texture, in.layer, in.x, in.y, in.width, in.height}, formats, pairs_function,
               std::string("the texture of ") + which + " in"),
          to(device, {out.texture, out.layer, out.x, out.y, out.width, out.height}, {from.format}, pairs_function,
             std::string("the texture of ") + which + " out"),
          count(in.count.value_or(from.texels())) {
        if (in.counted || out.counted) refuse(pairs_function, "the number of pairs is not taken from a buffer");
        if (count > from.texels() || out.count.value_or(to.texels()) != count || from.width != to.width) {
            refuse(pairs_function, std::string(which) + " in and out must have the same width and number of texels, " +
                                       std::to_string(from.width) + " and " + std::to_string(count) + " of " +
                                       std::to_string(from.texels()) + ", not " + std::to_string(to.width) + " and " +
                                       std::to_string(out.count.value_or(to.texels())));
        }
    }
    // A format with the same bits, of integers.
    [[nodiscard]] gl::Format bits() const {
        using enum gl::Format;
        if (from.format == Rgba32f) return Rgba32ui;
        if (from.format == Rgba16f) return Rgba16ui;
        if (from.format == Rg32f) return Rg32ui;
        return R32ui;
    }
    gl::HostPart from, to;
    std::size_t count;
};

// Elements in a buffer, in texels.
struct ElementsInBuffer {
    ElementsInBuffer(gl::Device& device, const char* what, std::uint32_t id, std::size_t each, std::size_t first,
                     std::size_t from_one_to_next, std::size_t count, gl::Format texel)
        : buffer(device, id, pairs_function, std::string("the buffer of ") + what),
          format(texel),
          offset(first),
          bytes(each),
          stride(from_one_to_next == 0 ? each : from_one_to_next) {
        const auto unit = gl::info(format).bytes;
        const auto said = std::to_string(count) + " " + what + " of " + std::to_string(each) + " bytes from byte " +
                          std::to_string(offset) + " on, " + std::to_string(stride) + " bytes from one to the next, ";
        if (stride < each || stride % unit != 0 || offset % unit != 0) {
            refuse(pairs_function, said + "overlap or are not at multiples of " + std::to_string(unit) + " bytes");
        }
        if (count == 0) return;
        if (offset > buffer.bytes() || each > buffer.bytes() - offset ||
            count - 1 > (buffer.bytes() - offset - each) / stride) {
            refuse(pairs_function,
                   said + "do not fit into the buffer, which has " + std::to_string(buffer.bytes()) + " bytes");
        }
        span = (count - 1) * stride + each;
        if (const auto max = gl::BufferTexels::max(device, format); span > max)
            refuse(pairs_function, said + "are more than a texture holds, " + std::to_string(max) + " bytes");
    }
    // Whether no byte belongs to an element of both.
    [[nodiscard]] bool is_apart(const ElementsInBuffer& other) const {
        if (buffer.id() != other.buffer.id() || offset + span <= other.offset || other.offset + other.span <= offset)
            return true;
        if (stride != other.stride) return false;
        const auto after = (other.offset + stride - offset % stride) % stride;  // from one of these to the next other
        return after >= bytes && after + other.bytes <= stride;
    }
    gl::HostBuffer buffer;
    gl::Format format;
    std::size_t offset, bytes, stride, span = 0;
};

}  // namespace

struct PairSorter::State {
    State(const Context& with, const SortOptions& options)
        : context(with),
          usual(options.order),
          sorter(with, options),
          workers(options.threads),
          device(*Access::of(context)),
          programs(device),
          quads(device) {}

    SortStats argsort_segments(const char* function, ConstKeys keys, std::span<const std::size_t> ends,
                               std::span<std::uint32_t> index, Order order);
    // Textures for keys or for values, kept from call to call.
    struct Scratch {
        gl::Texture copy;
        pass::Target target;
    };
    // Elements of the texture in the order of the index, in the same layout.
    const gl::Texture& gathered(Scratch& in, const gl::Texture& from, const gl::Texture& index, std::size_t texels,
                                int stride, int words);
    void move(Scratch& in, const TexelsInOut& some, const gl::Texture& index);
    void move(Scratch& in, const ElementsInBuffer& some, const gl::Texture& index);

    Context context;
    Order usual;
    Sorter sorter;
    cpu::Workers workers;
    gl::Device& device;
    pass::Programs programs;
    pass::QuadLists quads;
    Scratch of_keys, of_values;
    gl::Texture order;
    gl::Buffer elements;  // the index of a buffer's keys
    std::size_t elements_size = 0;
    gl::BufferTexels texels, order_texels;
};

const gl::Texture& PairSorter::State::gathered(Scratch& in, const gl::Texture& from, const gl::Texture& index,
                                               std::size_t count, int stride, int words) {
    auto& target = in.target;
    if (!target.is(from.format(), from.width(), from.height())) {
        target = {};
        target = pass::Target(device, from.format(), from.width(), from.height());
    }
    using enum gl::Format;
    const auto format = from.format();
    const char* const texel = format == Rgba32ui || format == Rgba16ui ? "uvec4" : format == Rg32ui ? "uvec2" : "uint";
    draw(device, {.name = "gather",
                  .program = &programs.get("sort/gather.frag", shaders::sort_gather_frag,
                                           std::string("#define TEXEL ") + texel + "\n"),
                  .inputs = {&from, &index},
                  .uniforms = {{"stride", stride}, {"words", words}, {"target_width", from.width()}},
                  .target = &target.framebuffer,
                  .quads = &quads.first_texels(from.width(), count)});
    return target.texture;
}

void PairSorter::State::move(Scratch& in, const TexelsInOut& some, const gl::Texture& index) {
    const auto& [from, to, count] = some;
    auto& copy = in.copy;
    if (copy.format() != some.bits() || copy.width() != from.width || copy.height() != from.height) {
        copy = {};
        copy = gl::Texture(device, some.bits(), from.width, from.height);
    }
    copy_part(device, from, copy);
    copy_part(device, gathered(in, copy, index, count, 1, 1), count, to);
}

void PairSorter::State::move(Scratch& in, const ElementsInBuffer& some, const gl::Texture& index) {
    const auto unit = gl::info(some.format).bytes;
    const auto& from = texels.copy(device, some.buffer, some.format, some.offset, some.span);
    const auto& moved = gathered(in, from, index, some.span / unit, static_cast<int>(some.stride / unit),
                                 static_cast<int>(some.bytes / unit));
    copy_to_buffer(device, moved, some.span / unit, some.buffer, some.offset);
}

SortStats PairSorter::State::argsort_segments(const char* function, ConstKeys keys, std::span<const std::size_t> ends,
                                              std::span<std::uint32_t> index, Order by) {
    const auto all = Access::of(keys);
    cpu::check_segments(function, keys.size(), ends);
    cpu::check_index(function, all, index);
    // The number of each key's segment.
    const auto for_each_key = [&](const auto& work) {
        std::size_t segment = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            while (i >= ends[segment]) ++segment;
            work(i, segment);
        }
    };
    return cpu::visit(all, [&]<class Key>(std::span<Key> values) {
        if constexpr (sizeof(Key) <= sizeof(std::uint32_t)) {
            const cpu::TotalOrder<Key> rule(by);
            std::vector<std::uint64_t> both(keys.size());
            for_each_key([&](std::size_t i, std::size_t segment) {
                both[i] = std::uint64_t{segment} << 32U | rule.encode(cpu::KeyBits<Key>::of(values[i]));
            });
            return sorter.argsort(both, index, Order::Ascending);
        } else {
            std::vector<std::uint32_t> segments(keys.size()), by_key(keys.size()), sorted(keys.size());
            for_each_key(
                [&](std::size_t i, std::size_t segment) { segments[i] = static_cast<std::uint32_t>(segment); });
            sorter.argsort(values, by_key, by);
            for (std::size_t i = 0; i < keys.size(); ++i) sorted[i] = segments[by_key[i]];
            const auto stats = sorter.argsort(sorted, index, Order::Ascending);
            for (auto& one : index) one = by_key[one];
            return stats;
        }
    });
}

PairSorter::PairSorter(const Context& context, const SortOptions& options)
    : state_(std::make_unique<State>(context, options)) {}
PairSorter::PairSorter(PairSorter&&) noexcept = default;
PairSorter& PairSorter::operator=(PairSorter&&) noexcept = default;
PairSorter::~PairSorter() = default;

SortStats PairSorter::sort_bytes(Keys keys, std::span<std::byte> values, std::size_t each, std::optional<Order> order) {
    check_values("PairSorter::sort_by_key", keys, values, each);
    std::vector<std::uint32_t> index(keys.size());
    const auto stats = state_->sorter.sort_with_index(keys, index, order);
    gather(values, each, index, state_->workers);
    return stats;
}

SortStats PairSorter::sort_bytes_of_segments(Keys keys, std::span<std::byte> values, std::size_t each,
                                             std::span<const std::size_t> ends, std::optional<Order> order) {
    constexpr const char* function = "PairSorter::sort_segments_by_key";
    check_values(function, keys, values, each);
    std::vector<std::uint32_t> index(keys.size());
    const auto stats = argsort_segments(keys, ends, index, order);
    cpu::visit(keys, [&]<class Key>(std::span<Key> all) {
        gather(std::as_writable_bytes(all), sizeof(Key), index, state_->workers);
    });
    gather(values, each, index, state_->workers);
    return stats;
}

SortStats PairSorter::argsort_segments(ConstKeys keys, std::span<const std::size_t> ends,
                                       std::span<std::uint32_t> index, std::optional<Order> order) {
    return state_->argsort_segments("PairSorter::argsort_segments", keys, ends, index, order.value_or(state_->usual));
}

SortStats PairSorter::argsort_segments(const TextureRegion& keys, std::span<const std::size_t> ends,
                                       std::uint32_t index, int channel, std::optional<Order> order) {
    return state_->sorter.state_->argsort_segments("PairSorter::argsort_segments", keys, ends, index, channel,
                                                   order.value_or(state_->usual));
}

SortStats PairSorter::sort_pairs(const TextureRegion& keys_in, const TextureRegion& keys_out,
                                 const TextureRegion& values_in, const TextureRegion& values_out,
                                 std::optional<Order> order) {
    return sort_texels(keys_in, keys_out, values_in, values_out, {}, order);
}

SortStats PairSorter::sort_pairs(const TextureRegion& keys_in, const TextureRegion& keys_out,
                                 const TextureRegion& values_in, const TextureRegion& values_out,
                                 std::span<const std::size_t> ends, std::optional<Order> order) {
    return sort_texels(keys_in, keys_out, values_in, values_out, ends, order);
}

SortStats PairSorter::sort_texels(const TextureRegion& keys_in, const TextureRegion& keys_out,
                                  const TextureRegion& values_in, const TextureRegion& values_out,
                                  std::optional<std::span<const std::size_t>> ends, std::optional<Order> order) {
    using enum gl::Format;
    auto& state = *state_;
    const gl::Scope scope(state.device, pairs_function);
    const TexelsInOut keys(state.device, keys_in, keys_out, {R32f, R32i, R32ui}, "keys"),
        values(state.device, values_in, values_out, {R32f, R32i, R32ui, Rgba8, Rg32f, Rgba16f, Rgba32f}, "values");
    if (keys.count != values.count) {
        refuse(pairs_function, "there must be as many values as keys, " + std::to_string(keys.count) + ", not " +
                                   std::to_string(values.count));
    }
    for (const auto* const some : {&values_in, &values_out}) {
        if (keys_out.texture == some->texture && keys_out.layer == some->layer)
            refuse(pairs_function, "keys must go to another texture or layer than values come from and go to");
    }
    if (state.order.width() != keys.from.width || state.order.height() != keys.from.height) {
        state.order = {};
        state.order = gl::Texture(state.device, R32ui, keys.from.width, keys.from.height);
    }
    const auto stats = ends ? state.sorter.state_->argsort_segments(pairs_function, keys_in, *ends, state.order.id(), 0,
                                                                    order.value_or(state.usual))
                            : state.sorter.argsort_texture(keys_in, state.order.id(), 0, order);
    if (keys.count > 0) {
        state.move(state.of_keys, keys, state.order);
        state.move(state.of_values, values, state.order);
    }
    scope.check();
    return stats;
}

SortStats PairSorter::sort_pairs(const BufferKeys& keys, const BufferValues& values, std::size_t count,
                                 std::optional<Order> order) {
    using enum gl::Format;
    auto& state = *state_;
    if (values.bytes % 4 != 0 || values.bytes < 4 || values.bytes > 16)
        refuse(pairs_function, "a value has 4, 8, 12 or 16 bytes, not " + std::to_string(values.bytes));
    if (keys.counted) refuse(pairs_function, "the number of pairs is not taken from a buffer");
    const gl::Scope scope(state.device, pairs_function);
    const auto each = sort::KeyForm{keys.type}.key_bytes();
    const ElementsInBuffer some(state.device, "keys", keys.buffer, each, keys.offset, keys.stride, count,
                                each == 2 ? R16ui : R32ui),
        others(state.device, "values", values.buffer, values.bytes, values.offset, values.stride, count, R32ui);
    if (!some.is_apart(others))
        refuse(pairs_function, "keys and values share bytes of buffer " + std::to_string(keys.buffer));
    const auto bytes = count * sizeof(std::uint32_t);
    if (const auto max = gl::BufferTexels::max(state.device, R32ui); bytes > max)
        refuse(pairs_function, "the index of " + std::to_string(count) +
                                   " keys is larger than a texture, which holds " + std::to_string(max) + " bytes");
    if (bytes > state.elements_size) {
        state.elements = {};
        state.elements = gl::Buffer(state.device, std::vector<std::byte>(bytes));
        state.elements_size = bytes;
    }
    const auto stats = count == 0 ? SortStats{.engine = Engine::Merge}
                                  : state.sorter.argsort_buffer(keys, count, state.elements.id(), 0, order);
    if (count > 0) {
        const gl::HostBuffer index(state.device, state.elements.id(), pairs_function, "the index");
        const auto& order_of = state.order_texels.copy(state.device, index, R32ui, 0, bytes);
        state.move(state.of_keys, some, order_of);
        state.move(state.of_values, others, order_of);
    }
    scope.check();
    return stats;
}

}  // namespace quadmill
