#include "sort/host_sort.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

// What goes to a buffer at a time.
constexpr int piece_width = 2048, piece_height = 2048;

std::string key_words_macro(int words) {
    return "#define KEY_WORDS " + std::to_string(words) + "\n";
}

}  // namespace

KeysInBuffer::KeysInBuffer(gl::Device& device, const char* function, const char* what, const BufferKeys& keys,
                           std::size_t number)
    : buffer(device, keys.buffer, function, what),
      type(keys.type),
      count(number),
      offset(keys.offset),
      stride(keys.stride) {
    const auto key = KeyForm{type}.key_bytes();
    format = key == 2 ? gl::Format::R16ui : gl::Format::R32ui;
    key_words = static_cast<int>(key / texel_bytes());
    if (stride == 0) stride = key;
    if (stride < key || stride % texel_bytes() != 0 || offset % texel_bytes() != 0) {
        throw InvalidArgument(std::string(function) + ": keys of " + std::to_string(key) + " bytes from byte " +
                              std::to_string(offset) + " on, " + std::to_string(stride) +
                              " bytes from one to the next: both must be multiples of " +
                              std::to_string(texel_bytes()) + ", and the second not less than a key");
    }
    if (count > 0 && (offset > buffer.bytes() || key > buffer.bytes() - offset ||
                      (count - 1) > (buffer.bytes() - offset - key) / stride)) {
        throw InvalidArgument(std::string(function) + ": " + std::to_string(count) + " keys from byte " +
                              std::to_string(offset) + " on, " + std::to_string(stride) +
                              " bytes from one to the next, do not fit into the buffer, which has " +
                              std::to_string(buffer.bytes()) + " bytes");
    }
    stride /= texel_bytes();
}

bool overlap(const KeysInBuffer& a, const KeysInBuffer& b) {
    const auto end = [](const KeysInBuffer& keys) {
        return keys.offset + keys.count * keys.stride * keys.texel_bytes();
    };
    return a.offset < end(b) && b.offset < end(a);
}

// In parts of as many keys as a buffer texture holds.
void HostSort::draw_keys(const KeysInBuffer& keys, const KeyForm& form, const pass::Target& source, std::size_t rows) {
    const auto width = static_cast<std::size_t>(source.texture.width());
    const auto row_keys = width * 4 / static_cast<std::size_t>(keys.key_words),
               key_bytes = keys.stride * keys.texel_bytes();
    const auto most_rows =
        std::max<std::size_t>(gl::BufferTexels::most(device_, keys.format) / (row_keys * key_bytes), 1);
    const auto padding = form.padding();
    const auto& program =
        programs_.get("sort/keys_of_buffer.frag", shaders::sort_keys_of_buffer_frag, key_words_macro(keys.key_words));
    for (std::size_t row = 0; row < rows; row += most_rows) {
        const auto first = row * row_keys, after = std::min(row + most_rows, rows);
        if (first >= keys.count && row > 0) break;  // padding alone: drawn with the part before
        const bool last = after * row_keys >= keys.count;
        const auto end_row = last ? rows : after, end = std::min(after * row_keys, keys.count);
        const gl::BufferTexels texels(
            device_, keys.buffer, keys.format, keys.offset + first * key_bytes,
            (end - first - 1) * key_bytes + static_cast<std::size_t>(keys.key_words) * keys.texel_bytes());
        const gl::QuadList quads(
            device_, {gl::rectangle(0, static_cast<int>(row), source.texture.width(), static_cast<int>(end_row))});
        draw(device_, {.name = "keys of buffer",
                       .program = &program,
                       .texels = &texels,
                       .uniforms = {{"first_texel", texels.first()},
                                    {"first_key", static_cast<int>(first)},
                                    {"stride", static_cast<int>(keys.stride)},
                                    {"count", static_cast<int>(keys.count)},
                                    {"target_width", source.texture.width()},
                                    {"padding", glm::uvec2(static_cast<unsigned>(padding),
                                                           static_cast<unsigned>(padding >> 32U))}},
                       .target = &source.framebuffer,
                       .quads = &quads});
    }
}

KeysInTexture::KeysInTexture(gl::Device& device, const char* function, const char* what, const TextureRegion& region,
                             int of_channel)
    : part(device, {region.texture, region.layer, region.x, region.y, region.width, region.height},
           {gl::Format::R32f, gl::Format::R32ui, gl::Format::R32i, gl::Format::Rgba32f, gl::Format::Rgba16f,
            gl::Format::R16f, gl::Format::R16, gl::Format::R8, gl::Format::Rgba8, gl::Format::Depth16,
            gl::Format::Depth24, gl::Format::Depth32f, gl::Format::Depth24Stencil8},
           function, what),
      count(region.count.value_or(part.texels())),
      channel(of_channel) {
    using enum gl::Format;
    channels = part.format == Rgba32f || part.format == Rgba16f || part.format == Rgba8 ? 4 : 1;
    if (channel < 0 || channel >= channels) {
        throw InvalidArgument(std::string(function) + ": a texture of " + gl::info(part.format).name + " has " +
                              std::to_string(channels) + " channels, so there is no channel " +
                              std::to_string(channel));
    }
    constexpr std::size_t most = std::size_t{1} << 28U;
    if (count > std::min(part.texels(), most)) {
        throw InvalidArgument(std::string(function) + ": " + what + " has " + std::to_string(part.texels()) +
                              " texels there, of which " + std::to_string(count) +
                              " cannot be sorted (and 2^28 is the most)");
    }
}

