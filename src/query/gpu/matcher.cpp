#include "query/gpu/matcher.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "query/gpu/key_lines.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr std::size_t usual_line = 512;  // texels per line of matches
constexpr std::size_t min_line = 32;
constexpr std::size_t rows_a_group = 4;                          // left rows whose words are in one texel of matches
constexpr std::size_t min_pair_lines = 8, max_pair_lines = 512;  // lines of pairs that are read back together

// How keys are stored in textures: as 64 bits, or as 32-bit differences to the smallest key if one code is left that no
// key has.
struct Code {
    bool wide = false;
    Key min = 0, max = 0;

    static Code of(std::span<const Key> keys) {
        const auto [min, max] = std::minmax_element(keys.begin(), keys.end());
        if (*max - *min >= 0xffffffffU) return {.wide = true, .min = 0, .max = ~Key{0}};
        return {.min = *min, .max = *max};
    }
    // `low` and `high - low` as stored. A range without keys becomes the code that no key has.
    [[nodiscard]] std::array<Key, 2> range(const KeyRange& range) const {
        if (range.high < min || range.low > max) return {0xffffffffU, 0};
        const auto low = std::max(range.low, min);
        return {low - min, std::min(range.high, max) - low};
    }
};

// How the work is cut: `rows` left rows at a time against all keys, or one left row if the keys have several parts.
struct Tiling {
    std::size_t words, lines;  // texels of matches per group
    std::size_t groups, rows;  // processed together
    std::size_t parts;         // parts of the keys

    // `block_rows` is Join's.
    Tiling(std::size_t ranges, std::size_t keys, std::size_t block_rows, std::size_t texels, std::size_t max_size) {
        const auto all_words = up(keys, Shape::rows_a_word);
        words = std::min({usual_line, texels, std::bit_ceil(std::max(all_words, min_line))});
        lines = std::min(up(all_words, words), texels / words);
        parts = up(keys, part_keys());
        const auto wanted = up(ranges, rows_a_group);
        const auto max = std::min(texels / (words * lines), max_size / lines);
        groups = parts > 1        ? 1
                 : block_rows > 0 ? std::min({wanted, max, up(block_rows, rows_a_group)})
                                  : up(wanted, up(wanted, max));
        rows = parts == 1 ? groups * rows_a_group : 1;
    }
    [[nodiscard]] std::size_t part_keys() const { return words * lines * Shape::rows_a_word; }
};

// Rounds up in steps, so that the next call can often reuse the texture.
int height_for(std::size_t lines, const gl::Device& device) {
    return std::min(static_cast<int>(std::bit_ceil(lines)), device.info.max_texture_size);
}

}  // namespace

// One call of the matcher.
class MatchRun {
  public:
    MatchRun(Matcher& matcher, Matcher::Kept& kept, std::size_t ranges, std::size_t keys, std::size_t block_rows,
             bool wide, const TakeMatches& take);
    virtual ~MatchRun() = default;
    std::uint64_t operator()();

  protected:
    // Makes the keys of a part, in the layout of keys.glsl, and left rows [first, first + count).
    virtual void make_keys(std::size_t part, std::size_t first, std::size_t count) = 0;
    virtual void make_ranges(std::size_t first, std::size_t count) = 0;
    // Row numbers for pairs of positions: kept_.pairs[i] itself, or another target.
    virtual const pass::Target& rows_of(std::size_t i) { return kept_.pairs.at(i); }
    void fit_keys(std::size_t part, std::size_t count);
    // Draws with the inputs of match.frag.
    void fill(const char* name, const gl::Program& program, const pass::Target& target, const gl::QuadList& quads,
              std::array<const gl::Texture*, 3> inputs, gl::Uniforms uniforms);

    gl::Device& device_;
    cpu::Workers& workers_;
    pass::Programs& programs_;
    Matcher::Kept& kept_;
    bool wide_;
    Tiling tiling_;

  private:
    void draw_matches(std::size_t part);
    void list_pairs(std::size_t first, std::size_t count, std::size_t part);

    std::size_t ranges_, keys_;
    const TakeMatches& take_;
    gl::QuadList quads_;  // cover the used part of matches
    std::uint64_t found_ = 0;
    bool enough_ = false;
    std::vector<Match> pairs_;
};

