#include "sort/caller_sort.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "quadmill/error.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

// Size of a piece that is copied to a buffer.
constexpr int piece_width = 2048, piece_height = 2048;
constexpr std::size_t max_percentiles = 1024;

std::string key_words_macro(int words) {
    return "#define KEY_WORDS " + std::to_string(words) + "\n";
}

}  // namespace

const gl::Texture& CallerSort::copied(const KeysInTexture& keys, gl::Format format) {
    const auto& copy = keys_.copy(keys, format);
    merge_.count_copy(copy.bytes());
    return copy;
}

SortStats CallerSort::argsort(const KeysInTexture& keys, const gl::Texture& index, IndexWrite write, Order order,
                              const Argsort& other) {
    return timed(keys.count, [&] {
        IndexTarget target(device_, index, write);
        if (other) {
            other(copied(keys, keys.copied_to(true)), target.framebuffer());
        } else {
            merge_.store_index(sort_channel(keys, keys.form(order, true)), target.framebuffer(), keys.count);
        }
        target.finish(keys.count);
    });
}

void CallerSort::send(std::span<const std::size_t> ends) {
    const auto width = std::min<std::size_t>(ends.size(), piece_width), rows = (ends.size() + width - 1) / width;
    if (static_cast<std::size_t>(ends_.width()) != width || static_cast<std::size_t>(ends_.height()) != rows) {
        ends_ = {};
        ends_ = gl::Texture(device_, gl::Format::R32ui, static_cast<int>(width), static_cast<int>(rows));
    }
    // If the GPU may not have read the last call's ends yet, these go to new memory, so no call waits.
    if (!ends_read_.passed()) ends_memory_ = {};
    pass::grow(ends_memory_, device_, gl::PixelBuffer::Direction::Upload, ends_.bytes());
    const auto bytes = ends_memory_.write(0, ends_.bytes());
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = static_cast<std::uint32_t>(ends[i]);
        std::memcpy(&bytes[i * sizeof end], &end, sizeof end);
    }
    upload_rows(device_, ends_memory_, 0, ends_, 0, static_cast<int>(rows));
}

void CallerSort::draw_with_segments(const KeyForm& key, std::size_t count, std::size_t segments,
                                    const pass::Target& source, std::size_t rows) {
    draw(device_, {.name = "keys of segments",
                   .program = &programs_.get("sort/keys_of_segments.frag", shaders::sort_keys_of_segments_frag,
                                             shaders::sort_key_order_glsl),
                   .inputs = {&key_words_.texture, &ends_},
                   .uniforms = order_uniforms(key)
                                   .set("count", static_cast<int>(count))
                                   .set("segments", static_cast<int>(segments))
                                   .set("target_width", source.texture.width()),
                   .target = &source.framebuffer,
                   .quads = &quads_.rectangle(0, 0, source.texture.width(), static_cast<int>(rows))});
}

SortStats CallerSort::argsort(const KeysInTexture& keys, std::span<const std::size_t> ends, const gl::Texture& index,
                              IndexWrite write, Order order) {
    return timed(keys.count, [&] {
        IndexTarget target(device_, index, write);
        send(ends);
        if (!keys.is_read_in_place()) copied(keys, keys.copied_to(true));
        const auto texels = (keys.count + 3) / 4, width = std::min<std::size_t>(texels, piece_width),
                   lines = (texels + width - 1) / width;
        if (!key_words_.is(gl::Format::Rgba32ui, static_cast<int>(width), static_cast<int>(lines)))
            key_words_ = pass::Target(device_, gl::Format::Rgba32ui, static_cast<int>(width), static_cast<int>(lines));
        keys_.draw(keys, {keys.count, keys.channel}, 0, key_words_, lines);
        const auto sorted =
            merge_.sort_drawn(segments_form, keys.count, [&](const pass::Target& source, std::size_t rows) {
                draw_with_segments(keys.form(order, true), keys.count, ends.size(), source, rows);
            });
        merge_.store_index(sorted, target.framebuffer(), keys.count);
        target.finish(keys.count);
        ends_read_ = gl::Fence(device_);
    });
}

