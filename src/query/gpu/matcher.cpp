#include "query/gpu/matcher.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr std::size_t usual_line = 512;  // texels per line of matches
constexpr std::size_t min_line = 32;
constexpr std::size_t rows_a_group = 4;                          // left rows whose words are in one texel of matches
constexpr std::size_t min_pair_lines = 8, max_pair_lines = 512;  // lines of pairs that are read back together

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
    MatchRun(Matcher& matcher, Matcher::Kept& kept, const TextureSide& left, const TextureSide& right, Pair::As as,
             const gl::Texture* positions, std::size_t block_rows, const TakeMatches& take)
        : device_(matcher.device_),
          programs_(matcher.programs_),
          kept_(kept),
          sides_{&left, &right},
          as_(as),
          positions_(positions),
          wide_(as != Pair::As::Keys || wide(right.column.type)),
          tiling_(left.count, right.count, block_rows, matcher.texels_,
                  static_cast<std::size_t>(device_.info.max_texture_size)),
          take_(take) {
        const auto lines = tiling_.lines * tiling_.groups;
        fit(device_, kept_.matches, gl::Format::Rgba32ui, static_cast<int>(tiling_.words), height_for(lines, device_));
        fit(device_, kept_.ranges, gl::Format::Rgba32ui, rows_a_group, height_for(tiling_.groups, device_));
        quads_ = gl::QuadList(device_, {gl::rectangle(0, 0, static_cast<int>(tiling_.words), static_cast<int>(lines))});
        for (std::size_t i = 0; i < sides_.size(); ++i) list_rows(*sides_.at(i), kept_.lists.at(i));
    }
    std::uint64_t operator()();

  private:
    void list_rows(const TextureSide& side, pass::Target& list);
    [[nodiscard]] std::string prelude(std::size_t side) const;
    void fill_keys(const char* name, const gl::Program& program, std::size_t side, const pass::Target& target,
                   std::size_t lines, gl::Uniforms uniforms);
    // Makes the keys of a part, in the layout of keys.glsl, and left rows [first, first + count).
    void make_keys(std::size_t part, std::size_t first, std::size_t count);
    void make_ranges(std::size_t first, std::size_t count);
    // Draws with the inputs of match.frag.
    void fill(const char* name, const gl::Program& program, const pass::Target& target, const gl::QuadList& quads,
              std::array<const gl::Texture*, 3> inputs, gl::Uniforms uniforms);
    void draw_matches(std::size_t part);
    // Row numbers for pairs of positions: kept_.pairs[i] itself, or another target.
    const pass::Target& rows_of(std::size_t i);
    void list_pairs(std::size_t first, std::size_t count, std::size_t part);

    gl::Device& device_;
    pass::Programs& programs_;
    Matcher::Kept& kept_;
    std::array<const TextureSide*, 2> sides_;
    Pair::As as_;
    const gl::Texture* positions_;
    bool wide_;  // whether keys are stored as 64 bits
    Tiling tiling_;
    const TakeMatches& take_;
    gl::QuadList quads_;  // cover the used part of matches
    std::uint64_t found_ = 0;
    bool enough_ = false;
    std::vector<Match> pairs_;
};

// Lists the selected rows' numbers; they stay on the GPU.
void MatchRun::list_rows(const TextureSide& side, pass::Target& list) {
    if (!side.rows) return;
    const BitWords words{.glsl = shaders::query_selected_words_glsl,
                         .texture = side.rows,
                         .uniforms = {{"width", side.shape.words}},
                         .words = side.shape.words_in_use()};
    static_cast<void>(kept_.bits->count(words));
    fit(device_, list, gl::Format::R32ui, list_width, height_for(up(side.count, list_width), device_));
    kept_.bits->draw(words, 0, side.count, list);
}

std::string MatchRun::prelude(std::size_t side) const {
    const auto type = sides_.at(side)->column.type;
    return std::string(sides_.at(side)->rows ? "#define LISTED\n" : "") +
           (side == 0 && positions_ ? "#define TRANSLATED\n" : "") + (wide_ ? "" : "#define NARROW\n") +
           pair_prelude(as_, type, type, 1) + shaders::query_join_key_glsl;
}

void MatchRun::fill_keys(const char* name, const gl::Program& program, std::size_t side, const pass::Target& target,
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

void MatchRun::make_keys(std::size_t part, std::size_t first, std::size_t count) {
    const auto texels = Shape::rows_a_word * (wide_ ? sizeof(Key) : sizeof(std::uint32_t)) / 16;
    const auto words = tiling_.words * Shape::rows_a_word;
    fit(device_, kept_.keys[part], gl::Format::Rgba32ui, static_cast<int>(tiling_.words * texels),
        height_for(std::min(up(count, words), tiling_.lines), device_));
    const auto& program = programs_.get("query/join_keys.frag", shaders::query_join_keys_frag, prelude(1));
    fill_keys("join keys", program, 1, kept_.keys[part], up(count, words),
              {{"first", static_cast<int>(first)},
               {"count", static_cast<int>(count)},
               {"line", static_cast<int>(tiling_.words)}});
}

void MatchRun::make_ranges(std::size_t first, std::size_t count) {
    const auto& program = programs_.get("query/join_ranges.frag", shaders::query_join_ranges_frag, prelude(0));
    fill_keys("join ranges", program, 0, kept_.ranges, up(count, rows_a_group),
              {{"first", static_cast<int>(first)}, {"count", static_cast<int>(count)}});
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
    const auto count = std::min(tiling_.part_keys(), sides_[1]->count - part * tiling_.part_keys());
    fill("match", match, kept_.matches, quads_, {&kept_.keys[part].texture, &kept_.ranges.texture},
         {{"words", static_cast<int>(tiling_.words)},
          {"lines", static_cast<int>(tiling_.lines)},
          {"count", static_cast<int>(count)}});
}

const pass::Target& MatchRun::rows_of(std::size_t i) {
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
        const auto first = part * tiling_.part_keys();
        make_keys(part, first, std::min(tiling_.part_keys(), sides_[1]->count - first));
    }
    const auto ranges = sides_[0]->count;
    for (std::size_t first = 0; first < ranges; first += tiling_.rows) {
        const auto count = std::min(tiling_.rows, ranges - first);
        make_ranges(first, count);
        for (std::size_t part = 0; part < tiling_.parts; ++part) {
            draw_matches(part);
            list_pairs(first, count, part);
        }
    }
    return found_;
}

// `take` may use the matcher, which then needs other objects.
std::uint64_t Matcher::operator()(const TextureSide& left, const TextureSide& right, Pair::As as,
                                  const gl::Texture* positions, std::size_t block_rows, const TakeMatches& take) {
    if (left.count == 0 || right.count == 0) return 0;
    auto kept = kept_ ? std::move(kept_) : std::make_unique<Kept>(device_, programs_);
    const auto found = MatchRun(*this, *kept, left, right, as, positions, block_rows, take)();
    kept_ = std::move(kept);
    return found;
}

}  // namespace quadmill::detail::query
