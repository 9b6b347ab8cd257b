// BitmapColumns: selections by conditions.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"
#include "query/gpu/bitmap_columns.hpp"

namespace quadmill::detail::query {

namespace {

// Lists to be member of: so few are compared one by one; others are a table of bits, if they lie within so many.
constexpr std::size_t few_keys = 16;
constexpr Key most_table_bits = Key{1} << 25U;

glm::uvec2 words_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {low(bits), high(bits)};
}

// The relations for which a comparison holds: 1 less, 2 equal, 4 greater, 8 neither.
std::uint32_t wanted(Comparison op, bool negate) {
    const auto relations = [op]() -> std::uint32_t {
        switch (op) {
            case Comparison::Less:
                return 1;
            case Comparison::LessOrEqual:
                return 3;
            case Comparison::Equal:
                return 2;
            case Comparison::NotEqual:
                return 13;
            case Comparison::GreaterOrEqual:
                return 6;
            case Comparison::Greater:
                break;
        }
        return 4;
    }();
    return negate ? ~relations & 15U : relations;
}

}  // namespace

BitsPtr BitmapColumns::member(const Member& leaf) {
    const auto& of = *column(leaf.column);
    const auto end = std::ranges::upper_bound(leaf.keys, wide(of.type) ? ~Key{0} : Key{0xffffffffU});
    const std::span keys(leaf.keys.begin(), end);
    if (keys.empty()) return leaf.negate ? of.valid : combine(BoolOp::AndNot, *of.valid, *of.valid);
    if (keys.size() <= few_keys) return member_of_few(of, keys, leaf.negate);
    if (keys.back() - keys.front() < most_table_bits) return member_of_table(of, keys, leaf.negate);
    return member_of_list(of, keys, leaf.negate);
}

BitsPtr BitmapColumns::leaf_of(const GpuColumn& of, const char* name, const std::string& kind, bool negate,
                               const gl::Texture* list, gl::Uniforms uniforms) {
    const auto& program =
        programs_.get("query/leaf.frag", shaders::query_leaf_frag, kind + keys_prelude(of.type, pool_.shape.words));
    uniforms.set("negate", negate ? ~0U : 0U);
    auto bits = make_bits();
    pass::fill(device_, name, program, bits->target(), {&of.keys, &texture(*of.valid), list}, std::move(uniforms));
    return bits;
}

BitsPtr BitmapColumns::range(const Range& leaf) {
    const auto& of = *column(leaf.column);
    return leaf_of(of, "range", "#define RANGE\n", leaf.negate, nullptr,
                   {key_uniform("low", of.type, leaf.low), key_uniform("span", of.type, leaf.high - leaf.low)});
}

BitsPtr BitmapColumns::member_of_few(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto places = std::bit_ceil(keys.size());  // few programs, not one for each number
    gl::Uniforms list;
    for (std::size_t i = 0; i < places; ++i)
        list.set({key_uniform("list[" + std::to_string(i) + "]", of.type, keys[std::min(i, keys.size() - 1)])});
    return leaf_of(of, "member of few", define("FEW", static_cast<int>(places)), negate, nullptr, std::move(list));
}

BitsPtr BitmapColumns::member_of_table(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto span = keys.back() - keys.front();
    std::vector<std::uint32_t> words(span / 32 + 1);
    for (const auto key : keys) {
        const auto bit = key - keys.front();
        words[bit / 32] |= std::uint32_t{1} << (bit % 32);
    }
    const auto table = send_list(gl::Format::R32ui, std::as_bytes(std::span(words)));
    return leaf_of(of, "member of table", "#define TABLE\n", negate, &table,
                   {key_uniform("low", of.type, keys.front()), key_uniform("span", of.type, span)});
}

BitsPtr BitmapColumns::member_of_list(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto list = send_list(gl::Format::Rg32ui, std::as_bytes(keys));
    return leaf_of(of, "member of list", "", negate, &list, {{"count", static_cast<int>(keys.size())}});
}

