// Values travel with keys: in memory, in textures and in buffers of the application; and orders within segments.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gl/device.hpp"
#include "gl/host.hpp"
#include "gl/host_objects.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/pairs.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

template <std::size_t words>
using PairValue = std::array<std::uint32_t, words>;

template <class Key>
std::vector<Key> keys_with_ties(Random& random, std::size_t n) {
    std::vector<Key> keys(n);
    for (auto& key : keys) {
        // Few different ones: ties.
        if constexpr (std::is_same_v<Key, Half>)
            key = Half{static_cast<std::uint16_t>(random.number(0, 1) == 0 ? random.bits() : 0x3c00U)};
        else
            key = static_cast<Key>(random.number(0, 40)) - static_cast<Key>(20);
    }
    return keys;
}

// The stable order of the keys within each segment.
template <class Key>
std::vector<std::uint32_t> stable_order(const std::vector<Key>& keys, const std::vector<std::size_t>& ends,
                                        Order order) {
    std::vector<std::uint32_t> all;
    std::size_t begin = 0;
    for (const auto end : ends) {
        const auto first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
        std::vector<Key> part(keys.begin() + first, keys.begin() + last);
        std::vector<std::uint32_t> index(part.size());
        sort_with_index_on_cpu(part, index, order);
        for (const auto i : index) all.push_back(i + static_cast<std::uint32_t>(begin));
        begin = end;
    }
    return all;
}

template <class T>
std::vector<T> in_that_order(const std::vector<T>& of, const std::vector<std::uint32_t>& index) {
    std::vector<T> all;
    for (const auto i : index) all.push_back(of[i]);
    return all;
}

template <class T>
std::vector<std::byte> bytes_of_all(const std::vector<T>& of) {
    std::vector<std::byte> bytes(of.size() * sizeof(T));
    if (!of.empty()) std::memcpy(bytes.data(), of.data(), bytes.size());
    return bytes;
}

template <class Key, std::size_t words>
void check_pairs_in_memory(PairSorter& sorter, Random& random, std::size_t n, Order order) {
    CAPTURE(n);
    CAPTURE(words);
    const auto keys = keys_with_ties<Key>(random, n);
    std::vector<PairValue<words>> values(n);
    for (auto& value : values) {
        for (auto& word : value) word = static_cast<std::uint32_t>(random.bits());
    }
    std::vector<std::size_t> ends;
    for (std::size_t end = 0; end < n; end += static_cast<std::size_t>(random.number(0, 100))) ends.push_back(end);
    ends.insert(ends.end(), 2, n);
    for (const bool segmented : {false, true}) {
        const auto index = stable_order(keys, segmented ? ends : std::vector{n}, order);
        auto sorted_keys = keys;
        auto sorted_values = values;
        if (segmented) {
            std::vector<std::uint32_t> found(n);
            sorter.argsort_segments(keys, ends, found, order);
            CHECK(found == index);
            sorter.sort_segments_by_key(sorted_keys, sorted_values, ends, order);
        } else {
            sorter.sort_by_key(sorted_keys, sorted_values, order);
        }
        CHECK(bytes_of_all(sorted_keys) == bytes_of_all(in_that_order(keys, index)));
        CHECK((sorted_values == in_that_order(values, index)));
    }
}

GLuint pair_texture(const Api& gl, GLenum internal, int width, int height, GLenum format, GLenum type,
                    const void* texels) {
    GLuint id = 0;
    gl.CreateTextures(GL_TEXTURE_2D, 1, &id);
    gl.TextureStorage2D(id, 1, internal, width, height);
    gl.TextureSubImage2D(id, 0, 0, 0, width, height, format, type, texels);
    return id;
}

std::vector<std::byte> pair_texels(const Api& gl, GLuint id, GLenum format, GLenum type, std::size_t bytes) {
    std::vector<std::byte> texels(bytes);
    gl.GetTextureImage(id, 0, format, type, static_cast<GLsizei>(bytes), texels.data());
    return texels;
}

