#include "sort/caller_keys.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

constexpr std::size_t position_bytes = 3 * sizeof(float);
constexpr std::size_t max_indexed = std::size_t{1} << 28U;

[[noreturn]] void refuse_keys(const char* function, const std::string& why) {
    throw InvalidArgument(std::string(function) + ": " + why);
}

void check_plane(const char* function, const Plane& plane) {
    for (const auto each : {plane.x, plane.y, plane.z, plane.w}) {
        if (!std::isfinite(each)) refuse_keys(function, "a plane has four finite numbers, not " + std::to_string(each));
    }
}

gl::Uniforms& set_plane(gl::Uniforms& uniforms, const Plane& plane) {
    return uniforms.set("plane", glm::vec4(plane.x, plane.y, plane.z, plane.w));
}

}  // namespace

std::optional<Counter> Counter::of(gl::Device& device, const char* function,
                                   const std::optional<CountInBuffer>& count) {
    if (!count) return {};
    constexpr auto bytes = sizeof(std::uint32_t);
    const gl::HostBuffer buffer(device, count->buffer, function, "the buffer of the count");
    if (count->offset % bytes != 0 || buffer.bytes() < bytes || count->offset > buffer.bytes() - bytes) {
        refuse_keys(function, std::string("the count is at byte ") + std::to_string(count->offset) +
                                  " of a buffer of " + std::to_string(buffer.bytes()) +
                                  " bytes; it must be a multiple of 4, within the buffer");
    }
    return Counter{buffer, count->offset};
}

KeysInBuffer::KeysInBuffer(gl::Device& device, const char* function, const char* what, const BufferKeys& keys,
                           std::size_t number, const std::optional<Plane>& from)
    : buffer(device, keys.buffer, function, what),
      type(keys.type),
      count(number),
      offset(keys.offset),
      stride(keys.stride),
      counter(Counter::of(device, function, keys.counted)),
      plane(from) {
    if (plane) check_plane(function, *plane);
    if (plane && type != KeyType::F32) refuse_keys(function, "positions are floats of 32 bits");
    const auto key = plane ? position_bytes : KeyForm{type}.key_bytes();
    format = key == 2 ? gl::Format::R16ui : gl::Format::R32ui;
    key_words = plane ? 1 : static_cast<int>(key / texel_bytes());
    if (stride == 0) stride = key;
    if (stride < key || stride % texel_bytes() != 0 || offset % texel_bytes() != 0) {
        refuse_keys(function, std::string("keys of ") + std::to_string(key) + " bytes from byte " +
                                  std::to_string(offset) + " on, " + std::to_string(stride) +
                                  " bytes from one to the next: both must be multiples of " +
                                  std::to_string(texel_bytes()) + ", and the second not less than a key");
    }
    if (count > 0 && (offset > buffer.bytes() || key > buffer.bytes() - offset ||
                      (count - 1) > (buffer.bytes() - offset - key) / stride)) {
        refuse_keys(function, std::to_string(count) + " keys from byte " + std::to_string(offset) + " on, " +
                                  std::to_string(stride) +
                                  " bytes from one to the next, do not fit into the buffer, which has " +
                                  std::to_string(buffer.bytes()) + " bytes");
    }
    const auto texel_keys = 4 / static_cast<std::size_t>(key_words);
    if (stride > gl::BufferTexels::max(device, format) / texel_keys) {
        refuse_keys(function, std::string("keys that lie ") + std::to_string(stride) +
                                  " bytes from each other; a texture holds " +
                                  std::to_string(gl::BufferTexels::max(device, format)) + " bytes here, of which " +
                                  std::to_string(texel_keys) + " keys must take no more");
    }
    stride /= texel_bytes();
}

void check_pair(const char* function, const KeysInBuffer& keys, const KeysInBuffer& index) {
    const auto end = [](const KeysInBuffer& some) {
        return some.offset + some.count * some.stride * some.texel_bytes();
    };
    if (keys.buffer.id() == index.buffer.id() && keys.offset < end(index) && index.offset < end(keys))
        refuse_keys(function, "keys and index share bytes of buffer " + std::to_string(keys.buffer.id()));
    if (keys.count > max_indexed)
        refuse_keys(function, "an index is for at most 2^28 keys, not " + std::to_string(keys.count));
}

