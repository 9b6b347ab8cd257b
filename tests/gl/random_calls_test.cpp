// Random calls, one after the other, in applications of every kind and in any state. Each result is right, no state
// changes, and at the end there are as many objects as before, with the application's unchanged.
//     QUADMILL_RANDOM_CALLS   number of calls in each kind of application; 300 by default
//     QUADMILL_RANDOM_SEED    seed of the first round
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gl/host.hpp"
#include "gl/host_calls.hpp"
#include "gl/host_objects.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "gl/uploads.hpp"
#include "quadmill/pairs.hpp"
#include "quadmill/query.hpp"
#include "quadmill/stream.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t usual) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): no thread sets any
    return text ? std::strtoull(text, nullptr, 10) : usual;
}

// The number of objects of each kind that have a name.
std::array<int, 11> objects(const Api& gl) {
    std::array<int, 11> found{};
    for (GLuint name = 1; name < 20'000; ++name) {
        const std::array is{gl.IsTexture(name) != 0,
                            gl.IsBuffer(name) != 0,
                            gl.IsFramebuffer(name) != 0,
                            gl.IsProgram(name) != 0,
                            gl.IsShader(name) != 0,
                            gl.IsVertexArray(name) != 0,
                            gl.IsQuery(name) != 0,
                            gl.IsSampler(name) != 0,
                            gl.IsProgramPipeline && gl.IsProgramPipeline(name),
                            gl.IsTransformFeedback && gl.IsTransformFeedback(name),
                            gl.IsRenderbuffer(name) != 0};
        for (std::size_t kind = 0; kind < is.size(); ++kind) found.at(kind) += is.at(kind) ? 1 : 0;
    }
    return found;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

// Calls on the application's own buffers and textures, in addition to Calls.
class ObjectCalls {
  public:
    ObjectCalls(const Host& host, const Context& context)
        : gl_(host.gl),
          context_(context),
          sorter_(context, {.engine = Engine::Merge, .threads = 2}),
          pairs_(context, {.engine = Engine::Merge, .threads = 2}) {
        for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth, QueryEngine::Auto}) {
            if (engine == QueryEngine::Depth && context.info().api != OpenGl::Desktop45) continue;
            processors_.emplace_back(context, QueryOptions{.engine = engine, .threads = 2});
        }
    }

    std::vector<Calls::Call> of_round(Random& random) {
        std::vector<Calls::Call> calls{{"argsort_buffer", [&] { argsort_buffer(random); }},
                                       {"sort_buffer", [&] { sort_buffer(random); }},
                                       {"argsort by depth", [&] { argsort_by_depth(random); }},
                                       {"argsort_texture of a channel", [&] { argsort_channel(random); }},
                                       {"argsort_texture of any format", [&] { argsort_any_format(random); }},
                                       {"argsort_segments", [&] { argsort_segments(random); }},
                                       {"sort_texture of a rectangle", [&] { sort_rectangle(random); }},
                                       {"Quantiles::add_texture", [&] { add_texture(random); }},
                                       {"count, aggregates of a buffer", [&] { of_buffer(random); }},
                                       {"counts by an index", [&] { by_index(random); }},
                                       {"selections for the host", [&] { selection_for_host(random); }},
                                       {"what is refused", [&] { refused(random); }}};
        // Where shaders have no doubles, llvmpipe compiles for minutes.
        if (detail::Access::of(context_)->features.doubles)
            calls.push_back({"aggregates for the host", [&] { for_host(random); }});
        return calls;
    }

  private:
    static constexpr std::size_t stride = 12;

    struct InBuffer {
        std::vector<float> keys;
        std::vector<std::byte> content;
        BufferKeys where;
    };
    static InBuffer keys_in_buffer(Random& random) {
        const auto n = static_cast<std::size_t>(random.one_of({1, 2, 5, 65, 300, 2000}));
        InBuffer made{sample_keys<float>(random, n, Specials::Some), {}, {.offset = 8, .stride = stride}};
        made.content.assign(made.where.offset + n * stride, std::byte{0x5a});
        for (std::size_t i = 0; i < n; ++i)
            std::memcpy(&made.content[made.where.offset + i * stride], &made.keys[i], sizeof(float));
        return made;
    }
    static std::vector<float> in_buffer(const std::vector<std::byte>& content, std::size_t n) {
        std::vector<float> keys(n);
        for (std::size_t i = 0; i < n; ++i) std::memcpy(&keys[i], &content[8 + i * stride], sizeof(float));
        return keys;
    }

    // A number of keys in a buffer, which may be more than there are.
    struct Number {
        Number(const Api& gl, Random& random, std::size_t keys)
            : count(static_cast<std::uint32_t>(random.number(0, static_cast<int>(keys) + 3))),
              buffer(gl, bytes_of(std::vector<std::uint32_t>{77, count, 77})),
              first(std::min<std::size_t>(count, keys)) {}
        [[nodiscard]] CountInBuffer where() const { return {buffer.id(), 4}; }
        std::uint32_t count;
        HostBuffer buffer;
        std::size_t first;  // keys that are sorted
    };
    // The first keys in order, and the others as they are.
    static std::vector<float> first_sorted(const std::vector<float>& keys, std::size_t first, Order order) {
        const auto end = keys.begin() + static_cast<std::ptrdiff_t>(first);
        auto made = sorted(std::vector(keys.begin(), end), order);
        made.insert(made.end(), end, keys.end());
        return made;
    }
    static std::vector<float> gathered(const std::vector<float>& keys, const std::vector<std::uint32_t>& index) {
        std::vector<float> made;
        for (const auto place : index) made.push_back(keys.at(place));
        return made;
    }

    void argsort_buffer(Random& random) {
        auto made = keys_in_buffer(random);
        const auto n = made.keys.size();
        const HostBuffer keys(gl_, made.content), index(gl_, std::vector<std::byte>(4 * n));
        const Number number(gl_, random, n);
        const bool counted = random.flag();
        made.where.buffer = keys.id();
        if (counted) made.where.counted = number.where();
        sorter_.argsort_buffer(made.where, n, index.id());
        std::vector<std::uint32_t> found(n);
        std::memcpy(found.data(), index.read().data(), 4 * n);
        const auto expected = first_sorted(made.keys, counted ? number.first : n, Order::Ascending);
        CHECK(bits_differ(expected, gathered(made.keys, found)) == "");
        CHECK((keys.read() == made.content));
    }

    void sort_buffer(Random& random) {
        auto made = keys_in_buffer(random);
        const auto n = made.keys.size();
        const HostBuffer keys(gl_, made.content);
        const Number number(gl_, random, n);
        const bool counted = random.flag();
        made.where.buffer = keys.id();
        if (counted) made.where.counted = number.where();
        sorter_.sort_buffer(made.where, n, Order::Descending);
        const auto expected = first_sorted(made.keys, counted ? number.first : n, Order::Descending);
        CHECK(bits_differ(expected, in_buffer(keys.read(), n)) == "");
    }

    // The positions are small integers, so their distances are exact.
    void argsort_by_depth(Random& random) {
        const int n = random.number(1, 400), channels = random.number(3, 4);
        std::vector<float> positions(static_cast<std::size_t>(n * channels));
        for (auto& one : positions) one = static_cast<float>(random.number(-50, 50));
        const Plane plane{2, -1, 0.5F, static_cast<float>(random.number(-9, 9))};
        std::vector<float> distances;
        for (std::size_t i = 0; i < positions.size(); i += static_cast<std::size_t>(channels))
            distances.push_back(plane.x * positions[i] + plane.y * positions[i + 1] + plane.z * positions[i + 2] +
                                plane.w);
        std::vector<std::uint32_t> expected(distances.size()), found(distances.size());
        sort_with_index_on_cpu(distances, expected);
        if (random.flag()) {
            const HostBuffer keys(gl_, bytes_of(positions)), index(gl_, std::vector<std::byte>(4 * found.size()));
            sorter_.argsort_buffer({.buffer = keys.id(), .stride = static_cast<std::size_t>(4 * channels)}, plane,
                                   found.size(), index.id());
            std::memcpy(found.data(), index.read().data(), 4 * found.size());
        } else {
            const Texels texels(context_, gl_, channels == 3 ? GL_RGB32F : GL_RGBA32F, n, 1, positions,
                                channels == 3 ? GL_RGB : GL_RGBA);
            found =
                argsorted(n, 1, [&](GLuint index) { sorter_.argsort_texture({.texture = texels.id()}, plane, index); });
        }
        CHECK((found == expected));
    }

    // A texture that is made, used and read with tight pixel transfers.
    class Texels {
      public:
        Texels(const Context& context, const Api& gl, const Uploaded& of, int width, int height,
               const std::vector<std::byte>& texels)
            : context_(context), gl_(gl), format_(of.format), bytes_(texels.size()) {
            const Session session(context_);
            gl.CreateTextures(GL_TEXTURE_2D, 1, &id_);
            gl.TextureStorage2D(id_, 1, of.internal, width, height);
            gl.TextureSubImage2D(id_, 0, 0, 0, width, height, of.format, of.type, texels.data());
        }
        Texels(const Context& context, const Api& gl, GLenum internal, int width, int height,
               const std::vector<float>& texels, GLenum format = GL_RGBA)
            : Texels(context, gl, {"", internal, format, GL_FLOAT, 0}, width, height, bytes_of(texels)) {}
        Texels(const Texels&) = delete;
        Texels& operator=(const Texels&) = delete;
        ~Texels() { gl_.DeleteTextures(1, &id_); }
        [[nodiscard]] GLuint id() const { return id_; }
        [[nodiscard]] std::vector<float> read() const {
            const Session session(context_);
            std::vector<float> texels(bytes_ / sizeof(float));
            gl_.GetTextureImage(id_, 0, format_, GL_FLOAT, static_cast<GLsizei>(bytes_), texels.data());
            return texels;
        }

      private:
        Context context_;
        const Api& gl_;
        GLenum format_;
        std::size_t bytes_;
        GLuint id_ = 0;
    };
    static std::vector<float> channel_of(const std::vector<float>& texels, std::size_t channel) {
        std::vector<float> values;
        for (std::size_t i = channel; i < texels.size(); i += 4) values.push_back(texels[i]);
        return values;
    }

    // What the call writes to a texture of R32UI.
    template <class Call>
    std::vector<std::uint32_t> argsorted(int width, int height, const Call& call) {
        GLuint index = 0;
        std::vector<std::uint32_t> found(static_cast<std::size_t>(width * height));
        {
            const Session session(context_);
            gl_.CreateTextures(GL_TEXTURE_2D, 1, &index);
            gl_.TextureStorage2D(index, 1, GL_R32UI, width, height);
        }
        call(index);
        {
            const Session session(context_);
            gl_.GetTextureImage(index, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, static_cast<GLsizei>(4 * found.size()),
                                found.data());
        }
        gl_.DeleteTextures(1, &index);
        return found;
    }

    void argsort_channel(Random& random) {
        const int width = random.number(1, 20), height = random.number(1, 20), channel = random.number(0, 3);
        const auto n = static_cast<std::size_t>(width * height);
        const Texels keys(context_, gl_, random.flag() ? GL_RGBA16F : GL_RGBA32F, width, height,
                          sample_keys<float>(random, 4 * n, Specials::None));
        const auto values = channel_of(keys.read(), static_cast<std::size_t>(channel));
        const Number number(gl_, random, n);
        TextureRegion where{.texture = keys.id()};
        const bool counted = random.flag();
        if (counted) where.counted = number.where();
        const auto found =
            argsorted(width, height, [&](GLuint index) { sorter_.argsort_texture(where, index, channel); });
        const auto expected = first_sorted(values, counted ? number.first : n, Order::Ascending);
        CHECK(bits_differ(expected, gathered(values, found)) == "");
    }

    void argsort_any_format(Random& random) {
        const auto& format = uploaded_formats.at(random.index(static_cast<GLuint>(uploaded_formats.size())));
        if (context_.info().api == OpenGl::Es3 && !is_in_es(format)) return;
        const int width = random.number(1, 20), height = random.number(1, 20);
        const int channel = random.number(0, format.channels - 1);
        std::vector<int> numbers(static_cast<std::size_t>(width * height * format.channels));
        for (auto& number : numbers) number = random.number(0, 99);
        std::vector<double> keys;
        for (std::size_t i = 0; i < numbers.size(); i += static_cast<std::size_t>(format.channels))
            keys.push_back(stored(format, numbers[i + static_cast<std::size_t>(channel)], channel));
        std::vector<std::uint32_t> expected(keys.size());
        sort_with_index_on_cpu(keys, expected);
        const Texels texels(context_, gl_, format, width, height, uploaded(format, numbers));
        const auto found = argsorted(
            width, height, [&](GLuint index) { sorter_.argsort_texture({.texture = texels.id()}, index, channel); });
        CAPTURE(format.name);
        CHECK((found == expected));
    }

    void argsort_segments(Random& random) {
        const int width = random.number(1, 40);
        const auto n = static_cast<std::size_t>(width);
        const std::size_t middle = random.index(static_cast<GLuint>(n + 1));
        const auto values = sample_keys<float>(random, n, Specials::None);
        const Texels keys(context_, gl_, GL_R32F, width, 1, values, GL_RED);
        const auto found = argsorted(width, 1, [&](GLuint index) {
            pairs_.argsort_segments({.texture = keys.id()}, std::array<std::size_t, 3>{middle, middle, n}, index);
        });
        std::vector<float> gathered, expected;
        for (const auto place : found) gathered.push_back(values.at(place));
        const auto cut = values.begin() + static_cast<std::ptrdiff_t>(middle);
        for (const auto& part : {std::vector<float>(values.begin(), cut), std::vector<float>(cut, values.end())}) {
            const auto in_order = sorted(part, Order::Ascending);
            expected.insert(expected.end(), in_order.begin(), in_order.end());
        }
        CHECK(bits_differ(expected, gathered) == "");
    }

    void sort_rectangle(Random& random) {
        const int width = random.number(1, 20), height = random.number(1, 20);
        const auto n = static_cast<std::size_t>(width * height);
        const std::size_t count = 1 + random.index(static_cast<GLuint>(n));
        auto values = sample_keys<float>(random, n, Specials::None);
        const Texels texels(context_, gl_, GL_R32F, width, height, values, GL_RED);
        const TextureRegion first{.texture = texels.id(), .count = count};
        sorter_.sort_texture(first, first);
        sort_on_cpu(std::span(values).first(count));
        CHECK(bits_differ(values, texels.read()) == "");
    }

    void add_texture(Random& random) {
        const int width = random.number(1, 40), height = random.number(1, 40);
        const auto n = static_cast<std::size_t>(width * height);
        std::vector<float> values(n);
        for (auto& value : values) value = static_cast<float>(random.number(-50, 50));
        const Texels texels(context_, gl_, GL_R32F, width, height, values, GL_RED);
        Quantiles<float> summary({.eps = 0.05});
        summary.add_texture(sorter_, {.texture = texels.id()});
        std::ranges::sort(values);
        CHECK(summary.n() == n);
        CHECK(summary.quantile(0).value == values.front());
        CHECK(summary.quantile(1).value == values.back());
        const auto middle = summary.quantile(0.5);
        const auto above = static_cast<double>(std::ranges::upper_bound(values, middle.value) - values.begin()),
                   below = static_cast<double>(std::ranges::lower_bound(values, middle.value) - values.begin());
        const auto rank = static_cast<double>(middle.rank), slack = 0.05 * static_cast<double>(n);
        CHECK((below + 1 <= rank + slack && above >= rank - slack));
    }

    struct Asked {
        Table table, in_memory;
        QueryAggregate what;
    };
    static Asked ask(Random& random, const InBuffer& made) {
        using What = QueryAggregate::Kind;
        Asked asked;
        asked.table.add_buffer("x", made.where, made.keys.size());
        asked.in_memory.add("x", made.keys);
        asked.what = {.kind = random.one_of({What::Count, What::Min, What::Max, What::Quantile, What::KthLargest,
                                             What::KthSmallest, What::CountRows}),
                      .phi = random.real(0, 1),
                      .k = 1 + random.index(400)};
        if (asked.what.kind != What::CountRows) asked.what.column = "x";
        return asked;
    }
    QueryProcessor& processor(Random& random) {
        return processors_[random.index(static_cast<GLuint>(processors_.size()))];
    }

    void of_buffer(Random& random) {
        auto made = keys_in_buffer(random);
        const HostBuffer keys(gl_, made.content);
        made.where.buffer = keys.id();
        const auto asked = ask(random, made);
        auto& by = processor(random);
        const auto expected = cpu_.aggregate(asked.in_memory, asked.what);
        const auto later = by.aggregate_async(asked.table, asked.what);
        CHECK(by.count(asked.table, column("x") > 0) == cpu_.count(asked.in_memory, column("x") > 0));
        CHECK(same(by.aggregate(asked.table, asked.what), expected));
        CHECK(same(later.get(), expected));
    }

    void by_index(Random& random) {
        const auto n = static_cast<std::size_t>(random.one_of({1, 65, 2000}));
        Table table;
        table.add("x", sample_keys<float>(random, n, Specials::Some))
            .add("y", sample_keys<float>(random, n, Specials::Some));
        auto& by = processor(random);
        by.index(table, {"x", "y"});
        const auto where = column("x") > random.real(-1, 1) && column("y") <= random.real(-1, 1);
        const auto later = by.count_async(table, where);
        const auto expected = cpu_.count(table, where);
        CHECK(by.count(table, where) == expected);
        CHECK(later.get() == expected);
    }

    void for_host(Random& random) {
        auto made = keys_in_buffer(random);
        const HostBuffer keys(gl_, made.content), out(gl_, std::vector<std::byte>(24, std::byte{3}));
        made.where.buffer = keys.id();
        const auto asked = ask(random, made);
        processor(random).write_aggregate(asked.table, asked.what,
                                          {.buffer = out.id(), .offset = 8, .type = ColumnType::F64});
        const auto expected = cpu_.aggregate(asked.in_memory, asked.what);
        const auto content = out.read();
        double found = 0;
        std::memcpy(&found, &content[8], sizeof found);
        const auto* const integer = std::get_if<std::int64_t>(&expected);
        CHECK(same(expected == Value() ? Value(std::nan(""))
                   : integer           ? Value(static_cast<double>(*integer))
                                       : expected,
                   found));
        CHECK((content[7] == std::byte{3} && content[16] == std::byte{3}));
    }

    void selection_for_host(Random& random) {
        auto made = keys_in_buffer(random);
        const auto n = made.keys.size();
        const HostBuffer keys(gl_, made.content), rows(gl_, std::vector<std::byte>(4 * n)),
            count(gl_, std::vector<std::byte>(8));
        made.where.buffer = keys.id();
        Table table, in_memory;
        table.add_buffer("x", made.where, n);
        in_memory.add("x", made.keys);
        const auto chosen = processor(random).select(table, column("x") <= 1);
        const auto expected = cpu_.select(in_memory, column("x") <= 1).rows();
        chosen.write_rows(rows.id(), 0, count.id(), 4);
        std::uint32_t number = 0;
        std::memcpy(&number, &count.read()[4], 4);
        REQUIRE(number == expected.size());
        const auto listed = rows.read();
        for (std::size_t i = 0; i < expected.size(); ++i) {
            std::uint32_t row = 0;
            std::memcpy(&row, &listed[4 * i], 4);
            REQUIRE(row == expected[i]);
        }
    }

    void refused(Random& random) {
        const HostBuffer small(gl_, std::vector<std::byte>(16));
        Table table;
        table.add_buffer("x", {.buffer = small.id()}, 5);
        auto& by = processor(random);
        CHECK_THROWS_AS(static_cast<void>(by.count(table, column("x") > 0)), InvalidArgument);
        CHECK_THROWS_AS(by.write_aggregate(table, {}, {.buffer = small.id(), .offset = 16}), InvalidArgument);
        CHECK_THROWS_AS(sorter_.sort_buffer({.buffer = small.id()}, 5), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(sorter_.sample_texture<float>({.texture = 4'000'000U}, 0.1)),
                        InvalidArgument);
    }

    const Api& gl_;
    Context context_;
    Sorter sorter_;
    PairSorter pairs_;
    std::vector<QueryProcessor> processors_;
    QueryProcessor cpu_;
};

