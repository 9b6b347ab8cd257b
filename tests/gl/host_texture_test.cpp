// A texture of the application is read and written correctly whatever its parameters are, and they do not change.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "gl/host.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

struct Parameter {
    GLenum name;
    GLint value;
};

// Each alone, then all together. The first one is the defaults, with which textures of integers are incomplete.
const std::vector<std::vector<Parameter>> poisons = [] {
    std::vector<std::vector<Parameter>> each{{},
                                             {{GL_TEXTURE_MIN_FILTER, GL_NEAREST}, {GL_TEXTURE_MAG_FILTER, GL_NEAREST}},
                                             {{GL_TEXTURE_MIN_FILTER, GL_NEAREST}},
                                             {{GL_TEXTURE_MAG_FILTER, GL_NEAREST}},
                                             {{GL_TEXTURE_MIN_FILTER, GL_LINEAR}}};
    std::vector<Parameter> all;
    for (const auto& parameter : {Parameter{GL_TEXTURE_BASE_LEVEL, 1},
                                  {GL_TEXTURE_MAX_LEVEL, 0},
                                  {GL_TEXTURE_SWIZZLE_R, GL_ONE},
                                  {GL_TEXTURE_SWIZZLE_G, GL_ONE},
                                  {GL_TEXTURE_SWIZZLE_B, GL_ZERO},
                                  {GL_TEXTURE_SWIZZLE_A, GL_RED},
                                  {GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE},
                                  {GL_TEXTURE_COMPARE_FUNC, GL_NEVER},
                                  {GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX},
                                  {GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER},
                                  {GL_TEXTURE_WRAP_T, GL_MIRRORED_REPEAT},
                                  {GL_TEXTURE_MIN_LOD, 5},
                                  {GL_TEXTURE_MAX_LOD, -5},
                                  {GL_TEXTURE_LOD_BIAS, 2}}) {
        each.push_back({parameter});
        all.push_back(parameter);
    }
    each.push_back(all);
    return each;
}();

// The storage of the application's texture: mutable or not, with one level or more, or a view of a level.
enum class Storage { Mutable, MutableLevels, Immutable, ImmutableLevels, View };
constexpr std::array storages{Storage::Mutable, Storage::MutableLevels, Storage::Immutable, Storage::ImmutableLevels,
                              Storage::View};

struct Kind {
    GLenum internal, format, type;
    std::size_t channels;
};
template <class T>
constexpr Kind kind_of = std::is_same_v<T, float>          ? Kind{GL_R32F, GL_RED, GL_FLOAT, 1}
                         : std::is_same_v<T, std::int32_t> ? Kind{GL_R32I, GL_RED_INTEGER, GL_INT, 1}
                                                           : Kind{GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 1};
constexpr Kind four_floats{GL_RGBA32F, GL_RGBA, GL_FLOAT, 4};
constexpr GLsizei width = 6, height = 4;
constexpr std::size_t texels = std::size_t{width} * height;