namespace {
// Bytes copied at a time, unless one texel of keys spans more.
constexpr std::size_t part_bytes = std::size_t{1} << 26U;

constexpr const char* counted_macro = "#define COUNTED\n";

const gl::Program& program_of_buffer(pass::Programs& programs, int key_words, const std::string& macros) {
    return programs.get("sort/keys_of_buffer.frag", shaders::sort_keys_of_buffer_frag,
                        "#define KEY_WORDS " + std::to_string(key_words) + "\n" + macros);
}
constexpr const char* plane_macro_of_buffer = "#define PLANE\n";

const gl::Program& program_of_texture(pass::Programs& programs, gl::Sampled sampled, int channels,
                                      const std::string& macros) {
    return programs.get(
        "sort/keys_of_part.frag", shaders::sort_keys_of_part_frag,
        "#define CHANNELS " + std::to_string(channels) + "\n" +
            (sampled == gl::Sampled::Floats             ? "#define TEXELS sampler2D\n#define BITS floatBitsToUint\n"
             : sampled == gl::Sampled::UnsignedIntegers ? "#define TEXELS usampler2D\n#define BITS uvec4\n"
                                                        : "#define TEXELS isampler2D\n#define BITS uvec4\n") +
            macros);
}
// Copies of 32-bit floats are integers.
const char* plane_macro(gl::Sampled sampled) {
    return sampled == gl::Sampled::Floats ? "#define PLANE\n" : "#define PLANE uintBitsToFloat\n";
}

}  // namespace

void CallerKeys::compile_planes_of_textures() {
    for (const auto sampled : {gl::Sampled::Floats, gl::Sampled::UnsignedIntegers})
        program_of_texture(programs_, sampled, 1, plane_macro(sampled));
}

void CallerKeys::compile_planes_of_buffers() {
    program_of_buffer(programs_, 1, plane_macro_of_buffer);
}

const gl::Texture* CallerKeys::number(const std::optional<Counter>& counter) {
    if (!counter) return nullptr;
    return &number_.copy(device_, counter->buffer, gl::Format::R32ui, counter->offset, sizeof(std::uint32_t));
}

// Draws in parts: rows, or texels of a row if their keys are that far apart.
void CallerKeys::draw(const KeysInBuffer& keys, const gl::Texture* number, std::uint64_t padding,
                      const pass::Target& source, std::size_t rows) {
    const auto width = static_cast<std::size_t>(source.texture.width());
    const auto texel_keys = 4 / static_cast<std::size_t>(keys.key_words), key_bytes = keys.stride * keys.texel_bytes();
    const auto max_bytes = gl::BufferTexels::max(device_, keys.format);
    const auto max_texels =
        std::min(std::max(part_bytes, texel_keys * key_bytes), max_bytes) / (texel_keys * key_bytes);
    const auto max_rows = max_texels / width;
    const auto& program =
        program_of_buffer(programs_, keys.key_words,
                          std::string(number ? counted_macro : "") + (keys.plane ? plane_macro_of_buffer : ""));
    const auto element_bytes =
        keys.plane ? position_bytes : static_cast<std::size_t>(keys.key_words) * keys.texel_bytes();
    // Draws texels [left, right) of rows [row, end_row). The first `texels` of them have keys, beginning with key
    // number `first`.
    const auto draw_part = [&](std::size_t left, std::size_t row, std::size_t right, std::size_t end_row,
                               std::size_t texels) {
        const auto first = std::min((row * width + left) * texel_keys, keys.count - 1);
        const auto end = std::min((row * width + left + texels) * texel_keys, keys.count);
        const auto& part = texels_.copy(device_, keys.buffer, keys.format, keys.offset + first * key_bytes,
                                        (std::max(end, first + 1) - first - 1) * key_bytes + element_bytes);
        gl::Uniforms uniforms{
            {"first_key", static_cast<int>(first)},
            {"stride", static_cast<int>(keys.stride)},
            {"count", static_cast<int>(keys.count)},
            {"target_width", source.texture.width()},
            {"padding", glm::uvec2(static_cast<unsigned>(padding), static_cast<unsigned>(padding >> 32U))}};
        if (keys.plane) set_plane(uniforms, *keys.plane);
        gl::draw(device_, {.name = "keys of buffer",
                           .program = &program,
                           .inputs = {&part, number},
                           .uniforms = std::move(uniforms),
                           .target = &source.framebuffer,
                           .quads = &quads_.rectangle(static_cast<int>(left), static_cast<int>(row),
                                                      static_cast<int>(right), static_cast<int>(end_row))});
    };
    const auto row_keys = width * texel_keys;
    std::size_t row = 0;
    while (row < rows) {
        const bool padding_alone = row * row_keys >= keys.count;
        if (padding_alone) {
            draw_part(0, row, width, rows, 0);
            row = rows;
        } else if (max_rows > 0) {
            const auto end_row = std::min(row + max_rows, rows);
            draw_part(0, row, width, end_row, (end_row - row) * width);
            row = end_row;
        } else {
            for (std::size_t left = 0; left < width; left += max_texels)
                draw_part(left, row, std::min(left + max_texels, width), row + 1, std::min(max_texels, width - left));
            ++row;
        }
    }
}

