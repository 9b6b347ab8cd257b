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
#include "numbers.hpp"
#include "quadmill/error.hpp"
#include "quadmill/pairs.hpp"
#include "quadmill/picture.hpp"

namespace quadmill::python {

namespace {

using Coefficients = std::optional<FourReals<"plane">>;
template <Name name>
using GlName = Whole<name, std::uint32_t>;

std::optional<CountInBuffer> count_in(const std::optional<Counted>& counted) {
    if (!counted) return {};
    return counted->value;
}

Plane plane_of(const FourReals<"plane">& plane) {
    const auto& [x, y, z, w] = plane.values;
    return {x, y, z, w};
}

SortOptions in_order(const std::string& order) {
    return {.order = value_for(detail::input::order_words, "order", order)};
}

void sort_texture(Workplace& workplace, const Texels<"input">& input, const Texels<"output">& output, bool all_as_one,
                  const std::string& order) {
    const auto channels = all_as_one ? TexelChannels::AllAsOne : TexelChannels::EachByItself;
    in_turn(workplace.turn,
            [&] { (void)workplace.sorter(in_order(order)).sort_texture(input.value, output.value, channels); });
}

void argsort_texture(Workplace& workplace, const Texels<"keys">& given, GlName<"index"> index,
                     std::optional<Whole<"count">> count, int channel, const Coefficients& plane,
                     const std::string& order) {
    auto keys = given.value;
    if (count) keys.count = count->value;
    in_turn(workplace.turn, [&] {
        auto& sorter = workplace.sorter(in_order(order));
        if (plane) {
            (void)sorter.argsort_texture(keys, plane_of(*plane), index);
        } else {
            (void)sorter.argsort_texture(keys, index, channel);
        }
    });
}

void percentiles_texture(Workplace& workplace, const Texels<"keys">& keys, const Reals<"phi">& phi,
                         GlName<"output"> output, int channel) {
    in_turn(workplace.turn,
            [&] { (void)workplace.sorter({}).percentiles_texture(keys.value, phi.values, output, channel); });
}

void argsort_buffer(Workplace& workplace, const BufferKeys& keys, Whole<"count"> count, GlName<"index"> index,
                    Whole<"index_offset"> index_offset, const Coefficients& plane, const std::string& order) {
    in_turn(workplace.turn, [&] {
        auto& sorter = workplace.sorter(in_order(order));
        if (plane) {
            (void)sorter.argsort_buffer(keys, plane_of(*plane), count, index, index_offset);
        } else {
            (void)sorter.argsort_buffer(keys, count, index, index_offset);
        }
    });
}

void sort_buffer(Workplace& workplace, const BufferKeys& keys, Whole<"count"> count, const std::string& order) {
    in_turn(workplace.turn, [&] { (void)workplace.sorter(in_order(order)).sort_buffer(keys, count); });
}

using Ends = Wholes<"ends">;

void argsort_segments(Workplace& workplace, const Texels<"keys">& keys, const Ends& ends, GlName<"index"> index,
                      int channel, const std::string& order) {
    in_turn(workplace.turn,
            [&] { (void)workplace.pairs(in_order(order)).argsort_segments(keys.value, ends.values, index, channel); });
}

void sort_pairs(Workplace& workplace, const Texels<"keys_in">& keys_in, const Texels<"keys_out">& keys_out,
                const Texels<"values_in">& values_in, const Texels<"values_out">& values_out,
                const std::optional<Ends>& ends, const std::string& order) {
    in_turn(workplace.turn, [&] {
        auto& pairs = workplace.pairs(in_order(order));
        if (ends) {
            (void)pairs.sort_pairs(keys_in.value, keys_out.value, values_in.value, values_out.value, ends->values);
        } else {
            (void)pairs.sort_pairs(keys_in.value, keys_out.value, values_in.value, values_out.value);
        }
    });
}

void measure(Workplace& workplace, const Texels<"picture">& picture, GlName<"histogram"> histogram,
             GlName<"cumulative"> cumulative, GlName<"equalization"> equalization, GlName<"range"> range,
             GlName<"percentiles"> percentiles, const Reals<"phi">& phi, Whole<"bins"> bins, float low, float high,
             bool logarithmic, const FourReals<"weights">& weights, const std::string& weight, GlName<"mask"> mask,
             int levels) {
    static const detail::input::Words<PictureWeight> words{
        {"once", PictureWeight::Once}, {"alpha", PictureWeight::Alpha}, {"mask", PictureWeight::Mask}};
    const PictureOptions options{.weights = weights.values,
                                 .bins = bins,
                                 .low = low,
                                 .high = high,
                                 .scale = logarithmic ? BinScale::Logarithmic : BinScale::Linear,
                                 .phi = phi.values,
                                 .weight = value_for(words, "weight", weight),
                                 .levels = levels,
                                 .mask = mask};
    in_turn(workplace.turn, [&] {
        workplace.pictures().measure(picture.value, {histogram, cumulative, equalization, range, percentiles}, options);
    });
}

bool prepare(Workplace& workplace, const std::string& call, const py::object& dtype, Whole<"count"> count,
             std::optional<Whole<"programs">> programs, const std::string& order) {
    static const detail::input::Words<SortCall> calls{{"sort", SortCall::Sort},
                                                      {"sort_with_index", SortCall::SortWithIndex},
                                                      {"argsort", SortCall::Argsort},
                                                      {"argsort_texture", SortCall::ArgsortTexture},
                                                      {"argsort_buffer", SortCall::ArgsortBuffer},
                                                      {"sort_buffer", SortCall::SortBuffer}};
    const auto which = value_for(calls, "call", call);
    const auto type = key_type(dtype);
    return in_turn(workplace.turn, [&] {
        return workplace.sorter(in_order(order))
            .prepare(which, type, count, programs ? programs->value : ~std::size_t{0});
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
        .def(py::init([](GlName<"texture"> texture, int layer, int x, int y, int width, int height,
                         std::optional<Whole<"count">> count, const std::optional<Counted>& counted) {
                 return TextureRegion{
                     texture,          layer, x, y, width, height, count ? std::optional(count->value) : std::nullopt,
                     count_in(counted)};
             }),
             py::arg("texture"), py::kw_only(), py::arg("layer") = 0, py::arg("x") = 0, py::arg("y") = 0,
             py::arg("width") = 0, py::arg("height") = 0, py::arg("count") = py::none(),
             py::arg("counted") = py::none(), "Describes the texels; they are looked at in a call.")
        .def_readonly("texture", &TextureRegion::texture, "The OpenGL name.");
    py::class_<BufferKeys>(module, "BufferKeys", R"(
Keys in the program's buffer, by its OpenGL name: the offset of the first key in bytes, and the bytes from one key to the
next (0: they follow each other). `counted` is a buffer and an offset in it with the number of keys, if only the GPU
knows it.

>>> quadmill.BufferKeys(7, "float32", offset=8, stride=16).buffer
7
)")
        .def(py::init([](GlName<"buffer"> buffer, const py::object& dtype, Whole<"offset"> offset,
                         Whole<"stride"> stride, const std::optional<Counted>& counted) {
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
             py::arg("weights") = std::array{0.2126, 0.7152, 0.0722, 0.0}, py::arg("weight") = "once",
             py::arg("mask") = 0, py::arg("levels") = 1, R"(
Statistics of a picture in a texture, written to textures: `histogram` and `cumulative` (R32UI) and `equalization` (R32F)
have a texel for each bin, `range` (RGBA32F) minimum, maximum, mean and number, `percentiles` (R32F) a texel for each
fraction of `phi`. A value is the weighted sum of a texel's channels. With `weight` "alpha", a texel counts
round(levels a) times, where a is its alpha; with "mask", a is the red channel of the texture `mask`. `levels` is 1 to
255. Nothing is read back, and it does not wait.
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
