#include "query/gpu/condition_program.hpp"

#include <algorithm>
#include <utility>

#include "query/gpu/key_textures.hpp"
#include "query/gpu/leaf_programs.hpp"

namespace quadmill::detail::query {

namespace {

// Each takes four words; every driver has at least 1,024.
constexpr std::size_t max_constants = 192;

}  // namespace

std::span<const Key> keys_within(const Member& leaf, ColumnType type) {
    const auto end = std::ranges::upper_bound(leaf.keys, wide(type) ? ~Key{0} : Key{0xffffffffU});
    return std::span(leaf.keys).first(static_cast<std::size_t>(end - leaf.keys.begin()));
}

ConditionProgram::ConditionProgram(ColumnOf column_of, BitsPtr all, BitsOf bits_of)
    : column_of_(std::move(column_of)), all_(std::move(all)), bits_of_(std::move(bits_of)) {}

bool ConditionProgram::add(std::span<const Leaf> clause) {
    auto before = parts_;
    std::string any;
    for (const auto& leaf : clause) any += (any.empty() ? "" : " | ") + name_of(leaf);
    and_also(any);
    return kept(std::move(before));
}

bool ConditionProgram::add(BitsPtr rows) {
    auto before = parts_;
    if (rows != all_) and_also(bits_of(rows));
    return kept(std::move(before));
}

void ConditionProgram::and_also(const std::string& clause) {
    parts_.clauses += (parts_.clauses.empty() ? "(" : " & (") + clause + ")";
}

bool ConditionProgram::kept(Parts&& before) {
    if (parts_.textures.size() <= gl::texture_units && parts_.constants.size() <= max_constants) return true;
    parts_ = std::move(before);
    return false;
}

std::string ConditionProgram::name_of(const Leaf& leaf) {
    const auto found = std::ranges::find(parts_.known, leaf, &std::pair<Leaf, std::string>::first);
    if (found != parts_.known.end()) return found->second;
    auto name = "leaf" + std::to_string(parts_.known.size());
    const auto text = text_of(leaf);
    parts_.leaves += " uint " + name + " = " + text + ";";
    parts_.known.emplace_back(leaf, name);
    return name;
}

std::string ConditionProgram::text_of(const Leaf& leaf) {
    if (const auto* range = std::get_if<Range>(&leaf)) {
        const auto held = constant(range->low, range->high - range->low);
        return where_valid("in_range(" + keys_of(range->column) + ", " + held + ")", range->negate,
                           std::array{range->column});
    }
    if (const auto* null = std::get_if<IsNull>(&leaf)) {
        const auto valid = bits_of(column_of_(null->column).valid);
        if (valid.empty()) return null->negate ? "15u" : "0u";
        return null->negate ? valid : "~" + valid;
    }
    if (const auto* always = std::get_if<Always>(&leaf)) return always->value ? "15u" : "0u";
    if (const auto* member = std::get_if<Member>(&leaf)) {
        if (keys_within(*member, column_of_(member->column).type).size() <= few_keys) return text_of(*member);
    }
    if (const auto* pair = std::get_if<Pair>(&leaf)) {
        if (pair->as == Pair::As::Keys) return text_of(*pair);
    }
    const auto bits = bits_of(bits_of_(leaf));
    return bits.empty() ? "15u" : bits;
}

std::string ConditionProgram::text_of(const Member& leaf) {
    const auto keys = keys_within(leaf, column_of_(leaf.column).type);
    std::string any = "(0u";
    for (std::size_t i = 0; i < keys.size(); i += 2)
        any += " | equal_either(" + keys_of(leaf.column) + ", " +
               constant(keys[i], keys[std::min(i + 1, keys.size() - 1)]) + ")";
    return where_valid(any + ")", leaf.negate, std::array{leaf.column});
}

std::string ConditionProgram::text_of(const Pair& leaf) {
    const auto held = constant(max_number(column_of_(leaf.a).type), relations_of(leaf.op, leaf.negate));
    return where_valid("compared(" + keys_of(leaf.a) + ", " + keys_of(leaf.b) + ", " + held + ")", false,
                       std::array{leaf.a, leaf.b});
}

std::string ConditionProgram::where_valid(const std::string& answer, bool negate,
                                          std::span<const std::size_t> columns) {
    auto text = negate ? "~" + answer : answer;
    for (const auto column : columns) {
        const auto valid = bits_of(column_of_(column).valid);
        if (!valid.empty()) text += " & " + valid;
    }
    return text;
}

std::string ConditionProgram::keys_of(std::size_t column) {
    const auto& of = column_of_(column);
    const auto known = parts_.textures.size();
    const auto unit = unit_of(of.keys);
    auto name = "keys" + unit;
    if (parts_.textures.size() > known) {
        const char* kind = wide(of.type) ? "wide" : "narrow";
        parts_.keys += std::string(wide(of.type) ? " Wide " : " uvec4 ") + name + " = " + kind + "_keys(texture" +
                       unit + ", at, group);";
    }
    return name;
}

std::string ConditionProgram::bits_of(const BitsPtr& rows) {
    if (rows == all_) return {};
    const auto known = parts_.textures.size();
    const auto unit = unit_of(gpu_bits(*rows).target().texture);
    if (parts_.textures.size() > known) {
        parts_.words += " uint word" + unit + " = texelFetch(texture" + unit + ", at, 0).x;";
        parts_.held.push_back(rows);
    }
    return "(word" + unit + " >> (4 * group))";
}

std::string ConditionProgram::unit_of(const gl::Texture& texture) {
    const auto found = std::ranges::find(parts_.textures, &texture);
    const auto unit = std::to_string(found - parts_.textures.begin());
    if (found == parts_.textures.end()) {
        parts_.textures.push_back(&texture);
        parts_.inputs += " uniform highp usampler2D texture" + unit + ";";
    }
    return unit;
}

std::string ConditionProgram::constant(Key first, Key second) {
    auto name = "constant" + std::to_string(parts_.constants.size());
    parts_.constants.push_back({first, second});
    parts_.inputs += " uniform uvec4 " + name + ";";
    return name;
}

std::string ConditionProgram::prelude(const Shape& shape) const {
    return keys_prelude(ColumnType::F64, shape.words) + "\n#define INPUTS" + parts_.inputs + "\n#define WORDS_OF_32" +
           parts_.words + "\n#define KEYS_OF_FOUR" + parts_.keys + "\n#define LEAVES" + parts_.leaves +
           "\n#define CLAUSES " + (parts_.clauses.empty() ? "15u" : parts_.clauses) + "\n";
}

gl::Uniforms ConditionProgram::uniforms(const Shape& shape) const {
    gl::Uniforms all{{"rows", static_cast<int>(shape.rows)}};
    for (std::size_t i = 0; i < parts_.constants.size(); ++i) {
        const auto& [first, second] = parts_.constants[i];
        all.set("constant" + std::to_string(i), glm::uvec4(low(first), high(first), low(second), high(second)));
    }
    return all;
}

}  // namespace quadmill::detail::query