gl::Format texel_format(KeyType type) {
    return type == KeyType::F32 ? gl::Format::R32f : type == KeyType::I32 ? gl::Format::R32i : gl::Format::R32ui;
}

namespace {

using enum gl::Format;
// In any kind of texture; they are copied.
constexpr std::initializer_list<gl::Format> copied_formats{R32f, R32ui, R32i,    Rgba32f, Rgba16f,  R16f,           R16,
                                                           R8,   Rgba8, Depth16, Depth24, Depth32f, Depth24Stencil8};
constexpr std::initializer_list<gl::Format> key_formats{R32f,
                                                        R32ui,
                                                        R32i,
                                                        Rgba32f,
                                                        Rgba16f,
                                                        R16f,
                                                        R16,
                                                        R8,
                                                        Rgba8,
                                                        Depth16,
                                                        Depth24,
                                                        Depth32f,
                                                        Depth24Stencil8,
                                                        Rgba16,
                                                        Rgb10A2,
                                                        Srgb8Alpha8,
                                                        Rgba32ui,
                                                        Rgba32i,
                                                        Rgba16ui,
                                                        Rgba16i,
                                                        Rgba8ui,
                                                        Rgba8i,
                                                        Rgb32f,
                                                        Rgb16f,
                                                        R11fG11fB10f,
                                                        Rgb8,
                                                        Srgb8,
                                                        Rg32f,
                                                        Rg16,
                                                        Rg16f,
                                                        Rg8,
                                                        Rg32ui,
                                                        Rg32i,
                                                        Rg16ui,
                                                        Rg16i,
                                                        Rg8ui,
                                                        Rg8i,
                                                        R16ui,
                                                        R16i,
                                                        R8ui,
                                                        R8i};

}  // namespace

KeysInTexture::KeysInTexture(gl::Device& device, const char* function, const char* what, const TextureRegion& region,
                             int of_channel, const std::optional<Plane>& from)
    : part(device, {region.texture, region.layer, region.x, region.y, region.width, region.height}, key_formats,
           function, what),
      count(region.count.value_or(part.texels())),
      channel(of_channel),
      counter(Counter::of(device, function, region.counted)),
      plane(from) {
    channels = gl::info(part.format).channels();
    if (is_read_in_place() && !part.is_plain()) {
        refuse_keys(function, std::string(what) + " has texels of " + gl::info(part.format).name +
                                  ", which are read in 2-D textures only");
    }
    if (plane) check_plane(function, *plane);
    if (plane && (channels < 3 || gl::info(part.format).sampled() != gl::Sampled::Floats)) {
        refuse_keys(function, std::string("a position has three channels of floats, and texels of ") +
                                  gl::info(part.format).name + " do not");
    }
    if (channel < 0 || channel >= channels) {
        refuse_keys(function, std::string("a texture of ") + gl::info(part.format).name + " has " +
                                  std::to_string(channels) + " channels, so there is no channel " +
                                  std::to_string(channel));
    }
    const bool fits = count <= part.texels();
    if (fits && count <= max_indexed) return;
    refuse_keys(function, std::string(what) + " has " + std::to_string(fits ? count : part.texels()) +
                              " texels there, " + (fits ? "more than 2^28" : "fewer than " + std::to_string(count)));
}

void KeysInTexture::refuse_counter(const char* function) const {
    if (!counter) return;
    refuse_keys(function, "only argsorts with the merge engine take the number of texels from a buffer");
}