MatchRun::MatchRun(Matcher& matcher, Matcher::Kept& kept, std::size_t ranges, std::size_t keys, std::size_t block_rows,
                   bool wide, const TakeMatches& take)
    : device_(matcher.device_),
      workers_(matcher.workers_),
      programs_(matcher.programs_),
      kept_(kept),
      wide_(wide),
      tiling_(ranges, keys, block_rows, matcher.texels_, static_cast<std::size_t>(device_.info.max_texture_size)),
      ranges_(ranges),
      keys_(keys),
      take_(take) {
    const auto lines = tiling_.lines * tiling_.groups;
    fit(device_, kept_.matches, gl::Format::Rgba32ui, static_cast<int>(tiling_.words), height_for(lines, device_));
    fit(device_, kept_.ranges, gl::Format::Rgba32ui, rows_a_group, height_for(tiling_.groups, device_));
    quads_ = gl::QuadList(device_, {gl::rectangle(0, 0, static_cast<int>(tiling_.words), static_cast<int>(lines))});
}

void MatchRun::fit_keys(std::size_t part, std::size_t count) {
    const auto texels = Shape::rows_a_word * (wide_ ? sizeof(Key) : sizeof(std::uint32_t)) / 16;
    const auto lines = std::min(up(count, tiling_.words * Shape::rows_a_word), tiling_.lines);
    fit(device_, kept_.keys[part], gl::Format::Rgba32ui, static_cast<int>(tiling_.words * texels),
        height_for(lines, device_));
}

void MatchRun::fill(const char* name, const gl::Program& program, const pass::Target& target, const gl::QuadList& quads,
                    std::array<const gl::Texture*, 3> inputs, gl::Uniforms uniforms) {
    gl::Pass pass{.name = name,
                  .program = &program,
                  .uniforms = std::move(uniforms),
                  .target = &target.framebuffer,
                  .quads = &quads,
                  .first = 0,
                  .count = 1};
    std::ranges::copy(inputs, pass.inputs.begin());
    draw(device_, pass);
}

void MatchRun::draw_matches(std::size_t part) {
    const auto& match = programs_.get("query/match.frag", shaders::query_match_frag,
                                      std::string("uniform int words;\n#define WORDS words\n") +
                                          (wide_ ? "#define WIDE\n" : "") + shaders::query_keys_glsl);
    const auto count = std::min(tiling_.part_keys(), keys_ - part * tiling_.part_keys());
    fill("match", match, kept_.matches, quads_, {&kept_.keys[part].texture, &kept_.ranges.texture},
         {{"words", static_cast<int>(tiling_.words)},
          {"lines", static_cast<int>(tiling_.lines)},
          {"count", static_cast<int>(count)}});
}

// Lists the pairs of ranges [first, first + count) with a part of the keys.
void MatchRun::list_pairs(std::size_t first, std::size_t count, std::size_t part) {
    const BitWords words{.glsl = shaders::query_matched_words_glsl,
                         .texture = &kept_.matches.texture,
                         .uniforms = {{"width", static_cast<int>(tiling_.words)},
                                      {"lines", static_cast<int>(tiling_.lines)},
                                      {"first_left", static_cast<int>(first)},
                                      {"first_right", static_cast<int>(part * tiling_.part_keys())}},
                         .words = count * tiling_.words * tiling_.lines};
    const auto all = kept_.bits->count(words);
    found_ += all;
    for (std::uint64_t from = 0; from < all && !enough_;) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(all - from, list_width * max_pair_lines));
        const auto lines = std::max(std::bit_ceil(up(n, list_width)), min_pair_lines);
        const auto i = static_cast<std::size_t>(std::countr_zero(lines / min_pair_lines));
        fit(device_, kept_.pairs.at(i), gl::Format::Rg32ui, list_width, static_cast<int>(lines));
        kept_.bits->draw(words, from, n, kept_.pairs.at(i));
        kept_.back.request(device_, rows_of(i).texture);
        pairs_.resize(n);
        std::memcpy(pairs_.data(), kept_.back.wait().data(), n * sizeof(Match));
        enough_ = take_(pairs_) == Next::Enough;
        from += n;
    }
}

