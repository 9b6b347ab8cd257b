// Keys in buffers of the application are sorted in place, and their order is written to a buffer. Other content of
// either buffer is not changed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

using Bytes = std::vector<std::byte>;

class HostBuffers {
  public:
    explicit HostBuffers(const Api& gl) : gl_(gl) {}
    HostBuffers(const HostBuffers&) = delete;
    HostBuffers& operator=(const HostBuffers&) = delete;
    ~HostBuffers() { gl_.DeleteBuffers(static_cast<GLsizei>(ids_.size()), ids_.data()); }
    GLuint add(const Bytes& content, bool immutable) {
        GLuint id = 0;
        gl_.CreateBuffers(1, &id);
        const auto size = static_cast<GLsizeiptr>(content.size());
        if (immutable) {
            gl_.NamedBufferStorage(id, size, content.data(), 0);
        } else {
            gl_.NamedBufferData(id, size, content.data(), GL_STREAM_DRAW);
        }
        ids_.push_back(id);
        return id;
    }
    [[nodiscard]] Bytes read(GLuint id) const {
        GLint size = 0;
        gl_.GetNamedBufferParameteriv(id, GL_BUFFER_SIZE, &size);
        Bytes content(static_cast<std::size_t>(size));
        gl_.GetNamedBufferSubData(id, 0, size, content.data());
        return content;
    }

  private:
    const Api& gl_;
    std::vector<GLuint> ids_;
};

Bytes noise(Random& random, std::size_t bytes) {
    Bytes content(bytes);
    for (auto& byte : content) byte = static_cast<std::byte>(random.bits());
    return content;
}

// All bit patterns are keys.
template <class Key>
std::vector<Key> keys_in(const Bytes& content, const BufferKeys& where, std::size_t n) {
    std::vector<Key> keys(n);
    const auto stride = where.stride == 0 ? sizeof(Key) : where.stride;
    for (std::size_t i = 0; i < n; ++i) std::memcpy(&keys[i], content.data() + where.offset + i * stride, sizeof(Key));
    return keys;
}

template <class Key>
Bytes with_keys(Bytes content, const BufferKeys& where, const std::vector<Key>& keys) {
    const auto stride = where.stride == 0 ? sizeof(Key) : where.stride;
    for (std::size_t i = 0; i < keys.size(); ++i)
        std::memcpy(content.data() + where.offset + i * stride, &keys[i], sizeof(Key));
    return content;
}

template <class Key>
const KeyType type_of = Keys(std::span<Key>{}).type();

struct Case {
    std::size_t n, offset, stride, behind;  // in units of 2 or 4 bytes; stride 0: tight
};

template <class Key>
void check(const Host& host, Sorter& sorter, Random& random, const Case& of, Order order) {
    constexpr std::size_t part = std::min<std::size_t>(sizeof(Key), 4);
    BufferKeys where{.type = type_of<Key>,
                     .offset = of.offset * part,
                     .stride = of.stride == 0 ? 0 : sizeof(Key) + of.stride * part};
    const auto step = where.stride == 0 ? sizeof(Key) : where.stride;
    const auto content = noise(random, where.offset + (of.n == 0 ? 0 : (of.n - 1) * step + sizeof(Key)) + of.behind);
    const auto keys = keys_in<Key>(content, where, of.n);
    auto sorted_keys = keys;
    std::vector<std::uint32_t> expected(of.n);
    sort_with_index_on_cpu(sorted_keys, expected, order);

    HostBuffers buffers(host.gl);
    where.buffer = buffers.add(content, random.flag());
    const auto index_before = noise(random, 12 + 4 * of.n + 5);
    const auto index = buffers.add(index_before, random.flag());
    {
        const Poison poison(host.gl, random.bits());
        const auto before = Snapshot::take(host.gl);
        sorter.argsort_buffer(where, of.n, index, 12, order);
        REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
    }
    CHECK(buffers.read(where.buffer) == content);
    CHECK(buffers.read(index) == with_keys(index_before, {.offset = 12}, expected));
    {
        const Poison poison(host.gl, random.bits());
        const auto before = Snapshot::take(host.gl);
        sorter.sort_buffer(where, of.n, order);
        REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
    }
    CHECK(buffers.read(where.buffer) == with_keys(content, where, sorted_keys));
    CHECK(error_names(take_errors(host.gl)) == "");
}

}  // namespace

TEST_CASE_TEMPLATE("keys in a buffer are argsorted and sorted in place, with offset and stride", Key, Half, float,
                   double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    const Host host(each_profile());
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge});
    constexpr std::uint64_t seed = 20261122;
    CAPTURE(seed);
    Random random(seed);
    for (const auto& of : {Case{0, 0, 0, 0},
                           {1, 0, 0, 0},
                           {2, 3, 0, 1},
                           {63, 0, 1, 0},
                           {64, 1, 3, 7},
                           {65, 5, 0, 3},
                           {300, 64, 2, 1},
                           {1025, 7, 5, 0},
                           {5000, 70, 0, 9}}) {
        CAPTURE(of.n);
        check<Key>(host, sorter, random, of, random.flag() ? Order::Ascending : Order::Descending);
    }
}

