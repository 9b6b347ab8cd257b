#include "query/gpu/matcher.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "gl/device.hpp"
#include "quadmill_shaders.hpp"
#include "query/gpu/key_lines.hpp"

namespace quadmill::detail::query {

namespace {

constexpr std::size_t usual_line = 512;  // of a line of matches
constexpr std::size_t block = 32;        // words that one bit each tells of
constexpr std::size_t group = 4;         // left rows that a texel of matches has words of
constexpr int list_width = 256, list_height = 128;
constexpr std::size_t list_size = std::size_t{list_width} * list_height;  // of words read back at once

std::size_t up(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}

// Keys as textures have them: of 64 bits, or without the least one of 32, so that one more than the most is 32 bits.
struct Code {
    bool wide = false;
    Key least = 0, most = 0;

    static Code of(std::span<const Key> keys) {
        const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
        if (*most - *least >= 0xffffffffU) return {.wide = true, .least = 0, .most = ~Key{0}};
        return {.least = *least, .most = *most};
    }
    // Low and high - low; of 32 bits, what no key is in where the range has none.
    [[nodiscard]] std::array<Key, 2> range(const KeyRange& range) const {
        if (range.high < least || range.low > most) return {0xffffffffU, 0};
        const auto low = std::max(range.low, least);
        return {low - least, std::min(range.high, most) - low};
    }
};

// How the work is cut: so many left rows against all keys, or one where keys are more than one part.
struct Tiling {
    std::size_t words, lines;  // of matches of one group
    std::size_t groups, rows;  // at once
    std::size_t parts;         // of the keys

    Tiling(std::size_t ranges, std::size_t keys, std::size_t texels, std::size_t max_size) {
        const auto all_words = up(keys, Shape::rows_a_word);
        words = std::min({usual_line, texels, std::bit_ceil(std::max(all_words, block))});
        lines = std::min(up(all_words, words), texels / words);
        parts = up(keys, part_keys());
        const auto wanted = up(ranges, group);
        const auto most = std::min(texels / (words * lines), max_size / lines);
        groups = parts == 1 ? up(wanted, up(wanted, most)) : 1;
        rows = parts == 1 ? groups * group : 1;
    }
    [[nodiscard]] std::size_t part_keys() const { return words * lines * Shape::rows_a_word; }
};

// Sizes in steps, so that the next call can take over what this one has.
int height_for(std::size_t lines, const gl::Device& device) {
    return std::min(static_cast<int>(std::bit_ceil(lines)), device.info.max_texture_size);
}

void fit(gl::Device& device, gl::Texture& texture, gl::Format format, std::size_t width, int height) {
    if (texture && texture.format() == format && texture.width() == static_cast<int>(width) &&
        texture.height() == height)
        return;
    texture = {};
    texture = gl::Texture(device, format, static_cast<int>(width), height);
}

void fit(gl::Device& device, pass::Target& target, gl::Format format, std::size_t width, int height) {
    if (target.texture.width() == static_cast<int>(width) && target.texture.height() == height) return;
    target = {};
    target = pass::Target(device, format, static_cast<int>(width), height);
}

}  // namespace

// One call.
class MatchRun {
  public:
    MatchRun(Matcher& matcher, Matcher::Kept& kept, std::span<const KeyRange> ranges, std::span<const Key> keys,
             const TakeMatches& take);
    void operator()();

  private:
    void send_keys();
    template <class Word>
    void send_part(std::size_t part, std::span<const Word> keys);
    void send_ranges(std::size_t first, std::size_t count);
    void draw_matches(std::size_t part);
    void collect(std::size_t first, std::size_t count, std::size_t part);
    void add(const Match& match, std::size_t place);  // its bits are read later
    void flush();
    void fill(const char* name, const gl::Program& program, const pass::Target& target, const gl::QuadList& quads,
              std::size_t quad, std::array<const gl::Texture*, 2> inputs, gl::Uniforms uniforms);