KeyForm KeysInTexture::form(Order order, bool indexed) const {
    const auto sampled = gl::info(part.format).sampled();
    const auto type = sampled == gl::Sampled::UnsignedIntegers ? KeyType::U32
                      : sampled == gl::Sampled::SignedIntegers ? KeyType::I32
                      : part.format == Rgba16f && !indexed     ? KeyType::F16
                                                               : KeyType::F32;
    return {type, order, indexed};
}

bool KeysInTexture::is_read_in_place() const {
    return std::ranges::find(copied_formats, part.format) == copied_formats.end();
}

gl::Format KeysInTexture::copied_to(bool indexed) const {
    if (part.format == R32f || part.format == R32i || part.format == R32ui) return R32ui;
    if (part.format == Rgba32f) return Rgba32ui;
    if (part.format == Rgba16f && !indexed) return Rgba16ui;
    return part.format;
}

void check_pair(const char* function, const KeysInTexture& from, const KeysInTexture& to) {
    for (const auto* one : {&from, &to}) {
        const auto format = one->part.format;
        if (format == R32f || format == R32i || format == R32ui || format == Rgba32f || format == Rgba16f) continue;
        refuse_keys(function,
                    std::string("texels of ") + gl::info(format).name +
                        " are keys of argsort_texture alone; sorted are R32F, R32I, R32UI, RGBA32F and RGBA16F");
    }
    const auto size = [](const KeysInTexture& keys) {
        return std::to_string(keys.part.width) + " x " + std::to_string(keys.part.height) + " of " +
               gl::info(keys.part.format).name + ", " + std::to_string(keys.count) + " texels";
    };
    if (from.part.format == to.part.format && from.part.width == to.part.width && from.count == to.count) return;
    refuse_keys(function,
                "input and output must have the same format, width and number of texels, "
                "not " +
                    size(from) + " and " + size(to));
}

const gl::Texture& CallerKeys::copy(const KeysInTexture& keys, gl::Format format) {
    if (raw_.format() != format || raw_.width() != keys.part.width || raw_.height() != keys.part.height) {
        raw_ = {};
        raw_ = gl::Texture(device_, format, keys.part.width, keys.part.height);
    }
    copy_part(device_, keys.part, raw_);
    return raw_;
}

void CallerKeys::draw(const KeysInTexture& keys, TexelKeys some, std::uint64_t padding, const pass::Target& to,
                      std::size_t rows) {
    if (keys.plane) some.plane = &*keys.plane;
    if (!keys.is_read_in_place()) return draw_keys(device_, programs_, quads_, raw_, some, padding, to, rows);
    const auto& part = keys.part;
    some.x = part.x;
    some.y = part.y;
    some.width = part.width;
    const gl::PlainAccess access(device_,
                                 gl::Texture(device_, part.id, part.format, part.x + part.width, part.y + part.height));
    draw_keys(device_, programs_, quads_, access.texture(), some, padding, to, rows);
}

void draw_keys(gl::Device& device, pass::Programs& programs, pass::QuadLists& quads, const gl::Texture& texels,
               const TexelKeys& some, std::uint64_t padding, const pass::Target& source, std::size_t rows) {
    const auto sampled = gl::info(texels.format()).sampled();
    std::string macros = some.number ? counted_macro : "";
    gl::Uniforms uniforms{
        {"count", static_cast<int>(some.keys)},   {"first_key", static_cast<int>(some.first)},
        {"corner", glm::ivec2(some.x, some.y)},   {"source_width", some.width > 0 ? some.width : texels.width()},
        {"target_width", source.texture.width()}, {"padding", static_cast<unsigned>(padding)}};
    if (some.plane) {
        macros += plane_macro(sampled);
        set_plane(uniforms, *some.plane);
    } else {
        uniforms.set("channel", some.channel);
    }
    draw(device, {.name = "keys of texture",
                  .program = &program_of_texture(programs, sampled, some.channels, macros),
                  .inputs = {&texels, some.number},
                  .uniforms = std::move(uniforms),
                  .target = &source.framebuffer,
                  .quads = &quads.rectangle(0, 0, source.texture.width(), static_cast<int>(rows))});
}

}  // namespace quadmill::detail::sort