TEST_CASE("more words than are copied to a buffer at a time") {
    const Host host;
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge});
    Random random(7);
    // A piece is 2^22 words, which a stride of 63 words does not divide.
    check<std::uint32_t>(host, sorter, random, {(std::size_t{1} << 17U) + 5, 1, 62, 0}, Order::Ascending);
}

TEST_CASE("keys and their order may be parts of one buffer, which is used as an element buffer") {
    const Host host;
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge});
    HostBuffers buffers(host.gl);
    const std::vector<float> depths{3, 1, 2, 0};
    Bytes content(32);
    content = with_keys(content, {}, depths);
    const auto buffer = buffers.add(content, true);
    sorter.argsort_buffer({.buffer = buffer}, 4, buffer, 16, Order::Descending);
    CHECK(buffers.read(buffer) == with_keys(content, {.offset = 16}, std::vector<std::uint32_t>{0, 2, 1, 3}));
    CHECK(message_of([&] { sorter.argsort_buffer({.buffer = buffer}, 4, buffer, 12); }).find("share bytes") !=
          std::string::npos);
}

TEST_CASE("an order whose number only the GPU knows is drawn by glDrawElementsIndirect") {
    const Host host(each_profile());
    const auto& gl = host.gl;
    Sorter sorter(Host::adopt());
    HostBuffers buffers(gl);
    constexpr std::uint32_t max = 1000, across = 16, none = 0xffffffff;
    Random random(11);
    std::vector<float> depths(max);
    for (auto& depth : depths) depth = static_cast<float>(random.number(0, 1'000'000));
    const auto keys = buffers.add(with_keys(Bytes(4 * max), {}, depths), true),
               order = buffers.add(Bytes(4 * max), false);
    // Vertex i is drawn to texel i % across.
    const auto program = make_program(gl,
                                      "flat out uint index; void main() { index = uint(gl_VertexID);"
                                      "gl_Position = vec4((float(gl_VertexID % 16) + 0.5) / 8.0 - 1.0, 0, 0, 1); }",
                                      "flat in uint index; out uint color; void main() { color = index; }");
    GLuint texture = 0, framebuffer = 0, vertices = 0;
    gl.CreateTextures(GL_TEXTURE_2D, 1, &texture);
    gl.TextureStorage2D(texture, 1, GL_R32UI, across, 1);
    gl.CreateFramebuffers(1, &framebuffer);
    gl.NamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
    gl.CreateVertexArrays(1, &vertices);
    gl.VertexArrayElementBuffer(vertices, order);
    for (const std::uint32_t count : {max, std::uint32_t{1}, std::uint32_t{0}, std::uint32_t{333}}) {
        CAPTURE(count);
        // A command of an indirect draw begins with the number of its elements.
        const std::vector<std::uint32_t> numbers{7, count, 1, 0, 0, 0};
        const auto command = buffers.add(with_keys(Bytes(24), {}, numbers), false);
        gl.ClearTexImage(texture, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, &none);
        sorter.argsort_buffer({.buffer = keys, .counted = CountInBuffer{command, 4}}, max, order, 0, Order::Descending);
        gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        gl.Viewport(0, 0, across, 1);
        gl.UseProgram(program);
        gl.BindVertexArray(vertices);
        gl.BindBuffer(GL_DRAW_INDIRECT_BUFFER, command);
        gl.DrawElementsIndirect(GL_POINTS, GL_UNSIGNED_INT, reinterpret_cast<const void*>(std::uintptr_t{4}));
        // Back to front: the nearest of the first `count` ones is drawn last.
        std::vector<std::uint32_t> expected(across, none), found(across);
        for (std::uint32_t i = 0; i < count; ++i) {
            auto& nearest = expected[i % across];
            if (nearest == none || depths[i] <= depths[nearest]) nearest = i;
        }
        gl.GetTextureImage(texture, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 4 * across, found.data());
        CHECK(found == expected);
    }
    gl.DeleteVertexArrays(1, &vertices);
    gl.DeleteFramebuffers(1, &framebuffer);
    gl.DeleteTextures(1, &texture);
    gl.DeleteProgram(program);
    CHECK(error_names(take_errors(gl)) == "");
}