struct TexelForm {
    GLenum internal, format, type;
    std::size_t bytes;
};

}  // namespace

TEST_CASE("Values in memory travel with keys of every type, and segments have orders of their own") {
    const Host host;
    Random random(45);
    for (const auto engine : {Engine::Auto, Engine::Merge, Engine::Bitonic, Engine::Cpu}) {
        PairSorter sorter(Host::adopt(), {.engine = engine});
        for (const auto order : {Order::Ascending, Order::Descending}) {
            for (const std::size_t n : {0UL, 1UL, 2UL, 1000UL, 4097UL}) {
                check_pairs_in_memory<float, 1>(sorter, random, n, order);
                check_pairs_in_memory<std::int64_t, 2>(sorter, random, n, order);
                check_pairs_in_memory<Half, 3>(sorter, random, n, order);
                check_pairs_in_memory<std::int32_t, 4>(sorter, random, n, order);
            }
            check_pairs_in_memory<double, 2>(sorter, random, 3000, order);
        }
    }
    PairSorter sorter(Host::adopt());
    std::vector<float> keys(3);
    std::vector<std::uint32_t> index(3);
    const auto said = [&](const auto& call) { return message_of(call); };
    CHECK((said([&] { sorter.sort_by_key(keys, std::vector<int>(2)); }).find("as many values as keys, 3, not 2") !=
           std::string::npos));
    CHECK((said([&] { sorter.argsort_segments(keys, std::array<std::size_t, 1>{2}, index); }).find("the last is 2") !=
           std::string::npos));
    CHECK((said([&] {
               sorter.argsort_segments(keys, std::array<std::size_t, 1>{3}, std::span(index).first(1));
           }).find("3, not 1") != std::string::npos));
}