    gl::Device& device_;
    cpu::Workers& workers_;
    pass::Programs& programs_;
    Matcher::Kept& kept_;
    std::span<const KeyRange> ranges_;
    std::span<const Key> keys_;
    const TakeMatches& take_;
    Code code_;
    Tiling tiling_;
    gl::QuadList quads_;  // over what is used of matches, and of blocks
    std::vector<Match> found_;
    std::vector<std::uint32_t> places_;  // of them, in the texture of matches
};

MatchRun::MatchRun(Matcher& matcher, Matcher::Kept& kept, std::span<const KeyRange> ranges, std::span<const Key> keys,
                   const TakeMatches& take)
    : device_(matcher.device_),
      workers_(matcher.workers_),
      programs_(matcher.programs_),
      kept_(kept),
      ranges_(ranges),
      keys_(keys),
      take_(take),
      code_(Code::of(keys)),
      tiling_(ranges.size(), keys.size(), matcher.texels_, static_cast<std::size_t>(device_.info.max_texture_size)) {
    const auto lines = tiling_.lines * tiling_.groups;
    const auto height = height_for(lines, device_);
    fit(device_, kept_.matches, gl::Format::Rgba32ui, tiling_.words, height);
    fit(device_, kept_.blocks, gl::Format::Rgba32ui, tiling_.words / block, height);
    fit(device_, kept_.words, gl::Format::R32ui, list_width, list_height);
    fit(device_, kept_.places, gl::Format::R32ui, list_width, list_height);
    fit(device_, kept_.ranges, gl::Format::Rgba32ui, group, height_for(tiling_.groups, device_));
    quads_ =
        gl::QuadList(device_, {gl::rectangle(0, 0, static_cast<int>(tiling_.words), static_cast<int>(lines)),
                               gl::rectangle(0, 0, static_cast<int>(tiling_.words / block), static_cast<int>(lines))});
    found_.reserve(list_size);
    places_.reserve(list_size);
}

template <class Word>
void MatchRun::send_part(std::size_t part, std::span<const Word> keys) {
    const auto texels = Shape::rows_a_word * sizeof(Word) / 16;
    const auto lines = std::min(up(keys.size(), tiling_.words * Shape::rows_a_word), tiling_.lines);
    auto& texture = kept_.keys[part];
    fit(device_, texture, gl::Format::Rgba32ui, tiling_.words * texels, height_for(lines, device_));
    const Shape shape{static_cast<int>(tiling_.words), static_cast<int>(lines), keys.size()};
    send_lines(device_, texture, lines, kept_.uploaders, workers_,
               [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                   write_keys(keys, shape, line, memory);
               });
}

void MatchRun::send_keys() {
    kept_.keys.resize(tiling_.parts);
    for (std::size_t part = 0; part < tiling_.parts; ++part) {
        const auto first = part * tiling_.part_keys();
        const auto keys = keys_.subspan(first, std::min(tiling_.part_keys(), keys_.size() - first));
        if (code_.wide) {
            send_part(part, keys);
        } else {
            std::vector<std::uint32_t> narrow(keys.size());
            std::transform(keys.begin(), keys.end(), narrow.begin(),
                           [&](Key key) { return static_cast<std::uint32_t>(key - code_.least); });
            send_part(part, std::span<const std::uint32_t>(narrow));
        }
    }
}

void MatchRun::send_ranges(std::size_t first, std::size_t count) {
    using Texel = std::array<Key, 2>;
    kept_.uploaders[0].send(device_, kept_.ranges, up(count, group), workers_,
                            [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                                const auto in_memory = memory.size() / sizeof(Texel);
                                for (std::size_t i = 0; i < in_memory; ++i) {
                                    const auto row = line * group + i;
                                    const auto texel = row < count ? code_.range(ranges_[first + row]) : Texel{};
                                    std::memcpy(memory.data() + i * sizeof texel, texel.data(), sizeof texel);
                                }
                            });
}

void MatchRun::fill(const char* name, const gl::Program& program, const pass::Target& target, const gl::QuadList& quads,
                    std::size_t quad, std::array<const gl::Texture*, 2> inputs, gl::Uniforms uniforms) {
    gl::Pass pass{.name = name,
                  .program = &program,
                  .uniforms = std::move(uniforms),
                  .target = &target.framebuffer,
                  .quads = &quads,
                  .first = quad,
                  .count = 1};
    std::ranges::copy(inputs, pass.inputs.begin());
    draw(device_, pass);
}

void MatchRun::draw_matches(std::size_t part) {
    const auto& match = programs_.get("query/match.frag", shaders::query_match_frag,
                                      std::string("uniform int words;\n#define WORDS words\n") +
                                          (code_.wide ? "#define WIDE\n" : "") + shaders::query_keys_glsl);
    const auto count = std::min(tiling_.part_keys(), keys_.size() - part * tiling_.part_keys());
    fill("match", match, kept_.matches, quads_, 0, {&kept_.keys[part], &kept_.ranges},
         {{"words", static_cast<int>(tiling_.words)},
          {"lines", static_cast<int>(tiling_.lines)},
          {"count", static_cast<int>(count)}});
    fill("match blocks", programs_.get("query/match_blocks.frag", shaders::query_match_blocks_frag), kept_.blocks,
         quads_, 1, {&kept_.matches.texture}, {});
}

void MatchRun::flush() {
    if (found_.empty()) return;
    kept_.uploaders[1].send(
        device_, kept_.places, workers_, [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
            const auto from = std::span(places_).subspan(std::min(line * list_width, places_.size()));
            const auto bytes = std::min(from.size_bytes(), memory.size());
            std::memcpy(memory.data(), from.data(), bytes);
            std::memset(memory.data() + bytes, 0, memory.size() - bytes);
        });
    const auto& program = programs_.get("query/match_words.frag", shaders::query_match_words_frag);
    fill("match words", program, kept_.words, kept_.words.whole, 0, {&kept_.matches.texture, &kept_.places},
         {{"width", static_cast<int>(tiling_.words)}});
    kept_.words_back.request(device_, kept_.words.texture);
    const auto words = kept_.words_back.wait();
    for (std::size_t i = 0; i < found_.size(); ++i)
        std::memcpy(&found_[i].bits, words.data() + i * sizeof(std::uint32_t), sizeof(std::uint32_t));
    take_(found_);
    found_.clear();
    places_.clear();
}

void MatchRun::add(const Match& match, std::size_t place) {
    found_.push_back(match);
    places_.push_back(static_cast<std::uint32_t>(place));
    if (found_.size() == list_size) flush();
}

// The matches of ranges [first, first + count) with a part of the keys.
void MatchRun::collect(std::size_t first, std::size_t count, std::size_t part) {
    kept_.blocks_back.request(device_, kept_.blocks.texture);
    const auto blocks = kept_.blocks_back.wait();
    const auto words = tiling_.words * tiling_.lines, first_word = part * words;
    for (std::size_t row = 0; row < count; ++row) {
        const auto texels = row / group * words;
        for (std::size_t word = 0; word < words; word += block) {
            std::uint32_t bits = 0;
            const auto at = (texels + word) / block * group + row % group;
            std::memcpy(&bits, blocks.data() + at * sizeof bits, sizeof bits);
            for (; bits != 0; bits &= bits - 1) {
                const auto found = word + static_cast<std::size_t>(std::countr_zero(bits));
                add({static_cast<std::uint32_t>(first + row), static_cast<std::uint32_t>(first_word + found), 0},
                    (texels + found) * group + row % group);
            }
        }
    }
    flush();
}

void MatchRun::operator()() {
    send_keys();
    for (std::size_t first = 0; first < ranges_.size(); first += tiling_.rows) {
        const auto count = std::min(tiling_.rows, ranges_.size() - first);
        send_ranges(first, count);
        for (std::size_t part = 0; part < tiling_.parts; ++part) {
            draw_matches(part);
            collect(first, count, part);
        }
    }
}

Matcher::Matcher(gl::Device& device, unsigned threads, std::size_t texels)
    : device_(device), workers_(threads), programs_(device), texels_(texels) {}

void Matcher::operator()(std::span<const KeyRange> ranges, std::span<const Key> keys, const TakeMatches& take) {
    if (ranges.empty() || keys.empty()) return;
    auto kept = std::exchange(kept_, {});
    MatchRun(*this, kept, ranges, keys, take)();
    kept_ = std::move(kept);
}

}  // namespace quadmill::detail::query