gl::Texture BitmapColumns::send_list(gl::Format format, std::span<const std::byte> bytes) {
    constexpr std::size_t width = 1024;
    const auto line = width * gl::info(format).bytes;
    gl::Texture list(device_, format, static_cast<int>(width), static_cast<int>((bytes.size() + line - 1) / line));
    tables_.uploader().send(device_, list, tables_.workers(), [&](std::size_t first, std::size_t, auto memory) {
        const auto from = bytes.subspan(std::min(first * line, bytes.size()));
        std::memcpy(memory.data(), from.data(), std::min(from.size(), memory.size()));
    });
    return list;
}

BitsPtr BitmapColumns::pair(const Pair& leaf) {
    const auto &a = *column(leaf.a), &b = *column(leaf.b);
    const char* as = leaf.as == Pair::As::Keys       ? "#define AS_KEYS\n"
                     : leaf.as == Pair::As::Integers ? "#define AS_INTEGERS\n"
                                                     : "#define AS_DOUBLES\n";
    const auto& program =
        programs_.get("query/pair.frag", shaders::query_pair_frag,
                      as + define("TYPE_A", number_of(a.type)) + define("TYPE_B", number_of(b.type)) +
                          define("WIDE_A", wide(a.type)) + define("WIDE_B", wide(b.type)) +
                          keys_prelude(ColumnType::F64, pool_.shape.words) + shaders::query_values_glsl);
    const auto valid = all_valid(std::array{leaf.a, leaf.b});
    const auto most = most_number(leaf.as == Pair::As::Keys ? a.type : ColumnType::F64);
    auto bits = make_bits();
    // The program may have no use for some.
    pass::fill(device_, "pair", program, bits->target(), {&a.keys, &b.keys, &texture(*valid)},
               {{"wanted", wanted(leaf.op, leaf.negate)}, {"most_number", glm::uvec2{low(most), high(most)}}});
    return bits;
}

namespace {

// The sum of the terms in order, from 0.
Formula formula_of(const Linear& leaf) {
    using Kind = Arithmetic;
    Formula formula{.steps = {{.kind = Kind::Constant, .constant = 0.0}}, .op = leaf.op, .negate = leaf.negate};
    auto& steps = formula.steps;
    for (std::size_t i = 0; i < leaf.columns.size(); ++i) {
        steps.push_back({.kind = Kind::Constant, .constant = leaf.factors[i]});
        steps.push_back({.kind = Kind::Column, .column = leaf.columns[i]});
        steps.push_back({.kind = Kind::Multiply});
        steps.push_back({.kind = Kind::Add});
    }
    steps.push_back({.kind = Kind::Constant, .constant = leaf.constant});
    return formula;
}

// What formula.frag is made of: a variable a step.
class FormulaCode {
  public:
    explicit FormulaCode(const Formula& formula) : integers_(formula.as == Formula::As::Integers) {}

    // `value`: of the row.
    void column(const std::string& value) { push(value); }
    void constant(std::size_t number) {
        push((integers_ ? "constants[" : "packDouble2x32(constants[") + std::to_string(number) +
             (integers_ ? "]" : "])"));
    }
    void operation(Arithmetic kind) {
        const auto b = pop();
        if (kind == Arithmetic::Negate) return push(integers_ ? "negative(" + b + ")" : "-" + b);
        const auto a = pop();
        const char* name = kind == Arithmetic::Add ? "add(" : kind == Arithmetic::Subtract ? "subtract(" : "multiply(";
        const char* sign = kind == Arithmetic::Add ? " + " : kind == Arithmetic::Subtract ? " - " : " * ";
        push(integers_ ? name + a + ", " + b + ")" : a + sign + b);
    }
    [[nodiscard]] std::string finish() {
        const auto right = pop(), left = pop();
        return text_ + " return relation(" + left + ", " + right + ");";
    }

  private:
    void push(const std::string& value) {
        auto name = std::string(1, 'v').append(std::to_string(variables_++));
        text_.append(integers_ ? " uvec4 " : " precise double ").append(name).append(" = ").append(value).append(";");
        stack_.push_back(std::move(name));
    }
    std::string pop() {
        auto top = std::move(stack_.back());
        stack_.pop_back();
        return top;
    }

    bool integers_;
    std::size_t variables_ = 0;
    std::string text_;
    std::vector<std::string> stack_;
};

// As formula.frag has them.
glm::uvec4 words_of(Integer value) {
    const auto word = [value](int i) { return static_cast<unsigned>(value >> (32 * i)); };
    return {word(0), word(1), word(2), word(3)};
}

}  // namespace