std::uint64_t MatchRun::operator()() {
    if (kept_.keys.size() < tiling_.parts) kept_.keys.resize(tiling_.parts);
    for (std::size_t part = 0; part < tiling_.parts; ++part) {
        const auto first = part * tiling_.part_keys(), count = std::min(tiling_.part_keys(), keys_ - first);
        fit_keys(part, count);
        make_keys(part, first, count);
    }
    for (std::size_t first = 0; first < ranges_; first += tiling_.rows) {
        const auto count = std::min(tiling_.rows, ranges_ - first);
        make_ranges(first, count);
        for (std::size_t part = 0; part < tiling_.parts; ++part) {
            draw_matches(part);
            list_pairs(first, count, part);
        }
    }
    return found_;
}

namespace {

// Ranges and keys in the CPU's memory.
class MatchOfMemory final : public MatchRun {
  public:
    MatchOfMemory(Matcher& matcher, Matcher::Kept& kept, std::span<const KeyRange> ranges, std::span<const Key> keys,
                  const Code& code, std::size_t block_rows, const TakeMatches& take)
        : MatchRun(matcher, kept, ranges.size(), keys.size(), block_rows, code.wide, take),
          ranges_(ranges),
          keys_(keys),
          code_(code) {}

  private:
    void make_keys(std::size_t part, std::size_t first, std::size_t count) override {
        const auto keys = keys_.subspan(first, count);
        if (code_.wide) return send_part(part, keys);
        std::vector<std::uint32_t> narrow(keys.size());
        std::transform(keys.begin(), keys.end(), narrow.begin(),
                       [&](Key key) { return static_cast<std::uint32_t>(key - code_.min); });
        send_part(part, std::span<const std::uint32_t>(narrow));
    }

    template <class Word>
    void send_part(std::size_t part, std::span<const Word> keys) {
        const auto lines = std::min(up(keys.size(), tiling_.words * Shape::rows_a_word), tiling_.lines);
        const Shape shape{static_cast<int>(tiling_.words), static_cast<int>(lines), keys.size()};
        send_lines(device_, kept_.keys[part].texture, lines, kept_.uploaders, workers_,
                   [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                       write_keys(keys, shape, line, memory);
                   });
    }

    void make_ranges(std::size_t first, std::size_t count) override {
        using Texel = std::array<Key, 2>;
        kept_.uploaders[0].send(device_, kept_.ranges.texture, up(count, rows_a_group), workers_,
                                [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                                    const auto in_memory = memory.size() / sizeof(Texel);
                                    for (std::size_t i = 0; i < in_memory; ++i) {
                                        const auto row = line * rows_a_group + i;
                                        const auto texel = row < count ? code_.range(ranges_[first + row]) : Texel{};
                                        std::memcpy(memory.data() + i * sizeof texel, texel.data(), sizeof texel);
                                    }
                                });
    }

    std::span<const KeyRange> ranges_;
    std::span<const Key> keys_;
    Code code_;
};

bool narrow_keys(const TextureSide& side, Pair::As as) {
    return as == Pair::As::Keys && !wide(side.column.type);
}

// Columns that are textures.
class MatchOfTextures final : public MatchRun {
  public:
    MatchOfTextures(Matcher& matcher, Matcher::Kept& kept, const TextureSide& left, const TextureSide& right,
                    Pair::As as, const gl::Texture* positions, std::size_t block_rows, const TakeMatches& take)
        : MatchRun(matcher, kept, left.count, right.count, block_rows, !narrow_keys(right, as), take),
          sides_{&left, &right},
          as_(as),
          positions_(positions) {
        for (std::size_t i = 0; i < sides_.size(); ++i) list_rows(*sides_.at(i), kept_.lists.at(i));
    }

  private:
    // Lists the selected rows' numbers; they stay on the GPU.
    void list_rows(const TextureSide& side, pass::Target& list) {
        if (!side.rows) return;
        const BitWords words{.glsl = shaders::query_selected_words_glsl,
                             .texture = side.rows,
                             .uniforms = {{"width", side.shape.words}},
                             .words = side.shape.words_in_use()};
        static_cast<void>(kept_.bits->count(words));
        fit(device_, list, gl::Format::R32ui, list_width, height_for(up(side.count, list_width), device_));
        kept_.bits->draw(words, 0, side.count, list);
    }