KeyForm KeysInTexture::form(Order order, bool indexed) const {
    using enum gl::Format;
    const auto type = part.format == R32ui                 ? KeyType::U32
                      : part.format == R32i                ? KeyType::I32
                      : part.format == Rgba16f && !indexed ? KeyType::F16
                                                           : KeyType::F32;
    return {type, order, indexed};
}

gl::Format KeysInTexture::copied_to(bool indexed) const {
    using enum gl::Format;
    if (part.format == R32f || part.format == R32i || part.format == R32ui) return R32ui;
    if (part.format == Rgba32f) return Rgba32ui;
    if (part.format == Rgba16f && !indexed) return Rgba16ui;
    return part.format;
}

void check_pair(const char* function, const KeysInTexture& from, const KeysInTexture& to) {
    using enum gl::Format;
    for (const auto* one : {&from, &to}) {
        const auto format = one->part.format;
        if (format == R32f || format == R32i || format == R32ui || format == Rgba32f || format == Rgba16f) continue;
        throw InvalidArgument(std::string(function) + ": texels of " + gl::info(format).name +
                              " are keys of argsort_texture alone; sorted are R32F, R32I, R32UI, RGBA32F and RGBA16F");
    }
    const auto size = [](const KeysInTexture& keys) {
        return std::to_string(keys.part.width) + " x " + std::to_string(keys.part.height) + " of " +
               gl::info(keys.part.format).name + ", " + std::to_string(keys.count) + " texels";
    };
    if (from.part.format == to.part.format && from.part.width == to.part.width && from.count == to.count) return;
    throw InvalidArgument(std::string(function) +
                          ": input and output must have one format, width and number of texels, "
                          "not " +
                          size(from) + " and " + size(to));
}

void HostSort::copy_raw(const KeysInTexture& keys, gl::Format format) {
    if (raw_.format() != format || raw_.width() != keys.part.width || raw_.height() != keys.part.height) {
        raw_ = {};
        raw_ = gl::Texture(device_, format, keys.part.width, keys.part.height);
    }
    copy_part(device_, keys.part, raw_);
}

void HostSort::draw_keys(const KeyForm& form, const Part& part, const pass::Target& source, std::size_t rows) {
    using enum gl::Format;
    const bool bits = raw_.format() == R32ui || raw_.format() == Rgba32ui || raw_.format() == Rgba16ui;
    const gl::QuadList quads(device_, {gl::rectangle(0, 0, source.texture.width(), static_cast<int>(rows))});
    draw(device_, {.name = "keys of texture",
                   .program = &programs_.get(
                       "sort/keys_of_part.frag", shaders::sort_keys_of_part_frag,
                       "#define CHANNELS " + std::to_string(part.channels) + "\n" + (bits ? "#define BITS\n" : "")),
                   .inputs = {&raw_},
                   .uniforms = {{"count", static_cast<int>(part.keys)},
                                {"channel", part.channel},
                                {"source_width", raw_.width()},
                                {"target_width", source.texture.width()},
                                {"padding", static_cast<unsigned>(form.padding())}},
                   .target = &source.framebuffer,
                   .quads = &quads});
}

SortStats HostSort::argsort(const KeysInTexture& keys, const gl::Texture& index, IndexWrite write, Order order) {
    return timed(keys.count, [&] {
        IndexTarget target(device_, index, write);
        copy_raw(keys, keys.copied_to(true));
        const auto form = keys.form(order, true);
        const auto sorted = merge_.sort_drawn(form, keys.count, [&](const pass::Target& source, std::size_t rows) {
            draw_keys(form, {keys.count, keys.channel, 1}, source, rows);
        });
        const gl::QuadList quads(device_, pass::first_texels(index.width(), keys.count));
        merge_.store_index(sorted, target.framebuffer(), {quads, 0});
        target.finish();
    });
}