// Objects that no call may touch.
struct Bystanders {
    explicit Bystanders(const Host& host)
        : buffer(host.gl, bytes_of(std::vector<float>(500, 1.5F))), texture(host.gl) {}
    struct Texture {
        explicit Texture(const Api& of) : gl(of) {
            gl.CreateTextures(GL_TEXTURE_2D, 1, &id);
            gl.TextureStorage2D(id, 1, GL_RGBA32F, 5, 3);
            gl.ClearTexImage(id, 0, GL_RGBA, GL_FLOAT, std::array{1.0F, 2.0F, 3.0F, 4.0F}.data());
        }
        Texture(const Texture&) = delete;
        Texture& operator=(const Texture&) = delete;
        ~Texture() { gl.DeleteTextures(1, &id); }
        const Api& gl;
        GLuint id = 0;
    };
    void check() const {
        CHECK((buffer.read() == bytes_of(std::vector<float>(500, 1.5F))));
        std::array<float, 60> texels{};
        texture.gl.GetTextureImage(texture.id, 0, GL_RGBA, GL_FLOAT, sizeof texels, texels.data());
        for (std::size_t i = 0; i < texels.size(); ++i) CHECK(texels.at(i) == static_cast<float>(i % 4 + 1));
    }
    HostBuffer buffer;
    Texture texture;
};

}  // namespace