// Level 0 has `values`. All other levels, including those of the view's parent, have ones.
class PoisonedTexture {
  public:
    template <class T>
    PoisonedTexture(const Api& gl, Kind kind, Storage storage, const std::vector<Parameter>& poison,
                    const std::vector<T>& values)
        : gl_(gl), kind_(kind) {
        const std::vector<T> ones(4 * values.size(), T{1});
        const bool is_mutable = storage == Storage::Mutable || storage == Storage::MutableLevels;
        const int levels = storage == Storage::MutableLevels || storage == Storage::ImmutableLevels ? 3 : 1;
        gl.GenTextures(1, &id_);
        if (storage == Storage::View) {
            gl.CreateTextures(GL_TEXTURE_2D, 1, &parent_);
            gl.TextureStorage2D(parent_, 3, kind.internal, 2 * width, 2 * height);
            gl.TextureSubImage2D(parent_, 0, 0, 0, 2 * width, 2 * height, kind.format, kind.type, ones.data());
            gl.TextureView(id_, GL_TEXTURE_2D, parent_, kind.internal, 1, 1, 0, 1);
        }
        gl.BindTexture(GL_TEXTURE_2D, id_);
        if (storage == Storage::Immutable || storage == Storage::ImmutableLevels)
            gl.TexStorage2D(GL_TEXTURE_2D, levels, kind.internal, width, height);
        for (int level = 0; level < levels; ++level) {
            const auto* data = level == 0 ? values.data() : ones.data();
            if (is_mutable) {
                gl.TexImage2D(GL_TEXTURE_2D, level, static_cast<GLint>(kind.internal), width >> level, height >> level,
                              0, kind.format, kind.type, data);
            } else {
                gl.TexSubImage2D(GL_TEXTURE_2D, level, 0, 0, width >> level, height >> level, kind.format, kind.type,
                                 data);
            }
        }
        const std::array<GLfloat, 4> border{9, 9, 9, 9};
        gl.TexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, border.data());
        for (const auto& [name, value] : poison) gl.TexParameteri(GL_TEXTURE_2D, name, value);
        gl.BindTexture(GL_TEXTURE_2D, 0);
        parameters_ = parameters();
    }
    PoisonedTexture(const PoisonedTexture&) = delete;
    PoisonedTexture& operator=(const PoisonedTexture&) = delete;
    ~PoisonedTexture() {
        gl_.DeleteTextures(1, &id_);
        gl_.DeleteTextures(1, &parent_);
    }
    [[nodiscard]] GLuint id() const { return id_; }
    template <class T>
    [[nodiscard]] std::vector<T> read() const {
        std::vector<T> values(texels * kind_.channels);
        gl_.GetTextureImage(id_, 0, kind_.format, kind_.type, static_cast<GLsizei>(4 * values.size()), values.data());
        return values;
    }
    [[nodiscard]] bool is_as_it_was() const { return parameters() == parameters_; }

  private:
    [[nodiscard]] std::vector<GLint> parameters() const {
        std::vector<GLint> values;
        for (const GLenum name :
             Enums{GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL,
                   GL_TEXTURE_SWIZZLE_R, GL_TEXTURE_SWIZZLE_G, GL_TEXTURE_SWIZZLE_B, GL_TEXTURE_SWIZZLE_A,
                   GL_TEXTURE_COMPARE_MODE, GL_TEXTURE_COMPARE_FUNC, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_TEXTURE_WRAP_S,
                   GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R, GL_TEXTURE_MIN_LOD, GL_TEXTURE_MAX_LOD, GL_TEXTURE_LOD_BIAS,
                   GL_TEXTURE_VIEW_MIN_LEVEL, GL_TEXTURE_VIEW_NUM_LEVELS}) {
            gl_.GetTextureParameteriv(id_, name, &values.emplace_back());
        }
        return values;
    }

    const Api& gl_;
    Kind kind_;
    GLuint id_ = 0, parent_ = 0;
    std::vector<GLint> parameters_;
};

template <class T>
std::vector<T> some_keys(std::size_t size) {
    std::vector<T> keys;
    for (std::size_t i = 0; i < size; ++i) keys.push_back(static_cast<T>(i * 7919 % 31) - static_cast<T>(i % 5));
    return keys;
}

void for_each_storage(const std::function<void(Storage, const std::vector<Parameter>&)>& test) {
    for (const auto storage : storages) {
        for (std::size_t i = 0; i < poisons.size(); ++i) {
            CAPTURE(storage);
            CAPTURE(i);
            test(storage, poisons[i]);
        }
    }
}

}  // namespace