BitsPtr BitmapColumns::formula(const Formula& leaf) {
    const auto columns = columns_of(leaf.steps);
    if (columns.size() > most_linear_columns_on_gpu || leaf.steps.size() > most_steps_on_gpu)
        throw InvalidArgument("query: engines of the GPU take linear conditions and sums of at most " +
                              std::to_string(most_linear_columns_on_gpu) + " columns, and " +
                              std::to_string(most_steps_on_gpu) +
                              " steps (names, constants and signs); use QueryEngine::Auto or Cpu");
    const bool integers = leaf.as == Formula::As::Integers;
    gl::Pass pass{.name = "formula"};
    std::string samplers = "\n#define SAMPLERS", fetch = "\n#define FETCH", keys = "\n#define KEYS",
                arguments = "\n#define ARGUMENTS";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto unit = std::to_string(i + 1);
        const auto& of = *column(columns[i]);
        pass.inputs.at(i + 1) = &of.keys;
        samplers += " uniform highp usampler2D texture" + unit + ";";
        fetch += " uvec2 keys" + unit + "[4]; four_keys(texture" + unit + ", " + std::to_string(wide(of.type)) +
                 ", at, group, keys" + unit + ");";
        keys += (i > 0 ? ", uvec2 key" : " uvec2 key") + unit;
        arguments += (i > 0 ? ", keys" : " keys") + unit + "[i]";
    }
    FormulaCode code(leaf);
    std::vector<Numeral> constants;
    for (const auto& step : leaf.steps) {
        if (step.kind == Arithmetic::Column) {
            const auto& of = *column(step.column);
            const auto unit = std::ranges::find(columns, step.column) - columns.begin() + 1;
            code.column((integers ? "to_integer(key" : "to_double(key") + std::to_string(unit) +
                        (wide(of.type) ? ", " : ".x, ") + std::to_string(number_of(of.type)) + ")");
        } else if (step.kind == Arithmetic::Constant) {
            code.constant(constants.size());
            constants.push_back(step.constant);
        } else {
            code.operation(step.kind);
        }
    }
    const auto& program =
        programs_.get("query/formula.frag", shaders::query_formula_frag,
                      (integers ? "#define AS_INTEGERS\n" : "") +
                          define("CONSTANTS", static_cast<int>(std::max<std::size_t>(constants.size(), 1))) +
                          keys_prelude(ColumnType::F64, pool_.shape.words) + shaders::query_values_glsl + samplers +
                          fetch + keys + arguments + "\n#define COMPUTE" + code.finish() + "\n");
    const auto valid = all_valid(columns);
    auto bits = make_bits();
    pass.program = &program;
    pass.inputs[0] = &texture(*valid);
    pass.uniforms = {{"wanted", wanted(leaf.op, leaf.negate)}};
    for (std::size_t i = 0; i < constants.size(); ++i) {
        const auto name = "constants[" + std::to_string(i) + "]";
        if (integers) {
            pass.uniforms.set(name, words_of(std::get<Integer>(constants[i])));
        } else {
            pass.uniforms.set(name, words_of(nearest_double(constants[i])));
        }
    }
    pass.target = &bits->target().framebuffer;
    pass.quads = &bits->target().whole;
    draw(device_, pass);
    return bits;
}

BitsPtr BitmapColumns::leaf(const Leaf& leaf) {
    return std::visit(
        [this]<class L>(const L& known) -> BitsPtr {
            if constexpr (std::is_same_v<L, Range>) {
                return range(known);
            } else if constexpr (std::is_same_v<L, Member>) {
                return member(known);
            } else if constexpr (std::is_same_v<L, Pair>) {
                return pair(known);
            } else if constexpr (std::is_same_v<L, Linear>) {
                return formula(formula_of(known));
            } else if constexpr (std::is_same_v<L, Formula>) {
                return formula(known);
            } else if constexpr (std::is_same_v<L, IsNull>) {
                const auto& valid = column(known.column)->valid;
                return known.negate ? valid : combine(BoolOp::AndNot, *pool_.all, *valid);
            } else {
                return known.value ? pool_.all : combine(BoolOp::AndNot, *pool_.all, *pool_.all);
            }
        },
        leaf);
}

}  // namespace quadmill::detail::query
