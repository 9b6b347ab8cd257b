#include "query/gpu/host_answers.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "gl/pass.hpp"
#include "quadmill/error.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int piece_height = 4096;  // of the list, which is drawn in pieces

BitWords words_of(const SelectedWords& rows) {
    return {.glsl = shaders::query_selected_words_glsl,
            .texture = &rows.texture,
            .uniforms = {{"width", rows.shape.words}},
            .words = rows.shape.words_in_use()};
}

}  // namespace

gl::HostBuffer buffer_for(gl::Device& device, const char* function, const char* what, std::uint32_t id,
                          std::size_t offset, std::size_t words) {
    gl::HostBuffer buffer(device, id, function, what);
    if (offset % 4 == 0 && offset <= buffer.bytes() && words <= (buffer.bytes() - offset) / 4) return buffer;
    throw InvalidArgument(std::string(function) + ": " + std::to_string(words) + " words of 32 bits from byte " +
                          std::to_string(offset) + " on, a multiple of 4, do not fit into " + what + ", which has " +
                          std::to_string(buffer.bytes()) + " bytes");
}

void HostRows::write_bits(const SelectedWords& rows, const gl::Texture& to, sort::IndexWrite how) {
    if (rows.shape.rows == 0) return;  // a draw needs at least one quad
    sort::IndexTarget target(device_, to, how);
    const gl::QuadList quads(device_, pass::first_texels(to.width(), rows.shape.words_in_use()));
    draw(device_, {.name = "bits to caller",
                   .program = &programs_.get("query/selection_texels.frag", shaders::query_selection_texels_frag),
                   .inputs = {&rows.texture},
                   .uniforms = {{"width", rows.shape.words}, {"target_width", to.width()}},
                   .target = &target.framebuffer(),
                   .quads = &quads});
    target.finish(rows.shape.words_in_use());
}

void HostRows::write_count(const SelectedWords& rows, const gl::HostBuffer& to, std::size_t offset) {
    const auto& top = list_.count_on_gpu(words_of(rows));
    fit(device_, total_, gl::Format::R32ui, 1, 1);
    pass::fill(device_, "total of counts", programs_.get("query/bits_total.frag", shaders::query_bits_total_frag),
               total_, {&top});
    copy_to_buffer(device_, total_.texture, 1, to, offset);
}

void HostRows::write_rows(const SelectedWords& rows, const gl::HostBuffer& index, std::size_t index_offset,
                          const gl::HostBuffer& count, std::size_t count_offset) {
    write_count(rows, count, count_offset);
    const auto all = rows.shape.rows;
    if (all == 0) return;
    const auto lines = up(all, list_width);
    fit(device_, piece_, gl::Format::R32ui, list_width, static_cast<int>(std::min<std::size_t>(lines, piece_height)));
    const auto max = static_cast<std::size_t>(list_width) * static_cast<std::size_t>(piece_.texture.height());
    for (std::size_t first = 0; first < all; first += max) {
        const auto n = std::min(max, all - first);
        list_.draw(words_of(rows), first, n, piece_, BitList::Length::OnGpu);
        copy_to_buffer(device_, piece_.texture, n, index, index_offset + first * sizeof(std::uint32_t));
    }
}

CheckedPlace::CheckedPlace(gl::Device& device, const char* function, const NumberPlace& place)
    : type(place.type), offset(place.offset) {
    const auto fail = [&](const std::string& why) { return InvalidArgument(std::string(function) + ": " + why); };
    if (type == ColumnType::Text) throw fail("the type of a number must not be Text");
    if ((place.buffer == 0) == (place.texture == 0))
        throw fail("give either a buffer or a texture, not both or neither: numbers " + std::to_string(place.buffer) +
                   " and " + std::to_string(place.texture));
    if (place.texture != 0) {
        texel.emplace(device, gl::Region{.texture = place.texture, .width = 1, .height = 1},
                      std::initializer_list<decltype(host_format(type))>{host_format(type)}, function,
                      "the texture of the number");
        return;
    }
    buffer.emplace(device, place.buffer, function, "the buffer of the number");
    const std::size_t bytes = wide(type) ? 8 : 4;
    if (offset % 4 != 0 || offset > buffer->bytes() || bytes > buffer->bytes() - offset)
        throw fail(std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                   " on, a multiple of 4, do not fit into the buffer, which has " + std::to_string(buffer->bytes()) +
                   " bytes");
}

void HostNumbers::write(const std::string& kind, std::initializer_list<const gl::Texture*> inputs,
                        gl::Uniforms uniforms, const CheckedPlace& to) {
    auto& target = wide(to.type) ? two_words_ : word_;
    if (!target.texture) target = pass::Target(device_, wide(to.type) ? gl::Format::Rg32ui : gl::Format::R32ui, 1, 1);
    const auto& program =
        programs_.get("query/number.frag", shaders::query_number_frag,
                      values_prelude() + shaders::query_shifted_glsl + shaders::query_integers_glsl + kind);
    uniforms.set("to", number_of(to.type));
    pass::fill(device_, "number", program, target, inputs, std::move(uniforms));
    if (to.buffer) {
        copy_to_buffer(device_, target.texture, 1, *to.buffer, to.offset);
    } else {
        copy_part(device_, target.texture, 1, *to.texel);
    }
}

void HostNumbers::write(const GpuMeasure& measured, const QueryAggregate& what, ColumnType column,
                        const CheckedPlace& to) {
    using enum QueryAggregate::Kind;
    std::string kind;
    auto min_count = 1U;
    if (what.kind == CountRows || what.kind == Count) {
        min_count = 0;
    } else if (what.kind == Sum || what.kind == Average) {
        kind += is_float(column) ? "#define DOUBLES\n" : "#define INTEGERS\n";
        if (what.kind == Average) kind += "#define AVERAGE\n";
    } else {
        kind += what.kind == Max ? "#define KEY zw\n" : "#define KEY xy\n";
        if (what.kind == KthLargest || what.kind == KthSmallest) min_count = rank_word(what.k);
    }
    write(kind, {measured.value, measured.count}, {{"type", number_of(column)}, {"least_count", min_count}}, to);
}

void HostNumbers::write(const Value& value, const CheckedPlace& to) {
    const auto* const real = std::get_if<double>(&value);
    const auto* const integer = std::get_if<std::int64_t>(&value);
    const auto words = real ? std::bit_cast<std::uint64_t>(*real) : integer ? static_cast<std::uint64_t>(*integer) : 0;
    const auto sign = integer && *integer < 0 ? ~0U : 0U;
    write(std::string("#define CONSTANT\n") + (real ? "#define DOUBLES\n" : ""), {},
          {{"constant", glm::uvec4(low(words), high(words), sign, sign)}, {"least_count", real || integer ? 0U : 1U}},
          to);
}

void HostNumbers::write_integer(const Sum& sum, const CheckedPlace& to) {
    write("#define CONSTANT\n", {}, {{"constant", words_of(Integer{sum.integer})}, {"least_count", 0U}}, to);
}

}  // namespace quadmill::detail::query