TEST_CASE("an invalid buffer is refused with the reason") {
    const Host host(each_profile());
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge}), by_blending(Host::adopt(), {.engine = Engine::Pbsn});
    HostBuffers buffers(host.gl);
    const auto content = Bytes(64);
    const auto keys = buffers.add(content, false), index = buffers.add(content, false);
    const auto has = [&](const char* part, const std::function<void()>& call) {
        const auto message = message_of(call);
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    has("is not a buffer", [&] { sorter.argsort_buffer({.buffer = 0}, 4, index); });
    has("is not a buffer", [&] { sorter.argsort_buffer({.buffer = keys}, 4, 4'000'000'000U); });
    has("do not fit", [&] { sorter.argsort_buffer({.buffer = keys}, 17, index); });
    has("do not fit", [&] { sorter.argsort_buffer({.buffer = keys}, 16, index, 4); });
    has("do not fit", [&] { sorter.sort_buffer({.buffer = keys, .stride = 8}, 9); });
    has("do not fit",
        [&] { sorter.sort_buffer({.buffer = keys, .stride = 8}, std::numeric_limits<std::size_t>::max() / 4); });
    has("do not fit", [&] { sorter.sort_buffer({.buffer = keys, .offset = 68}, 1); });
    has("multiples of 4", [&] { sorter.sort_buffer({.buffer = keys, .offset = 2}, 1); });
    has("multiples of 4", [&] { sorter.sort_buffer({.buffer = keys, .stride = 6}, 1); });
    has("multiples of 4", [&] { sorter.argsort_buffer({.buffer = keys}, 1, index, 1); });
    has("multiples of 2", [&] { sorter.sort_buffer({.buffer = keys, .type = KeyType::F16, .offset = 1}, 1); });
    has("not less than a key", [&] { sorter.sort_buffer({.buffer = keys, .type = KeyType::F64, .stride = 4}, 1); });
    has("Engine::Merge", [&] { by_blending.sort_buffer({.buffer = keys}, 1); });
    host.gl.MapNamedBufferRange(keys, 0, 64, GL_MAP_WRITE_BIT);
    has("is mapped", [&] { sorter.sort_buffer({.buffer = keys}, 4); });
    host.gl.UnmapNamedBuffer(keys);
    GLuint persistent = 0;
    host.gl.CreateBuffers(1, &persistent);
    const GLbitfield how = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    host.gl.NamedBufferStorage(persistent, 64, content.data(), how);
    host.gl.MapNamedBufferRange(persistent, 0, 64, how);
    CHECK_NOTHROW(sorter.sort_buffer({.buffer = persistent}, 4));
    host.gl.DeleteBuffers(1, &persistent);
    CHECK(error_names(take_errors(host.gl)) == "");
}

namespace {

class ReadsOfBuffers final : public PassObserver {
  public:
    void before(const PassEvent& pass) override { reads += pass.name == "keys of buffer" ? 1 : 0; }
    int reads = 0;
};

}  // namespace

TEST_CASE("keys further apart than a buffer texture has for a row of them are read in parts of it") {
    const Host host(Profile::Core);
    auto context = Host::adopt();
    Sorter sorter(context);
    ReadsOfBuffers observer;
    context.observe(&observer);
    GLint texels = 0;
    host.gl.GetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &texels);
    const auto reach = static_cast<std::size_t>(texels) * sizeof(std::uint32_t);
    constexpr std::size_t n = 100;
    const auto stride = reach / 64;  // a row has more keys
    std::vector<std::uint32_t> keys(n), order(n), found(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(i * 7919 % n);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return keys[i]; });
    GLuint buffer = 0, index = 0;
    host.gl.CreateBuffers(1, &buffer);
    host.gl.CreateBuffers(1, &index);
    host.gl.NamedBufferStorage(buffer, static_cast<GLsizeiptr>(n * stride), nullptr, GL_DYNAMIC_STORAGE_BIT);
    host.gl.NamedBufferStorage(index, static_cast<GLsizeiptr>(n * sizeof(std::uint32_t)), nullptr, 0);
    for (std::size_t i = 0; i < n; ++i)
        host.gl.NamedBufferSubData(buffer, static_cast<GLintptr>(i * stride), sizeof keys[i], &keys[i]);
    const BufferKeys where{.buffer = buffer, .type = KeyType::U32, .stride = stride};
    sorter.argsort_buffer(where, n, index, 0);
    host.gl.GetNamedBufferSubData(index, 0, static_cast<GLsizeiptr>(n * sizeof(std::uint32_t)), found.data());
    CHECK(found == order);
    CHECK(observer.reads > 1);  // llvmpipe can read more than it reports; others cannot
    auto too_far = where;
    // Four of them take more than a texture has.
    const auto side = static_cast<std::size_t>(context.info().max_texture_size);
    too_far.stride = std::min<std::size_t>(side, 1U << 14U) * side + sizeof(std::uint32_t);
    CHECK_THROWS_WITH_AS(static_cast<void>(sorter.argsort_buffer(too_far, 2, index, 0)),
                         doctest::Contains("a texture holds"), InvalidArgument);
    host.gl.DeleteBuffers(1, &buffer);
    host.gl.DeleteBuffers(1, &index);
    context.observe(nullptr);
    CHECK(error_names(take_errors(host.gl)) == "");
}