TEST_CASE("random calls in random states are right, change no state and leak no object") {
    const auto calls_wanted = number_of("QUADMILL_RANDOM_CALLS", 300);
    const auto first_seed = number_of("QUADMILL_RANDOM_SEED", 20261205);
    Host host(each_profile());
    const Bystanders bystanders(host);
    const auto before_all = objects(host.gl);
    std::uint64_t made = 0, rounds = 0;
    std::optional<Context> adopted(Host::adopt());
    {
        Calls calls(host.gl, *adopted);
        ObjectCalls object_calls(host, *adopted);
        for (; made < calls_wanted; ++rounds) {
            const auto seed = first_seed + rounds;
            CAPTURE(seed);
            Random random(seed);
            TextureJobs jobs(host.gl, random);
            auto all = calls.of_round(random, jobs);
            for (auto& call : object_calls.of_round(random)) all.push_back(std::move(call));
            constexpr std::size_t a_round = 12;
            Poison poison(host.gl, seed);
            const auto before = Snapshot::take(host.gl);
            for (std::size_t i = 0; i < a_round && made < calls_wanted; ++i, ++made) {
                make(all[random.index(static_cast<GLuint>(all.size()))], host, before);
            }
            poison.clear();
            jobs.verify();
            REQUIRE(error_names(take_errors(host.gl)) == "");
        }
        bystanders.check();
    }
    adopted.reset();
    CHECK(objects(host.gl) == before_all);
    std::printf("random calls: %llu in %llu rounds from seed %llu\n", static_cast<unsigned long long>(made),
                static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(first_seed));
}