TEST_CASE("Values of every format travel with keys from texture to texture, and in place") {
    const Host host(each_profile());
    const auto& gl = host.gl;
    PairSorter sorter(Host::adopt());
    Random random(46);
    constexpr int width = 37, height = 30;
    constexpr std::size_t texels = width * height;
    constexpr std::array<TexelForm, 7> forms{{{GL_R32F, GL_RED, GL_FLOAT, 4},
                                              {GL_R32I, GL_RED_INTEGER, GL_INT, 4},
                                              {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4},
                                              {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
                                              {GL_RG32F, GL_RG, GL_FLOAT, 8},
                                              {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8},
                                              {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16}}};
    for (const auto& form : forms) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{500}, texels}) {
            CAPTURE(form.internal);
            CAPTURE(count);
            const auto keys = keys_with_ties<float>(random, texels);
            // Numbers of every format alike: no NaNs, which reading back could change.
            std::vector<std::uint32_t> words(texels * form.bytes / 4);
            for (auto& word : words) word = static_cast<std::uint32_t>(random.bits()) & 0x3fff3fffU;
            const auto from = pair_texture(gl, GL_R32F, width, height, GL_RED, GL_FLOAT, keys.data());
            const auto values = pair_texture(gl, form.internal, width, height, form.format, form.type, words.data());
            const auto index =
                stable_order(std::vector(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count)), {count},
                             Order::Descending);
            auto sorted_keys = bytes_of_all(keys), sorted_values = bytes_of_all(words);
            const auto before = sorted_values;
            for (std::size_t i = 0; i < count; ++i) {
                std::memcpy(&sorted_keys[4 * i], &keys[index[i]], 4);
                std::memcpy(&sorted_values[form.bytes * i], &before[form.bytes * index[i]], form.bytes);
            }
            {
                const Poison poison(gl, static_cast<std::uint32_t>(7 + count));
                const auto state = Snapshot::take(gl);
                sorter.sort_pairs({.texture = from, .count = count}, {.texture = from, .count = count},
                                  {.texture = values, .count = count}, {.texture = values, .count = count},
                                  Order::Descending);
                REQUIRE(difference(state, Snapshot::take(gl)) == "");
            }
            CHECK((pair_texels(gl, from, GL_RED, GL_FLOAT, 4 * texels) == sorted_keys));
            CHECK((pair_texels(gl, values, form.format, form.type, form.bytes * texels) == sorted_values));
            gl.DeleteTextures(1, &from);
            gl.DeleteTextures(1, &values);
        }
    }
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("Keys in textures are ordered within segments, and take their values along") {
    const Host host(each_profile());
    const auto& gl = host.gl;
    PairSorter sorter(Host::adopt());
    Random random(52);
    constexpr int width = 61, height = 50;
    constexpr std::size_t texels = width * height;
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const int longest : {0, 1, 5, 100, 5000}) {  // 0: one segment
            for (const std::size_t count : {std::size_t{1}, std::size_t{64}, std::size_t{777}, texels}) {
                CAPTURE(longest);
                CAPTURE(count);
                std::vector<std::size_t> ends;
                for (std::size_t end = 0; longest > 0 && end < count;
                     end += static_cast<std::size_t>(random.number(0, longest)))
                    ends.push_back(end);
                ends.push_back(count);
                const auto keys = keys_with_ties<float>(random, texels);
                std::vector<std::uint32_t> numbers(texels), found(texels);
                std::iota(numbers.begin(), numbers.end(), 0U);
                const auto from = pair_texture(gl, GL_R32F, width, height, GL_RED, GL_FLOAT, keys.data());
                const auto values =
                    pair_texture(gl, GL_R32UI, width, height, GL_RED_INTEGER, GL_UNSIGNED_INT, numbers.data());
                const auto index =
                    pair_texture(gl, GL_R32UI, width, height, GL_RED_INTEGER, GL_UNSIGNED_INT, numbers.data());
                const auto sorted = stable_order(
                    std::vector(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count)), ends, order);
                auto expected = numbers;
                std::ranges::copy(sorted, expected.begin());
                {
                    const Poison poison(gl, static_cast<std::uint32_t>(11 + count));
                    const auto state = Snapshot::take(gl);
                    sorter.argsort_segments({.texture = from, .count = count}, ends, index, 0, order);
                    sorter.sort_pairs({.texture = from, .count = count}, {.texture = from, .count = count},
                                      {.texture = values, .count = count}, {.texture = values, .count = count}, ends,
                                      order);
                    REQUIRE(difference(state, Snapshot::take(gl)) == "");
                }
                for (const auto texture : {index, values}) {
                    gl.GetTextureImage(texture, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 4 * texels, found.data());
                    CHECK((found == expected));
                }
                CHECK((pair_texels(gl, from, GL_RED, GL_FLOAT, 4 * texels) ==
                       bytes_of_all(in_that_order(keys, expected))));
                for (const auto texture : {from, values, index}) gl.DeleteTextures(1, &texture);
            }
        }
    }
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("Calls in flight have segments of their own; later calls use the same memory again") {
    const Host host;
    const auto& gl = host.gl;
    const auto context = Host::adopt();
    PairSorter sorter(context);
    static int made = 0;
    static decltype(Api::CreateBuffers) create_buffers = nullptr;
    auto& of_library = detail::Access::of(context)->gl;
    create_buffers = of_library.CreateBuffers;
    of_library.CreateBuffers = [](GLsizei count, GLuint* ids) {
        made += count;
        create_buffers(count, ids);
    };
    constexpr std::uint32_t n = 2000, calls = 8;
    std::vector<float> falling(n);
    for (std::uint32_t i = 0; i < n; ++i) falling[i] = static_cast<float>(n - i);
    const std::vector<std::uint32_t> nothing(n);
    const auto keys = pair_texture(gl, GL_R32F, n, 1, GL_RED, GL_FLOAT, falling.data());
    std::array<GLuint, calls> indices{};
    for (auto& index : indices)
        index = pair_texture(gl, GL_R32UI, n, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, nothing.data());
    for (std::uint32_t i = 0; i < calls; ++i)
        sorter.argsort_segments({.texture = keys}, std::array<std::size_t, 2>{100 * i, n}, indices.at(i));
    for (std::uint32_t i = 0; i < calls; ++i) {
        std::vector<std::uint32_t> expected(n), found(n);
        std::iota(expected.begin(), expected.end(), 0U);
        const auto cut = expected.begin() + 100 * i;
        std::reverse(expected.begin(), cut);
        std::reverse(cut, expected.end());
        gl.GetTextureImage(indices.at(i), 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 4 * n, found.data());
        CHECK((found == expected));
    }
    gl.Finish();
    made = 0;
    sorter.argsort_segments({.texture = keys}, std::array<std::size_t, 2>{7, n}, indices[0]);
    CHECK(made == 0);
    gl.DeleteTextures(calls, indices.data());
    gl.DeleteTextures(1, &keys);
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("Segments of integers in a channel of bytes, and wrong segments") {
    const Host host;
    const auto& gl = host.gl;
    PairSorter sorter(Host::adopt()), bitonic(Host::adopt(), {.engine = Engine::Bitonic});
    const std::array<std::int8_t, 8> bytes{5, 3, -7, 3, 5, 1, -7, 0};  // two channels
    const std::array<std::uint32_t, 4> nothing{};
    const auto keys = pair_texture(gl, GL_RG8I, 4, 1, GL_RG_INTEGER, GL_BYTE, bytes.data());
    const auto index = pair_texture(gl, GL_R32UI, 4, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, nothing.data());
    sorter.argsort_segments({.texture = keys}, std::array<std::size_t, 3>{2, 2, 4}, index);
    std::array<std::uint32_t, 4> found{};
    gl.GetTextureImage(index, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, sizeof found, found.data());
    CHECK(found == std::array<std::uint32_t, 4>{1, 0, 3, 2});
    const auto refused = [&](const char* why, PairSorter& by, const TextureRegion& from,
                             const std::vector<std::size_t>& ends, GLuint to, int channel = 0) {
        const auto message = message_of([&] { by.argsort_segments(from, ends, to, channel); });
        CAPTURE(message);
        CHECK((message.find(why) != std::string::npos));
    };
    refused("the last is 3", sorter, {.texture = keys}, {3}, index);
    refused("1 follows 2", sorter, {.texture = keys}, {2, 1, 4}, index);
    refused("there are none", sorter, {.texture = keys}, {}, index);
    refused("no channel 2", sorter, {.texture = keys}, {4}, index, 2);
    refused("R32UI", sorter, {.texture = keys}, {4}, keys);
    GLuint number = 0;
    gl.CreateBuffers(1, &number);
    gl.NamedBufferStorage(number, 4, nullptr, 0);
    refused("from a buffer", sorter, {.texture = keys, .counted = CountInBuffer{number, 0}}, {4}, index);
    gl.DeleteBuffers(1, &number);
    refused("Engine::Merge", bitonic, {.texture = keys}, {4}, index);
    refused("is not a texture", sorter, {.texture = 4'000'000'000U}, {4}, index);
    sorter.argsort_segments({.texture = keys, .count = 0}, {}, index);
    for (const auto texture : {keys, index}) gl.DeleteTextures(1, &texture);
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("Pairs of rectangles go to other rectangles, and wrong ones are refused") {
    const Host host;
    const auto& gl = host.gl;
    PairSorter sorter(Host::adopt());
    Random random(47);
    const auto keys = keys_with_ties<std::int32_t>(random, 64 * 64);
    std::vector<std::uint32_t> numbers(64 * 64);
    std::iota(numbers.begin(), numbers.end(), 0U);
    const std::vector<std::uint32_t> nothing(64 * 64, 77);
    const std::array ids{pair_texture(gl, GL_R32I, 64, 64, GL_RED_INTEGER, GL_INT, keys.data()),
                         pair_texture(gl, GL_R32I, 64, 64, GL_RED_INTEGER, GL_INT, nothing.data()),
                         pair_texture(gl, GL_R32UI, 64, 64, GL_RED_INTEGER, GL_UNSIGNED_INT, numbers.data()),
                         pair_texture(gl, GL_R32UI, 64, 64, GL_RED_INTEGER, GL_UNSIGNED_INT, nothing.data())};
    const auto part = [&](std::size_t i, int x, int y, int width, int height) {
        return TextureRegion{.texture = ids.at(i), .x = x, .y = y, .width = width, .height = height};
    };
    sorter.sort_pairs(part(0, 3, 5, 20, 10), part(1, 0, 1, 20, 10), part(2, 1, 1, 10, 20), part(3, 50, 40, 10, 20));
    std::vector<std::int32_t> some;
    for (std::size_t i = 0; i < 200; ++i) some.push_back(keys[(5 + i / 20) * 64 + 3 + i % 20]);
    const auto index = stable_order(some, {200}, Order::Ascending);
    std::vector<std::uint32_t> found(64 * 64);
    gl.GetTextureImage(ids[3], 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 4 * 64 * 64, found.data());
    auto expected = nothing;
    for (std::size_t i = 0; i < 200; ++i)
        expected[(40 + i / 10) * 64 + 50 + i % 10] = numbers[(1 + index[i] / 10) * 64 + 1 + index[i] % 10];
    CHECK((found == expected));
    gl.GetTextureImage(ids[1], 0, GL_RED_INTEGER, GL_INT, 4 * 64 * 64, found.data());
    expected = nothing;
    for (std::size_t i = 0; i < 200; ++i)
        expected[(1 + i / 20) * 64 + i % 20] = static_cast<std::uint32_t>(some[index[i]]);
    CHECK((found == expected));

    const auto refused = [&](const char* why, const TextureRegion& a, const TextureRegion& b, const TextureRegion& c,
                             const TextureRegion& d) {
        const auto message = message_of([&] { sorter.sort_pairs(a, b, c, d); });
        CAPTURE(message);
        CHECK((message.find(why) != std::string::npos));
    };
    const auto whole = [&](std::size_t i) { return part(i, 0, 0, 64, 64); };
    refused("as many values as keys, 4096, not 200", whole(0), whole(1), part(2, 0, 0, 10, 20), part(3, 0, 0, 10, 20));
    refused("the same width", whole(0), part(1, 0, 0, 32, 64), whole(2), whole(3));
    refused("R32I", whole(0), whole(2), whole(3), whole(3));
    refused("another texture or layer", whole(2), whole(3), whole(2), whole(3));
    auto counted = whole(0);
    counted.counted = CountInBuffer{1, 0};
    refused("not taken from a buffer", counted, whole(1), whole(2), whole(3));
    gl.DeleteTextures(4, ids.data());
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("Values in buffers travel with keys, side by side, interleaved or apart") {
    const Host host;
    const auto& gl = host.gl;
    PairSorter sorter(Host::adopt());
    Random random(48);
    struct Case {
        KeyType type;
        std::size_t key, key_offset, key_stride, bytes, offset, stride;
        bool one_buffer;
    };
    constexpr std::array<Case, 7> cases{{{KeyType::F32, 4, 0, 0, 4, 0, 0, false},
                                         {KeyType::F16, 2, 6, 10, 8, 4, 12, false},
                                         {KeyType::I64, 8, 4, 12, 16, 0, 0, false},
                                         {KeyType::F32, 4, 8, 24, 12, 12, 24, true},  // a key before its value
                                         {KeyType::U32, 4, 16, 20, 16, 0, 20, true},  // behind its value
                                         {KeyType::F32, 4, 0, 0, 16, 4000, 0, true},  // all keys before all values
                                         {KeyType::F64, 8, 0, 16, 4, 8, 16, true}}};
    for (const auto& of : cases) {
        for (const std::size_t n : {1UL, 2UL, 1000UL}) {
            CAPTURE(of.bytes);
            CAPTURE(n);
            const auto key_stride = of.key_stride == 0 ? of.key : of.key_stride,
                       stride = of.stride == 0 ? of.bytes : of.stride;
            std::vector<std::byte> first(1000 * 40), second(1000 * 40);
            for (auto& byte : first) byte = static_cast<std::byte>(random.bits());
            for (auto& byte : second) byte = static_cast<std::byte>(random.bits());
            auto& values = of.one_buffer ? first : second;
            std::vector<double> numbers;  // keys as doubles, with ties
            for (std::size_t i = 0; i < n; ++i) {
                const auto number = static_cast<int>(random.number(0, 30));
                numbers.push_back(number);
                auto* const to = &first[of.key_offset + i * key_stride];
                if (of.type == KeyType::F16) {
                    const auto half = Half::from_float(static_cast<float>(number));
                    std::memcpy(to, &half, 2);
                } else if (of.type == KeyType::F32) {
                    const auto key = static_cast<float>(number);
                    std::memcpy(to, &key, 4);
                } else if (of.type == KeyType::F64) {
                    const double key = number;
                    std::memcpy(to, &key, 8);
                } else {
                    const std::int64_t key = number;
                    std::memcpy(to, &key, of.key);
                }
            }
            const auto index = stable_order(numbers, {n}, Order::Ascending);
            auto keys_after = first, values_after = second;
            auto& moved = of.one_buffer ? keys_after : values_after;
            for (std::size_t i = 0; i < n; ++i) {
                std::memcpy(&keys_after[of.key_offset + i * key_stride], &first[of.key_offset + index[i] * key_stride],
                            of.key);
                std::memcpy(&moved[of.offset + i * stride], &values[of.offset + index[i] * stride], of.bytes);
            }
            const HostBuffer a(gl, first), b(gl, second);
            sorter.sort_pairs({.buffer = a.id(), .type = of.type, .offset = of.key_offset, .stride = of.key_stride},
                              {.buffer = of.one_buffer ? a.id() : b.id(),
                               .bytes = of.bytes,
                               .offset = of.offset,
                               .stride = of.stride},
                              n);
            CHECK((a.read() == keys_after));
            CHECK((b.read() == values_after));
        }
    }
    const HostBuffer some(gl, std::vector<std::byte>(4000));
    const auto refused = [&](const char* why, const BufferKeys& keys, const BufferValues& values, std::size_t n) {
        const auto message = message_of([&] { sorter.sort_pairs(keys, values, n); });
        CAPTURE(message);
        CHECK((message.find(why) != std::string::npos));
    };
    const BufferKeys keys{.buffer = some.id()};
    refused("4, 8, 12 or 16 bytes, not 20", keys, {.buffer = some.id(), .bytes = 20}, 10);
    refused("share bytes", keys, {.buffer = some.id()}, 10);
    refused("share bytes", {.buffer = some.id(), .stride = 12},
            {.buffer = some.id(), .bytes = 8, .offset = 8, .stride = 12}, 10);
    refused("do not fit", keys, {.buffer = some.id(), .bytes = 16}, 251);
    refused("multiples of 4", keys, {.buffer = some.id(), .offset = 2}, 10);
    refused("not taken from a buffer", {.buffer = some.id(), .counted = CountInBuffer{some.id(), 0}},
            {.buffer = some.id(), .offset = 2000}, 10);
    CHECK((some.read() == std::vector<std::byte>(4000)));
    CHECK(error_names(take_errors(gl)) == "");
}