    [[nodiscard]] std::string prelude(std::size_t side) const {
        const auto type = sides_.at(side)->column.type;
        return std::string(sides_.at(side)->rows ? "#define LISTED\n" : "") +
               (side == 0 && positions_ ? "#define TRANSLATED\n" : "") + (wide_ ? "" : "#define NARROW\n") +
               pair_prelude(as_, type, type, 1) + shaders::query_join_key_glsl;
    }
    void fill_keys(const char* name, const gl::Program& program, std::size_t side, const pass::Target& target,
                   std::size_t lines, gl::Uniforms uniforms) {
        const auto& from = *sides_.at(side);
        const auto none = side == 0 ? 0xffffffffU : 0xfffffffeU;
        uniforms.set({{"words", from.shape.words},
                      {"none", glm::uvec2(none, wide_ ? 0xffffffffU : 0U)},
                      max_number_uniform(as_, from.column.type)});
        const gl::QuadList quads(device_, {gl::rectangle(0, 0, target.texture.width(), static_cast<int>(lines))});
        fill(name, program, target, quads,
             {&from.column.keys, from.rows ? &kept_.lists.at(side).texture : nullptr, side == 0 ? positions_ : nullptr},
             std::move(uniforms));
    }

    void make_keys(std::size_t part, std::size_t first, std::size_t count) override {
        const auto& program = programs_.get("query/join_keys.frag", shaders::query_join_keys_frag, prelude(1));
        fill_keys("join keys", program, 1, kept_.keys[part], up(count, tiling_.words * Shape::rows_a_word),
                  {{"first", static_cast<int>(first)},
                   {"count", static_cast<int>(count)},
                   {"line", static_cast<int>(tiling_.words)}});
    }

    void make_ranges(std::size_t first, std::size_t count) override {
        const auto& program = programs_.get("query/join_ranges.frag", shaders::query_join_ranges_frag, prelude(0));
        fill_keys("join ranges", program, 0, kept_.ranges, up(count, rows_a_group),
                  {{"first", static_cast<int>(first)}, {"count", static_cast<int>(count)}});
    }

    const pass::Target& rows_of(std::size_t i) override {
        const auto& pairs = kept_.pairs.at(i);
        if (!sides_[0]->rows && !sides_[1]->rows) return pairs;
        auto& rows = kept_.rows.at(i);
        fit(device_, rows, gl::Format::Rg32ui, pairs.texture.width(), pairs.texture.height());
        const auto& program = programs_.get("query/pair_rows.frag", shaders::query_pair_rows_frag,
                                            std::string(sides_[0]->rows ? "#define LISTED_LEFT\n" : "") +
                                                (sides_[1]->rows ? "#define LISTED_RIGHT\n" : ""));
        pass::fill(device_, "rows of pairs", program, rows,
                   {&pairs.texture, sides_[0]->rows ? &kept_.lists[0].texture : nullptr,
                    sides_[1]->rows ? &kept_.lists[1].texture : nullptr});
        return rows;
    }

    std::array<const TextureSide*, 2> sides_;
    Pair::As as_;
    const gl::Texture* positions_;
};

}  // namespace

Matcher::Matcher(gl::Device& device, unsigned threads, std::size_t texels)
    : device_(device), workers_(threads), programs_(device), texels_(texels) {}

// `take` may use the matcher, which then needs other objects.
template <class Run, class... Arguments>
std::uint64_t Matcher::run(const Arguments&... arguments) {
    auto kept = kept_ ? std::move(kept_) : std::make_unique<Kept>(device_, programs_);
    const auto found = Run(*this, *kept, arguments...)();
    kept_ = std::move(kept);
    return found;
}

std::uint64_t Matcher::operator()(std::span<const KeyRange> ranges, std::span<const Key> keys, std::size_t block_rows,
                                  const TakeMatches& take) {
    if (ranges.empty() || keys.empty()) return 0;
    return run<MatchOfMemory>(ranges, keys, Code::of(keys), block_rows, take);
}

std::uint64_t Matcher::operator()(const TextureSide& left, const TextureSide& right, Pair::As as,
                                  const gl::Texture* positions, std::size_t block_rows, const TakeMatches& take) {
    if (left.count == 0 || right.count == 0) return 0;
    return run<MatchOfTextures>(left, right, as, positions, block_rows, take);
}

}  // namespace quadmill::detail::query