SortStats HostSort::sort(const KeysInTexture& from, const KeysInTexture& to, TexelChannels channels, Order order) {
    return timed(from.count, [&] {
        const auto form = from.form(order, false);
        const auto format = from.copied_to(false);
        const int width = from.part.width, height = from.part.height;
        copy_raw(from, format);
        const gl::QuadList quads(device_, pass::first_texels(width, from.count));
        // Of so many channels of a texel, from that one on, drawn to a texture.
        const auto sorted_to = [&](int channel, int number, const pass::Target& target) {
            const auto keys = from.count * static_cast<std::size_t>(number);
            const auto sorted = merge_.sort_drawn(form, keys, [&](const pass::Target& source, std::size_t rows) {
                draw_keys(form, {keys, channel, number}, source, rows);
            });
            draw(device_,
                 {.name = "texels of keys",
                  .program = &programs_.get("sort/texels_of_keys.frag", shaders::sort_texels_of_keys_frag,
                                            sorted.prelude + "#define CHANNELS " + std::to_string(number) + "\n"),
                  .inputs = {sorted.keys},
                  .uniforms = gl::Uniforms(sorted.uniforms).set("target_width", width),
                  .target = &target.framebuffer,
                  .quads = &quads});
        };
        const pass::Target result(device_, format, width, height);
        if (from.channels == 1 || channels == TexelChannels::AllAsOne) {
            sorted_to(0, from.channels, result);
        } else {
            const auto one = form.key_bytes() == 2 ? gl::Format::R16ui : gl::Format::R32ui;
            std::array<pass::Target, 4> each;
            for (int channel = 0; channel < 4; ++channel) {
                auto& target = each.at(static_cast<std::size_t>(channel));
                target = pass::Target(device_, one, width, height);
                sorted_to(channel, 1, target);
            }
            fill(device_, "join channels", programs_.get("sort/join_channels.frag", shaders::sort_join_channels_frag),
                 result, {&each[0].texture, &each[1].texture, &each[2].texture, &each[3].texture});
        }
        copy_part(device_, result.texture, from.count, to.part);
    });
}

template <class Work>
SortStats HostSort::timed(std::size_t count, const Work& work) {
    const cpu::Stopwatch total;
    const auto passes_before = device_.passes;
    work();
    return {.n = count,
            .engine = Engine::Merge,
            .textures = 1,
            .passes = device_.passes - passes_before,
            .total_ms = total.ms()};
}

SortStats HostSort::argsort(const KeysInBuffer& keys, const gl::HostBuffer& index, std::size_t offset, Order order) {
    return timed(keys.count, [&] {
        const auto of = form(keys, order, true);
        const auto sorted = merge_.sort_drawn(
            of, keys.count, [&](const pass::Target& source, std::size_t rows) { draw_keys(keys, of, source, rows); });
        copy_to_buffer(device_, merge_.index_of(sorted, keys.count), keys.count, index, offset);
    });
}

SortStats HostSort::sort(const KeysInBuffer& keys, Order order) {
    return timed(keys.count, [&] {
        const auto of = form(keys, order, false);
        const auto sorted = merge_.sort_drawn(
            of, keys.count, [&](const pass::Target& source, std::size_t rows) { draw_keys(keys, of, source, rows); });
        // Whole keys with what follows them, but for the last one, behind which the buffer may end.
        const auto words = (keys.count - 1) * keys.stride + static_cast<std::size_t>(keys.key_words);
        const auto piece =
            std::max<std::size_t>(std::min(static_cast<std::size_t>(piece_width) * piece_height,
                                           gl::BufferTexels::most(device_, keys.format) / keys.texel_bytes()) /
                                      keys.stride,
                                  1) *
            keys.stride;
        const auto width = std::min<std::size_t>(piece_width, words), most = std::min(piece, words);
        const auto height = static_cast<int>((most + width - 1) / width);
        if (!words_.is(keys.format, static_cast<int>(width), height))
            words_ = pass::Target(device_, keys.format, static_cast<int>(width), height);
        const auto& program = programs_.get("sort/keys_to_buffer.frag", shaders::sort_keys_to_buffer_frag,
                                            sorted.prelude + key_words_macro(keys.key_words));
        for (std::size_t first = 0; first < words; first += piece) {
            const auto count = std::min(piece, words - first), byte = keys.offset + first * keys.texel_bytes();
            const gl::BufferTexels texels(device_, keys.buffer, keys.format, byte, count * keys.texel_bytes());
            const gl::QuadList quads(device_, pass::first_texels(static_cast<int>(width), count));
            draw(device_, {.name = "keys to buffer",
                           .program = &program,
                           .inputs = {sorted.keys},
                           .texels = &texels,
                           .uniforms = gl::Uniforms(sorted.uniforms)
                                           .set("first_texel", texels.first())
                                           .set("first_key", static_cast<int>(first / keys.stride))
                                           .set("stride", static_cast<int>(keys.stride))
                                           .set("target_width", static_cast<int>(width)),
                           .target = &words_.framebuffer,
                           .quads = &quads});
            copy_to_buffer(device_, words_.texture, count, keys.buffer, byte);
        }
    });
}

}  // namespace quadmill::detail::sort