SortStats CallerSort::sort(const KeysInTexture& from, const KeysInTexture& to, TexelChannels channels, Order order) {
    return timed(from.count * static_cast<std::size_t>(from.channels), [&] {
        const auto form = from.form(order, false);
        const auto format = from.copied_to(false);
        const int width = from.part.width, height = from.part.height;
        copied(from, format);
        // Sorts the keys in `number` channels of each texel, from `channel` on, and draws them to a texture.
        const auto sorted_to = [&](int channel, int number, const pass::Target& target) {
            const auto keys = from.count * static_cast<std::size_t>(number);
            const auto sorted = merge_.sort_drawn(form, keys, [&](const pass::Target& source, std::size_t rows) {
                keys_.draw(from, {keys, channel, number}, form.padding(), source, rows);
            });
            draw(device_,
                 {.name = "texels of keys",
                  .program = &programs_.get("sort/texels_of_keys.frag", shaders::sort_texels_of_keys_frag,
                                            sorted.prelude + "#define CHANNELS " + std::to_string(number) + "\n"),
                  .inputs = {sorted.keys},
                  .uniforms = gl::Uniforms(sorted.uniforms).set("target_width", width),
                  .target = &target.framebuffer,
                  .quads = &quads_.first_texels(width, from.count)});
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

MergeSort::SortedKeys CallerSort::sort_channel(const KeysInTexture& from, const KeyForm& form) {
    if (!from.is_read_in_place()) copied(from, from.copied_to(true));
    const auto* const number = keys_.number(from.counter);
    return merge_.sort_drawn(form, from.count, [&](const pass::Target& source, std::size_t rows) {
        keys_.draw(from, {from.count, from.channel, 1, 0, number}, form.padding(), source, rows);
    });
}

pass::Target CallerSort::numbers_in(const MergeSort::SortedKeys& sorted, std::size_t count) {
    pass::Target number(device_, gl::Format::R32ui, 1, 1);
    fill(device_, "count numbers",
         programs_.get("sort/count_numbers.frag", shaders::sort_count_numbers_frag, sorted.prelude), number,
         {sorted.keys}, gl::Uniforms(sorted.uniforms).set("count", static_cast<int>(count)));
    return number;
}

SortStats CallerSort::percentiles(const char* function, const KeysInTexture& from, std::span<const double> phi,
                                  std::uint32_t output) {
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(std::string(function) + ": " + why); };
    from.refuse_counter(function);
    if (from.count == 0) refuse("there are no keys");
    if (from.part.id == output) refuse("keys and output must be different textures");
    if (phi.empty() || phi.size() > max_percentiles)
        refuse("from 1 to " + std::to_string(max_percentiles) + " fractions, not " + std::to_string(phi.size()));
    for (const double each : phi) {
        if (!(each >= 0 && each <= 1)) refuse("a fraction is from 0 to 1, not " + std::to_string(each));
    }
    const KeyForm form{.type = from.form(Order::Ascending, true).type};
    const auto format = texel_format(form.type);
    const gl::HostPart to(device_, {.texture = output, .width = static_cast<int>(phi.size()), .height = 1}, {format},
                          function, "the output texture");
    return timed(from.count, [&] {
        const auto sorted = sort_channel(from, form);
        pass::Target number;
        std::array<const gl::Texture*, gl::texture_units> inputs{sorted.keys};
        auto prelude = sorted.prelude;
        auto uniforms = sorted.uniforms;
        if (form.type == KeyType::F32) {
            number = numbers_in(sorted, from.count);
            inputs[1] = &number.texture;
            prelude += "#define HAS_NANS\n";
        } else {
            uniforms.set("count", static_cast<std::uint32_t>(from.count));
        }
        const auto& program = programs_.get("sort/percentile.frag", shaders::sort_percentile_frag, prelude);
        const auto width = static_cast<int>(phi.size());
        std::vector<gl::Quad> texels;
        for (int x = 0; x < width; ++x) {
            const auto at = static_cast<float>(x);
            texels.push_back({{at, 0, at + 1, 1}, {at, 0, at + 1, 1}});
        }
        const gl::QuadList quads(device_, std::move(texels));
        const pass::Target result(device_, gl::Format::R32ui, width, 1);
        for (std::size_t i = 0; i < phi.size(); ++i) {
            const double scaled = std::round(phi[i] * 0x1p32);
            draw(device_, {.name = "percentile",
                           .program = &program,
                           .inputs = inputs,
                           .uniforms = gl::Uniforms(uniforms).set(
                               "phi", static_cast<std::uint32_t>(std::min<double>(scaled, UINT32_MAX))),
                           .target = &result.framebuffer,
                           .quads = &quads,
                           .first = i,
                           .count = 1});
        }
        copy_part(device_, result.texture, phi.size(), to);
    });
}

RankSample<std::uint32_t> CallerSort::sample(const KeysInTexture& from, double eps) {
    const KeyForm form{.type = from.form(Order::Ascending, true).type};
    const auto sorted = sort_channel(from, form);
    const auto words = [&](std::size_t count) {
        std::vector<std::uint32_t> all(count);
        std::memcpy(all.data(), back_.wait().data(), count * sizeof(std::uint32_t));
        return all;
    };
    RankSample<std::uint32_t> sample{.n = from.count};
    if (form.type == KeyType::F32) {
        const auto number = numbers_in(sorted, from.count);
        back_.request(device_, number.texture);
        sample.n = words(1).front();
        sample.nans = from.count - sample.n;
    }
    if (sample.n == 0) return sample;
    const auto last = sample.n - 1;
    const auto gap = static_cast<std::uint64_t>(2 * eps * static_cast<double>(sample.n));
    sample.step = std::clamp<std::uint64_t>(gap, 1, std::max<std::uint64_t>(last, 1));
    const SegmentSample all{1, from.count, static_cast<std::size_t>(sample.step), static_cast<std::size_t>(last)};
    merge_.draw_sample(sorted, all, form, sample_);
    back_.request(device_, sample_.texture);
    sample.values = words(all.size());
    return sample;
}

template <class Work>
SortStats CallerSort::timed(std::size_t count, const Work& work) {
    const cpu::Stopwatch total;
    const auto passes_before = device_.passes;
    work();
    return {.n = count,
            .engine = Engine::Merge,
            .textures = 1,
            .passes = device_.passes - passes_before,
            .total_ms = total.ms()};
}

SortStats CallerSort::argsort(const KeysInBuffer& keys, const gl::HostBuffer& index, std::size_t offset, Order order) {
    return timed(keys.count, [&] {
        const auto of = form(keys, order, true);
        const auto* const number = keys_.number(keys.counter);
        const auto sorted = merge_.sort_drawn(of, keys.count, [&](const pass::Target& source, std::size_t rows) {
            keys_.draw(keys, number, of.padding(), source, rows);
        });
        copy_to_buffer(device_, merge_.index_of(sorted, keys.count), keys.count, index, offset);
    });
}

SortStats CallerSort::sort(const KeysInBuffer& keys, Order order) {
    return timed(keys.count, [&] {
        const auto of = form(keys, order, false);
        const auto* const number = keys_.number(keys.counter);
        const auto sorted = merge_.sort_drawn(of, keys.count, [&](const pass::Target& source, std::size_t rows) {
            keys_.draw(keys, number, of.padding(), source, rows);
        });
        // Each key is copied with the bytes up to the next one. The last key is copied alone: the buffer may end after
        // it.
        const auto words = (keys.count - 1) * keys.stride + static_cast<std::size_t>(keys.key_words);
        const auto piece =
            std::max<std::size_t>(std::min(static_cast<std::size_t>(piece_width) * piece_height,
                                           gl::BufferTexels::max(device_, keys.format) / keys.texel_bytes()) /
                                      keys.stride,
                                  1) *
            keys.stride;
        const auto width = std::min<std::size_t>(piece_width, words), max = std::min(piece, words);
        const auto height = static_cast<int>((max + width - 1) / width);
        if (!words_.is(keys.format, static_cast<int>(width), height))
            words_ = pass::Target(device_, keys.format, static_cast<int>(width), height);
        const auto& program =
            programs_.get("sort/keys_to_buffer.frag", shaders::sort_keys_to_buffer_frag,
                          sorted.prelude + key_words_macro(keys.key_words) + (number ? "#define COUNTED\n" : ""));
        for (std::size_t first = 0; first < words; first += piece) {
            const auto count = std::min(piece, words - first), byte = keys.offset + first * keys.texel_bytes();
            const auto& texels = texels_.copy(device_, keys.buffer, keys.format, byte, count * keys.texel_bytes());
            draw(device_, {.name = "keys to buffer",
                           .program = &program,
                           .inputs = {sorted.keys, &texels, number},
                           .uniforms = gl::Uniforms(sorted.uniforms)
                                           .set("first_key", static_cast<int>(first / keys.stride))
                                           .set("stride", static_cast<int>(keys.stride))
                                           .set("target_width", static_cast<int>(width)),
                           .target = &words_.framebuffer,
                           .quads = &quads_.first_texels(static_cast<int>(width), count)});
            copy_to_buffer(device_, words_.texture, count, keys.buffer, byte);
        }
    });
}

}  // namespace quadmill::detail::sort