TEST_CASE_TEMPLATE("a column is what level 0 of an application's texture holds, whatever its parameters", T,
                   std::uint32_t, std::int32_t, float) {
    constexpr auto type = std::is_same_v<T, float>          ? ColumnType::F32
                          : std::is_same_v<T, std::int32_t> ? ColumnType::I32
                                                            : ColumnType::U32;
    Host host;
    const auto context = Host::adopt();
    const auto keys = some_keys<T>(texels);
    const auto max = std::ranges::max(keys);
    const auto greatest =
        std::is_same_v<T, float> ? Value(double{static_cast<float>(max)}) : Value(static_cast<std::int64_t>(max));
    const auto expected = static_cast<std::uint64_t>(std::ranges::count_if(keys, [](T key) { return key >= T{2}; }));
    for (const auto engine : {QueryEngine::Cpu, QueryEngine::Bitmap, QueryEngine::Depth}) {
        CAPTURE(engine);
        QueryProcessor processor(context, {.engine = engine});
        for_each_storage([&](Storage storage, const std::vector<Parameter>& poison) {
            const PoisonedTexture texture(host.gl, kind_of<T>, storage, poison, keys);
            Table table;
            table.add_texture("x", texture.id(), type, texels);
            CHECK(processor.count(table, column("x") >= 2) == expected);
            CHECK(processor.kth_largest(table, "x", 1) == greatest);
            CHECK(texture.is_as_it_was());
            CHECK(texture.template read<T>() == keys);
        });
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE_TEMPLATE("argsort_texture reads and writes level 0 of the application's textures, whatever their parameters",
                   T, std::uint32_t, std::int32_t, float) {
    Host host;
    Sorter sorter(Host::adopt());
    const auto keys = some_keys<T>(texels);
    std::vector<std::uint32_t> order(texels);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](auto i) { return keys[i]; });
    for_each_storage([&](Storage storage, const std::vector<Parameter>& poison) {
        const PoisonedTexture from(host.gl, kind_of<T>, storage, poison, keys),
            to(host.gl, kind_of<std::uint32_t>, storage, poison, std::vector<std::uint32_t>(texels, 77));
        // NVIDIA's driver loses what is written to level 0 of a mutable integer texture whose base level is 1.
        const bool hidden = std::ranges::any_of(poison, [](auto p) { return p.name == GL_TEXTURE_BASE_LEVEL; });
        if (hidden && (storage == Storage::Mutable || storage == Storage::MutableLevels)) {
            CHECK_THROWS_AS(sorter.argsort_texture(from.id(), to.id()), InvalidArgument);
            CHECK(to.template read<std::uint32_t>() == std::vector<std::uint32_t>(texels, 77));
        } else {
            sorter.argsort_texture(from.id(), to.id());
            CHECK(to.template read<std::uint32_t>() == order);
            std::vector<std::uint32_t> first(texels, 77);  // fewer keys, which end within a line
            const PoisonedTexture few(host.gl, kind_of<std::uint32_t>, storage, poison, first);
            constexpr std::size_t count = texels / 2 + 1;
            std::ranges::copy_if(order, first.begin(), [](auto i) { return i < count; });
            sorter.argsort_texture(from.id(), few.id(), count);
            CHECK(few.template read<std::uint32_t>() == first);
        }
        CHECK(from.template read<T>() == keys);
        CHECK((from.is_as_it_was() && to.is_as_it_was()));
    });
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("sort_texture reads and writes level 0 of the application's textures, whatever their parameters") {
    Host host;
    Sorter sorter(Host::adopt());
    const auto keys = some_keys<float>(4 * texels);
    std::vector<float> expected(keys.size());
    for (std::size_t channel = 0; channel < 4; ++channel) {
        std::vector<float> one;
        for (std::size_t i = channel; i < keys.size(); i += 4) one.push_back(keys[i]);
        std::ranges::sort(one);
        for (std::size_t i = 0; i < one.size(); ++i) expected[4 * i + channel] = one[i];
    }
    for_each_storage([&](Storage storage, const std::vector<Parameter>& poison) {
        const PoisonedTexture from(host.gl, four_floats, storage, poison, keys),
            to(host.gl, four_floats, storage, poison, std::vector<float>(keys.size(), 77));
        sorter.sort_texture(from.id(), to.id());
        CHECK(to.read<float>() == expected);
        CHECK(from.read<float>() == keys);
        sorter.sort_texture(from.id(), from.id());
        CHECK(from.read<float>() == expected);
        CHECK((from.is_as_it_was() && to.is_as_it_was()));
    });
    CHECK(error_names(take_errors(host.gl)) == "");
}
