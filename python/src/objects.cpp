// Calls of a context on textures and buffers of the program: regions of them, and what the library does with their keys.
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "quadmill/error.hpp"
#include "quadmill/pairs.hpp"
#include "quadmill/picture.hpp"

namespace quadmill::python {

namespace {

using Counted = std::optional<std::pair<std::uint32_t, std::size_t>>;  // a buffer, and an offset
using Coefficients = std::optional<std::array<float, 4>>;              // of a plane

std::optional<CountInBuffer> count_in(const Counted& counted) {
    if (!counted) return {};
    return CountInBuffer{counted->first, counted->second};
}

std::optional<Plane> plane_of(const Coefficients& plane) {
    if (!plane) return {};
    return Plane{(*plane)[0], (*plane)[1], (*plane)[2], (*plane)[3]};
}

SortOptions in_order(const std::string& order) {
    return {.order = value_for(detail::input::order_words, "order", order)};
}

void sort_texture(Workplace& workplace, const TextureRegion& input, const TextureRegion& output, bool all_as_one,
                  const std::string& order) {
    const auto channels = all_as_one ? TexelChannels::AllAsOne : TexelChannels::EachByItself;
    in_turn(workplace.turn, [&] { (void)workplace.sorter(in_order(order)).sort_texture(input, output, channels); });
}

void argsort_texture(Workplace& workplace, TextureRegion keys, std::uint32_t index, std::optional<std::size_t> count,
                     int channel, const Coefficients& plane, const std::string& order) {
    if (count) keys.count = count;
    in_turn(workplace.turn, [&] {
        auto& sorter = workplace.sorter(in_order(order));
        if (plane) {
            (void)sorter.argsort_texture(keys, *plane_of(plane), index);
        } else {
            (void)sorter.argsort_texture(keys, index, channel);
        }
    });
}

void percentiles_texture(Workplace& workplace, const TextureRegion& keys, const std::vector<double>& phi,
                         std::uint32_t output, int channel) {
    in_turn(workplace.turn, [&] { (void)workplace.sorter({}).percentiles_texture(keys, phi, output, channel); });
}

void argsort_buffer(Workplace& workplace, const BufferKeys& keys, std::size_t count, std::uint32_t index,
                    std::size_t index_offset, const Coefficients& plane, const std::string& order) {
    in_turn(workplace.turn, [&] {
        auto& sorter = workplace.sorter(in_order(order));
        if (plane) {
            (void)sorter.argsort_buffer(keys, *plane_of(plane), count, index, index_offset);
        } else {
            (void)sorter.argsort_buffer(keys, count, index, index_offset);
        }
    });
}

void sort_buffer(Workplace& workplace, const BufferKeys& keys, std::size_t count, const std::string& order) {
    in_turn(workplace.turn, [&] { (void)workplace.sorter(in_order(order)).sort_buffer(keys, count); });
}

using Ends = std::optional<std::vector<std::size_t>>;

void argsort_segments(Workplace& workplace, const TextureRegion& keys, const std::vector<std::size_t>& ends,
                      std::uint32_t index, int channel, const std::string& order) {
    in_turn(workplace.turn,
            [&] { (void)workplace.pairs(in_order(order)).argsort_segments(keys, ends, index, channel); });
}

void sort_pairs(Workplace& workplace, const TextureRegion& keys_in, const TextureRegion& keys_out,
                const TextureRegion& values_in, const TextureRegion& values_out, const Ends& ends,
                const std::string& order) {
    in_turn(workplace.turn, [&] {
        auto& pairs = workplace.pairs(in_order(order));
        if (ends) {
            (void)pairs.sort_pairs(keys_in, keys_out, values_in, values_out, *ends);
        } else {
            (void)pairs.sort_pairs(keys_in, keys_out, values_in, values_out);
        }
    });
}

void measure(Workplace& workplace, const TextureRegion& picture, std::uint32_t histogram, std::uint32_t cumulative,
             std::uint32_t equalization, std::uint32_t range, std::uint32_t percentiles, std::vector<double> phi,
             std::size_t bins, float low, float high, bool logarithmic, const std::array<float, 4>& weights) {
    in_turn(workplace.turn, [&] {
        workplace.pictures().measure(picture, {histogram, cumulative, equalization, range, percentiles},
                                     {.weights = weights,
                                      .bins = bins,
                                      .low = low,
                                      .high = high,
                                      .scale = logarithmic ? BinScale::Logarithmic : BinScale::Linear,
                                      .phi = std::move(phi)});
    });
}

bool prepare(Workplace& workplace, const std::string& call, const py::object& dtype, std::size_t count,
             std::optional<std::size_t> programs, const std::string& order) {
    static const detail::input::Words<SortCall> calls{{"sort", SortCall::Sort},
                                                      {"sort_with_index", SortCall::SortWithIndex},
                                                      {"argsort", SortCall::Argsort},
                                                      {"argsort_texture", SortCall::ArgsortTexture},
                                                      {"argsort_buffer", SortCall::ArgsortBuffer},
                                                      {"sort_buffer", SortCall::SortBuffer}};
    const auto which = value_for(calls, "call", call);
    const auto type = key_type(dtype);
    return in_turn(workplace.turn, [&] {
        return workplace.sorter(in_order(order)).prepare(which, type, count, programs.value_or(~std::size_t{0}));
    });
}

py::bytes save_programs(Workplace& workplace) {
    return bytes_of(in_turn(workplace.turn, [&] { return workplace.context.save_programs(); }));
}

std::size_t load_programs(Workplace& workplace, const py::bytes& saved) {
    const std::string_view bytes(saved);
    return in_turn(workplace.turn, [&] { return workplace.context.load_programs(std::as_bytes(std::span(bytes))); });
}

}  // namespace

void bind_objects(py::module_& module, py::class_<Workplace, WorkplacePtr>& context) {
    py::class_<TextureRegion>(module, "TextureRegion", R"(
Texels of the program's texture, by its OpenGL name: a rectangle of one layer, or of one face of a cube map. Width and
height 0 mean up to the edge. `count` is the number of texels, row after row; `counted` is a buffer and an offset in it
where argsort_texture() finds that number. A call also takes the name alone, for all texels.

>>> quadmill.TextureRegion(7, x=2, width=10).texture
7
)")
        .def(py::init([](std::uint32_t texture, int layer, int x, int y, int width, int height,
                         std::optional<std::size_t> count, const Counted& counted) {
                 return TextureRegion{texture, layer, x, y, width, height, count, count_in(counted)};
             }),
             py::arg("texture"), py::kw_only(), py::arg("layer") = 0, py::arg("x") = 0, py::arg("y") = 0,
             py::arg("width") = 0, py::arg("height") = 0, py::arg("count") = py::none(),
             py::arg("counted") = py::none(), "Describes the texels; they are looked at in a call.")
        .def(py::init([](std::uint32_t texture) { return TextureRegion{.texture = texture}; }), py::arg("texture"),
             "All texels.")
        .def_readonly("texture", &TextureRegion::texture, "The OpenGL name.");
    py::implicitly_convertible<py::int_, TextureRegion>();
    py::class_<BufferKeys>(module, "BufferKeys", R"(
Keys in the program's buffer, by its OpenGL name: the offset of the first key in bytes, and the bytes from one key to the
next (0: they follow each other). `counted` is a buffer and an offset in it with the number of keys, if only the GPU
knows it.

>>> quadmill.BufferKeys(7, "float32", offset=8, stride=16).buffer
7
)")
        .def(py::init([](std::uint32_t buffer, const py::object& dtype, std::size_t offset, std::size_t stride,
                         const Counted& counted) {
                 return BufferKeys{buffer, key_type(dtype), offset, stride, count_in(counted)};
             }),
             py::arg("buffer"), py::arg("dtype") = "float32", py::kw_only(), py::arg("offset") = 0,
             py::arg("stride") = 0, py::arg("counted") = py::none(),
             "Describes the keys; they are looked at in a call.")
        .def_readonly("buffer", &BufferKeys::buffer, "The OpenGL name.");

    const auto order = py::arg("order") = "asc";
    context
        .def("sort_texture", &sort_texture, py::arg("input"), py::arg("output"), py::kw_only(),
             py::arg("all_as_one") = false, order, R"(
Sorts each channel of a texture separately, in row-major order, into another one of its format and size or itself; or all
channels as one array. Both are OpenGL names, `texture.glo` in moderngl, or a TextureRegion. Formats are RGBA32F, RGBA16F,
R32F, R32I and R32UI. Nothing is read back.
)")
        .def("argsort_texture", &argsort_texture, py::arg("keys"), py::arg("index"), py::arg("count") = py::none(),
             py::kw_only(), py::arg("channel") = 0, py::arg("plane") = py::none(), order, R"(
Writes the sorted order of the texels of `keys`, a name or a TextureRegion, into the R32UI texture `index`, as indices,
row after row; equal keys keep their order. Keys are one channel of nearly any format (sort.hpp has the list). With a
`plane`, four numbers, texels are positions, and the keys are their distances from it: x, y and z times the first three,
plus the fourth. Nothing is read back, and it does not wait for the GPU.
)")
        .def("percentiles_texture", &percentiles_texture, py::arg("keys"), py::arg("phi"), py::arg("output"),
             py::kw_only(), py::arg("channel") = 0, R"(
Writes exact percentiles of the keys, one for each fraction of `phi`, to row 0 of the texture `output`: R32F, R32I for keys
of signed integers, R32UI for unsigned ones. Nothing is read back, and it does not wait.
)")
        .def("argsort_buffer", &argsort_buffer, py::arg("keys"), py::arg("count"), py::arg("index"), py::kw_only(),
             py::arg("index_offset") = 0, py::arg("plane") = py::none(), order, R"(
Writes the sorted order of `count` keys, of BufferKeys, into the buffer `index` from that byte on, as 32-bit indices that
glDrawElements takes. With a `plane`, there are positions instead of keys, three floats each, as in argsort_texture().
)")
        .def("sort_buffer", &sort_buffer, py::arg("keys"), py::arg("count"), py::kw_only(), order, R"(
Sorts `count` keys in the program's buffer, of BufferKeys, in place; bytes between them are not changed.
)")
        .def("argsort_segments", &argsort_segments, py::arg("keys"), py::arg("ends"), py::arg("index"), py::kw_only(),
             py::arg("channel") = 0, order, R"(
argsort_texture() within each segment of texels: from 0 to ends[0], from there to ends[1], ...; indices are counted over
all keys.
)")
        .def("sort_pairs", &sort_pairs, py::arg("keys_in"), py::arg("keys_out"), py::arg("values_in"),
             py::arg("values_out"), py::kw_only(), py::arg("ends") = py::none(), order, R"(
Sorts keys (R32F, R32I or R32UI) from texture to texture, and moves values (also RGBA8, RG32F, RGBA16F and RGBA32F) along,
or in place. With `ends`, within each segment, as in argsort_segments().
)")
        .def("measure", &measure, py::arg("picture"), py::kw_only(), py::arg("histogram") = 0,
             py::arg("cumulative") = 0, py::arg("equalization") = 0, py::arg("range") = 0, py::arg("percentiles") = 0,
             py::arg("phi") = std::vector<double>(), py::arg("bins") = 256, py::arg("low") = 0.0F,
             py::arg("high") = 1.0F, py::arg("logarithmic") = false,
             py::arg("weights") = std::array<float, 4>{0.2126F, 0.7152F, 0.0722F, 0}, R"(
Statistics of a picture in a texture, written to textures: `histogram` and `cumulative` (R32UI) and `equalization` (R32F)
have a texel for each bin, `range` (RGBA32F) minimum, maximum, mean and number, `percentiles` (R32F) a texel for each
fraction of `phi`. A value is the weighted sum of a texel's channels. Nothing is read back, and it does not wait.
)")
        .def("prepare", &prepare, py::arg("call"), py::arg("dtype"), py::arg("count"), py::arg("programs") = py::none(),
             py::kw_only(), order, R"(
Compiles at most `programs` of the shader programs that a call on `count` keys needs, and allocates its memory; True if
everything is ready. `call` is "sort", "sort_with_index", "argsort", "argsort_texture", "argsort_buffer" or "sort_buffer".

>>> context = quadmill.Context()
>>> context.prepare("argsort_texture", "float32", 1000)
True
)")
        .def("save_programs", &save_programs, R"(
The shader programs that this context has compiled, as bytes for load_programs() in a later run. Empty if the driver has
no such form.
)")
        .def("load_programs", &load_programs, py::arg("saved"), R"(
Loads saved programs, which then need no compiling, and returns their number: 0 if another driver or version saved them.
)");
}

}  // namespace quadmill::python
